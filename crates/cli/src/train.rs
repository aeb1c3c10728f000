//! `hothouse train` and `hothouse resume`: from a command line to a run with its files, and to whoever shows it.

use crate::args::{self, CommonArgs, DataArgs, MachineArgs, TrainArgs};
use crate::events::EventLog;
use crate::export::Exports;
use crate::format::quoted;
use crate::host::Machine;
use crate::monitor_file::{self, MonitorFile};
use crate::record::Record;
use crate::session::{self, Budget, Place, Session};
use crate::show::{self, Shown};
use crate::signals::{self, SIGNALS};
use crate::{Usage, config, refusal, saves};
use anyhow::{Context, Result, anyhow, bail};
use files::identity;
use run::protocol::{Change, Command, Config, DeviceWish};
use run::{AnyRoom, AnyRun};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{channel, sync_channel};
use std::time::Instant;

/// Seconds of training after which a run saves itself.
const SAVE_EVERY_S: f64 = 30.0;

/// The room of that name, or the first.
pub fn room(id: Option<&str>) -> Result<&'static dyn AnyRoom> {
    id.map_or_else(|| Ok(run::rooms()[0]), |id| run::room(id).map_err(refusal))
}

/// A config of a room with what was set, which no run need be able to start from yet.
pub fn config(
    room: &dyn AnyRoom,
    variant: Option<String>,
    set: &[(String, String)],
    host: run::Host,
) -> Result<Config> {
    let mut config = run::config_of(room);
    config.variant = variant.unwrap_or(config.variant);
    // A variant that there is not has no knobs to set.
    room.check(&config, run::Host { memory_bytes: u64::MAX, ..host }).map_err(refusal)?;
    config.knobs = args::set(set, &room.knobs(&config.variant)).map_err(refusal)?;
    Ok(config)
}

pub fn train(mut id: Option<String>, mut args: TrainArgs, began: Instant) -> Result<()> {
    if let Some(file) = args.config.clone() {
        (id, args) = config::with_file(&file, id, args)?;
    }
    let machine = Machine::new(&args.common.machine)?;
    let room = room(id.as_deref())?;
    let mut config = config(room, args.variant.clone(), &args.common.set, machine.host)?;
    config.seed = args.seed.unwrap_or(1);
    let knobs = room.knobs(&config.variant);
    for (iteration, knob, text) in &args.at {
        let value = args::set_one(knob, text, &knobs).map_err(refusal)?;
        config.changes.push(Change { iteration: *iteration, knob: knob.clone(), value });
    }
    if args.print_config {
        run::validate(&config, machine.host).map_err(refusal)?;
        let text = config::text(room, &config, &args)?;
        return Ok(std::io::stdout().write_all(text.as_bytes())?);
    }
    give_data(&mut config, &args.common.data, machine.host)?;
    let run = machine.pool.install(|| run::begin(config, machine.host)).map_err(refusal)?;
    let save = args.common.save.clone();
    session(run, args.common, save, None, machine, began)
}

pub fn resume(file: Option<PathBuf>, common: CommonArgs, began: Instant) -> Result<()> {
    let machine = Machine::new(&common.machine)?;
    // Whoever was asked and wants none of them has what they want.
    let Some(file) = file.map_or_else(saves::chosen, |file| Ok(Some(file)))? else { return Ok(()) };
    let mut run = machine.pool.install(|| restored(&file, &common.data, machine.host))?;
    for (name, value) in args::set(&common.set, &run.knobs()).map_err(refusal)? {
        run.command(Command::SetKnob { name, value }).map_err(refusal)?;
    }
    let save = common.save.clone().or_else(|| Some(file.clone()));
    session(run, common, save, Some(&file), machine, began)
}

/// Reads what the run is to learn from, unless a run on so much could not begin.
pub fn give_data(config: &mut Config, args: &DataArgs, host: run::Host) -> Result<()> {
    if let Some(data) = args.measured()? {
        config.data = Some(data);
        run::validate(config, host).map_err(refusal)?;
        config.data = args.read()?;
    }
    Ok(())
}

pub fn restored(file: &Path, data: &DataArgs, host: run::Host) -> Result<Box<dyn AnyRun>> {
    restored_from(&files::read_checkpoint(file)?, file, data, host)
}

/// A run from a checkpoint's bytes, and the data beside it.
pub fn restored_from(bytes: &[u8], file: &Path, data: &DataArgs, host: run::Host) -> Result<Box<dyn AnyRun>> {
    check_length(bytes, file, data)?;
    let data = data.read()?;
    let run = run::restore_with(bytes, host, data.as_ref());
    let run = run.with_context(|| format!("cannot use {}", file.display()))?;
    if data.is_some() && run.config().data != data {
        bail!(foreign_data(file));
    }
    Ok(run)
}

fn foreign_data(file: &Path) -> Usage {
    Usage(format!("the run in {} does not learn from the file of --data. Leave it out", file.display()))
}

/// Refuses, before it is read, a text that is longer than what the run learns from: the run's memory was reckoned for that.
fn check_length(checkpoint: &[u8], file: &Path, data: &DataArgs) -> Result<()> {
    let Some(found) = data.length()? else { return Ok(()) };
    // A damaged checkpoint is refused with its own reason.
    let Ok(wanted) = run::data_wanted(checkpoint) else { return Ok(()) };
    match wanted {
        Some(wanted) if found > wanted.bytes => bail!(Usage(format!(
            "the run in {} learns from {}, {} bytes, and the file of --data has {found}. Name that text with --data",
            file.display(),
            wanted.name,
            wanted.bytes
        ))),
        // What lies in the checkpoint is no longer than that.
        None if found > checkpoint.len() as u64 => bail!(foreign_data(file)),
        _ => Ok(()),
    }
}

/// Trains the run and shows it as the person wants to see it.
fn session(
    mut run: Box<dyn AnyRun>,
    common: CommonArgs,
    save: Option<PathBuf>,
    resumed: Option<&Path>,
    machine: Machine,
    began: Instant,
) -> Result<()> {
    run.command(Command::Device { wish: common.device.unwrap_or_default() }).map_err(refusal)?;
    check_files(&common, save.as_deref(), resumed)?;
    let schema = run.schema();
    let mut exports =
        Exports::open(common.csv.as_deref(), common.tensorboard.as_deref(), schema, &run.progress())?;
    let mut events = common.events.as_deref().map(|path| EventLog::create(path, schema)).transpose()?;
    let mut log = move |record: &Record| {
        exports.record(record);
        if let Some(Err(error)) = events.as_mut().map(|open| open.record(record)) {
            let text = format!("warning: events are no longer written ({error}); training goes on");
            let _ = writeln!(std::io::stderr(), "{text}");
            events = None;
        }
    };
    let about = Record::Opened(machine.pool.install(|| run.backend())).line(schema);
    let (variant, seed) = (run.config().variant.clone(), run.config().seed);
    let place = common.monitor.clone().map_or_else(|| monitor_file::fresh(&variant, seed), Ok);
    let monitor = place.and_then(|path| MonitorFile::create(&path, schema, &about));
    signals::listen()?;

    let (wish, wishes) = channel();
    let (update, updates) = sync_channel(session::BACKLOG);
    let screen = show::wants_screen(common.show.json || common.show.plain);
    let clock = || began.elapsed().as_secs_f64();
    let session = Session {
        run,
        budget: Budget {
            steps: common.steps,
            seconds: common.seconds,
            cpu_seconds: common.cpu_seconds,
            until_solved: common.until_solved,
        },
        place: Place::new(save, common.save_every.unwrap_or(SAVE_EVERY_S)),
        interactive: screen,
        program: std::env::args().next().unwrap_or("hothouse".into()),
        resume_flags: machine_flags(&common.machine) + &other_flags(&common),
        clock: &clock,
        signals: &SIGNALS,
        wishes,
        updates: update,
        monitor: monitor.map_err(|error| format!("{error:#}")),
    };
    let pool = machine.pool;
    std::thread::scope(|scope| {
        // On a thread of the pool, so that training and its helpers are exactly that many.
        let trainer = scope.spawn(move || pool.install(|| session.train()));
        let shown = if screen {
            show::on_screen(Shown::Training(&wish), &updates, &mut log)
        } else {
            show::in_lines(common.show.json, &updates, &mut log)
        };
        // Whatever became of the showing, the run ends well.
        if shown.is_err() {
            SIGNALS.output_closed.store(true, Relaxed);
        }
        updates.iter().for_each(drop);
        let ended = trainer.join().map_err(|_| {
            anyhow!("training stopped at an internal error, told above. Resume from the last save, and please report it")
        })?;
        shown?;
        ended
    })
}

/// Refuses names under which this run would destroy what is not its own, before anything is written.
fn check_files(common: &CommonArgs, save: Option<&Path>, resumed: Option<&Path>) -> Result<()> {
    let named = [
        ("the run to resume", resumed),
        ("--save", save.filter(|save| resumed.is_none_or(|file| identity(save) != identity(file)))),
        ("--monitor", common.monitor.as_deref()),
        ("--events", common.events.as_deref()),
        ("--csv", common.csv.as_deref()),
    ];
    let files: Vec<_> = named.iter().filter_map(|(what, path)| Some((what, identity((*path)?)))).collect();
    for (i, (what, file)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..i].iter().find(|(_, before)| before == file) {
            bail!(Usage(format!("{other} and {what} name the same file. Give each its own")));
        }
    }
    if let Some(path) = save {
        files::check(path, files::CHECKPOINT)?;
    }
    // One that cannot be written costs a notice, and not the run.
    common.monitor.as_deref().map_or(Ok(()), |path| files::check_place(path, files::MONITOR))
}

fn machine_flags(machine: &MachineArgs) -> String {
    let threads = machine.threads.map_or(String::new(), |n| format!(" --threads {n}"));
    threads + &machine.isa.as_ref().map_or(String::new(), |name| format!(" --isa {name}"))
}

/// A resumed run goes on with its monitor and its tables.
fn other_flags(common: &CommonArgs) -> String {
    let flag = |name: &str, path: &Option<PathBuf>| {
        path.as_ref().map_or(String::new(), |p| format!(" {name} {}", quoted(&p.to_string_lossy())))
    };
    // What came through a pipe cannot be named; where the checkpoint has it, nothing need be.
    let data = common.data.data.clone().filter(|path| path.as_os_str() != files::STDIN);
    let every = common.save_every.map_or(String::new(), |every| format!(" --save-every {every}"));
    every
        + &flag("--monitor", &common.monitor)
        + &flag("--data", &data)
        + &flag("--vocab", &common.data.vocab.clone().filter(|_| data.is_some()))
        + &flag("--csv", &common.csv)
        + &flag("--tensorboard", &common.tensorboard)
        + match common.device {
            None | Some(DeviceWish::Auto) => "",
            Some(DeviceWish::Cpu) => " --device cpu",
            Some(DeviceWish::Gpu) => " --device gpu",
        }
}
