//! `hothouse train` and `hothouse resume`: begins or restores a run with the options of the command line, trains it and displays it.

use crate::args::values::{device_name, set, set_one};
use crate::args::{CommonArgs, MachineArgs, TrainArgs};
use crate::error::{Usage, both, usage_error};
use crate::format::quoted;
use crate::host::Machine;
use crate::outputs::entry::EntryFile;
use crate::outputs::events::EventLog;
use crate::outputs::export::Exports;
use crate::outputs::files::Outputs;
use crate::outputs::screen::{Mode, Screen};
use crate::outputs::show::{RunDisplay, wants_screen};
use crate::plain;
use crate::rooms;
use crate::session::begin::{config, give_data, restored, room, variant};
use crate::session::budget::Budget;
use crate::session::monitor_file::{self, MonitorFile};
use crate::session::record::Record;
use crate::session::saves;
use crate::session::target::SaveTarget;
use crate::session::training::Session;
use crate::signals::{self, SIGNALS};
use crate::verbs::config as file;
use anyhow::{Result, bail};
use files::{CHECKPOINT, Claim, MONITOR, identity};
use run::AnyRun;
use run::protocol::{Change, Command, DeviceWish};
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Instant;

/// Default training time between two automatic saves, in seconds.
const SAVE_EVERY_S: f64 = 30.0;

pub fn train(mut id: Option<String>, mut args: TrainArgs, began: Instant) -> Result<()> {
    if let Some(file) = args.config.clone() {
        (id, args) = file::with_file(&file, id, args)?;
    }
    let machine = Machine::new(&args.common.machine)?;
    let room = room(id.as_deref())?;
    let variant = variant(room, args.variant.as_ref(), &args.common.data);
    let mut config = config(room, variant, &args.common.set, machine.host)?;
    config.seed = args.seed.unwrap_or(1);
    let knobs = room.knobs(&config.variant);
    for (iteration, knob, text) in &args.at {
        let value = set_one(knob, text, &knobs).map_err(usage_error)?;
        config.changes.push(Change { iteration: *iteration, knob: knob.clone(), value });
    }
    if args.print_config {
        run::validate(&config, machine.host).map_err(usage_error)?;
        let text = file::text(room, &config, &args)?;
        return Ok(plain::data().write_all(text.as_bytes())?);
    }
    give_data(&mut config, &args.common.data, machine.host)?;
    let run = machine.pool.install(|| run::begin(config, machine.host)).map_err(usage_error)?;
    let claim = args.common.save.as_deref().map(|save| Claim::new(save, CHECKPOINT));
    let save = args.common.save.clone();
    session(run, args.common, Paths { save, claim, entry: args.entry, resumed: None }, machine, began)
}

pub fn resume(file: Option<PathBuf>, common: CommonArgs, began: Instant) -> Result<()> {
    let machine = Machine::new(&common.machine)?;
    // `None` means that the user cancelled the choice of a run.
    let Some(file) = file.map_or_else(saves::chosen, |file| Ok(Some(file)))? else { return Ok(()) };
    let save = common.save.clone().unwrap_or_else(|| file.clone());
    // The file is claimed before it is read, so that no other run saves to it in between. If the file is no checkpoint, the error of
    // reading it is more helpful.
    let claim = Claim::new(&save, CHECKPOINT);
    let mut run = machine.pool.install(|| restored(&file, &common.data, machine.host))?;
    for (name, value) in set(&common.set, &run.knobs()).map_err(usage_error)? {
        run.command(Command::SetKnob { name, value }).map_err(usage_error)?;
    }
    session(run, common, Paths { save: Some(save), claim: Some(claim), entry: None, resumed: Some(file) }, machine, began)
}

/// Files of a run that `train` and `resume` choose in different ways.
struct Paths {
    /// Checkpoint to write; `None` selects a file in the cache.
    save: Option<PathBuf>,
    /// Claim of `save`. Its error is reported after those of the command line.
    claim: Option<Result<Claim>>,
    /// Entry of the gallery to write.
    entry: Option<PathBuf>,
    /// Checkpoint of a resumed run; `None` for a new run.
    resumed: Option<PathBuf>,
}

/// Trains the run and displays it.
fn session(mut run: Box<dyn AnyRun>, common: CommonArgs, paths: Paths, machine: Machine, began: Instant) -> Result<()> {
    run.command(Command::Device { wish: common.device.unwrap_or_default() }).map_err(usage_error)?;
    check_files(&common, &paths)?;
    let save = paths.claim.transpose()?;
    let monitor = common.monitor.as_deref().map(|path| Claim::new(path, MONITOR)).transpose()?;
    let schema = run.schema();
    let entry = paths.entry.as_deref().map(|path| EntryFile::begin(path, schema)).transpose()?;
    let exports = Exports::open(common.csv.as_deref(), common.tensorboard.as_deref(), schema, &run.progress())?;
    let events = common.events.as_deref().map(|path| EventLog::create(path, schema)).transpose()?;
    let mut outputs = Outputs::new(exports, events, entry);
    let about = Record::Opened(machine.pool.install(|| run.backend())).line(schema);
    let monitor = match monitor {
        Some(claim) => Ok(MonitorFile::create(claim, schema, &about)?),
        // The user did not request this monitor, so the run continues without it.
        None => monitor_file::fresh(&run.config().variant, run.config().seed).and_then(|claim| MonitorFile::create(claim, schema, &about)),
    };
    signals::listen()?;

    let (request, requests) = channel();
    let screen = wants_screen(common.show.json || common.show.plain);
    let clock = || began.elapsed().as_secs_f64();
    let out_of_reach = rooms::shell(schema.id).and_then(|shell| shell.out_of_reach(run.config()));
    let session = |updates| Session {
        run,
        budget: Budget { steps: common.steps, seconds: common.seconds, cpu_seconds: common.cpu_seconds, until_solved: common.until_solved },
        out_of_reach,
        target: SaveTarget::new(save, common.save_every.unwrap_or(SAVE_EVERY_S)),
        interactive: screen,
        program: std::env::args().next().unwrap_or("hothouse".into()),
        resume_flags: machine_flags(&common.machine) + &other_flags(&common),
        clock: &clock,
        signals: &SIGNALS,
        requests,
        updates,
        monitor: monitor.map_err(|error| format!("{error:#}")),
        monitor_is_named: common.monitor.is_some(),
    };
    let display = RunDisplay {
        json: common.show.json,
        screen: screen.then(|| Screen::new(Mode::Training, rooms::picture)),
        requests: Some(&request),
        panic_message: "training stopped at an internal error, shown above. Resume from the last save, and please report it",
    };
    // The training runs on a thread of the pool, so that it uses exactly the requested number of threads.
    let trained = display.show(|updates| machine.pool.install(|| session(updates).train()), &mut |record| outputs.record(record));
    both(trained, outputs.finish())
}

/// Returns an error if two arguments name the same file. Called before any file is written.
fn check_files(common: &CommonArgs, paths: &Paths) -> Result<()> {
    let (save, resumed) = (paths.save.as_deref(), paths.resumed.as_deref());
    let named = [
        ("the run to resume", resumed),
        ("--save", save.filter(|save| resumed.is_none_or(|file| identity(save) != identity(file)))),
        ("--monitor", common.monitor.as_deref()),
        ("--events", common.events.as_deref()),
        ("--csv", common.csv.as_deref()),
        ("--entry", paths.entry.as_deref()),
    ];
    let files: Vec<_> = named.iter().filter_map(|(flag, path)| Some((flag, identity((*path)?)))).collect();
    for (i, (flag, file)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..i].iter().find(|(_, before)| before == file) {
            bail!(Usage(format!("{other} and {flag} name the same file. Use different files")));
        }
    }
    Ok(())
}

fn machine_flags(machine: &MachineArgs) -> String {
    let threads = machine.threads.map_or(String::new(), |n| format!(" --threads {n}"));
    threads + &machine.isa.as_ref().map_or(String::new(), |name| format!(" --isa {name}"))
}

/// Returns the flags of the resume command for the files, data, device and save interval of the run.
fn other_flags(common: &CommonArgs) -> String {
    let flag =
        |name: &str, path: &Option<PathBuf>| path.as_ref().map_or(String::new(), |p| format!(" {name} {}", quoted(&p.to_string_lossy())));
    // The resume command cannot name data that was read from standard input.
    let data = common.data.data.clone().filter(|path| path.as_os_str() != files::STDIN);
    let device = common.device.filter(|&wish| wish != DeviceWish::Auto);
    let every = common.save_every.map_or(String::new(), |every| format!(" --save-every {every}"));
    every
        + &flag("--monitor", &common.monitor)
        + &flag("--data", &data)
        + &flag("--vocab", &common.data.vocab.clone().filter(|_| data.is_some()))
        + &flag("--csv", &common.csv)
        + &flag("--tensorboard", &common.tensorboard)
        + &device.map_or(String::new(), |wish| format!(" --device {}", device_name(wish)))
}
