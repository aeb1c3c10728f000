//! `hothouse`: the shell in a terminal. It owns what the experiment must not know: the command
//! line, files, the clock, threads and signals. Errors end here, with the next step, and status 1;
//! a wrong command line has status 2.

mod args;
mod bench;
mod braille;
mod device;
mod draw;
mod env;
mod export;
mod files;
mod gnubg;
mod judge;
mod lines;
mod moves;
mod parlour;
mod play;
mod record;
mod ring;
mod screen;
mod session;
mod solve;
mod stdio;
mod sweep;
mod tui;
mod view;
mod watch;
mod words;

use anyhow::{Context, Result, anyhow, bail};
use args::{Cli, CommonArgs, EvalArgs, JudgedGame, MachineArgs, ShowArgs, TrainArgs, Verb};
use clap::{CommandFactory, FromArgMatches};
use export::Exports;
use lines::{EventLog, Printer};
use math::Isa;
use record::{Opened, Record};
use run::protocol::{Command, Config, DeviceWish, Knob, KnobKind};
use run::{Experiment, RunError};
use screen::{Mode, Screen};
use session::{Budget, Session, Signals, Update, Wish};
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::time::Instant;
use view::View;

/// The command line is wrong: status 2.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

static SIGNALS: Signals = Signals::new();

fn main() -> ExitCode {
    let began = Instant::now();
    let grammar = Cli::command()
        .mut_subcommand("train", |train| train.after_long_help(knob_help()))
        .mut_subcommand("sweep", |sweep| {
            sweep.after_help(sweep::HELP).after_long_help(sweep::HELP.to_owned() + "\n\n" + &knob_help())
        })
        .mut_subcommand("env", |env| env.after_help(env::help()))
        .mut_subcommand("eval", |eval| eval.mut_subcommand("backgammon", |game| game.after_help(judge::HELP)))
        .mut_subcommand("play", |play| play.after_help(play::HELP))
        .mut_subcommand("moves", |moves| moves.after_help(moves::HELP));
    let parsed = grammar.try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(answer) => {
            // Help and version come this way too; if nobody reads them, nobody misses them.
            let _ = answer.print();
            return ExitCode::from(answer.exit_code() as u8);
        }
    };
    match obey(cli, began) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

fn closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe)
}

fn obey(cli: Cli, began: Instant) -> Result<()> {
    match cli.command {
        None => train("control", cli.train, began),
        Some(Verb::Train { room, args }) => train(&room, args, began),
        Some(Verb::Eval { game: Some(JudgedGame::Backgammon(args)), .. }) => {
            let (isa, pool) = machine_of(&args.machine)?;
            on_interrupt()?;
            pool.install(|| judge::run(&args, isa, pool.current_num_threads(), &SIGNALS))
        }
        Some(Verb::Eval { game: None, args }) => eval(&args),
        Some(Verb::Resume { file, common }) => resume(&file, common, began),
        Some(Verb::Bench { suite, json, machine }) => {
            let (isa, pool) = machine_of(&machine)?;
            pool.install(|| bench::run(&suite, json, isa, pool.current_num_threads()))
        }
        Some(Verb::Watch { list: true, show, .. }) => watch::list(show.json),
        Some(Verb::Watch { file, show, .. }) => watch(file, &show),
        Some(Verb::Sweep { room, .. } | Verb::Solve { room, .. }) if room == run::backgammon::ROOM => {
            bail!(Usage(
                "only control is swept and solved. Train this room with `hothouse train backgammon`".into()
            ))
        }
        Some(Verb::Sweep { room, args }) => {
            let (isa, pool) = machine_of(&args.machine)?;
            on_interrupt()?;
            sweep::run(&room, &args, isa, pool.current_num_threads(), &SIGNALS)
        }
        Some(Verb::Solve { room, args }) => {
            let (isa, pool) = machine_of(&args.machine)?;
            on_interrupt()?;
            pool.install(|| solve::run(&room, &args, isa, &SIGNALS))
        }
        Some(Verb::Env { id, stdio }) => env::run(&id, stdio),
        Some(Verb::Play { game, player, evals, stdio, machine }) => {
            let (isa, pool) = machine_of(&machine)?;
            pool.install(|| play::run(&game, &player, evals, stdio, isa))
        }
        Some(Verb::Moves { game, stdio }) => moves::run(&game, stdio),
    }
}

fn train(room: &str, args: TrainArgs, began: Instant) -> Result<()> {
    let (isa, pool) = machine_of(&args.common.machine)?;
    if room == run::backgammon::ROOM {
        return parlour::train(args.env, args.seed, args.common, isa, &pool, began, &SIGNALS);
    }
    let knobs = args.common.set.iter().cloned().collect();
    let base = run::default_config();
    let env = args.env.unwrap_or(base.env);
    let config = Config { room: room.into(), env, seed: args.seed, knobs, ..run::default_config() };
    let experiment = Experiment::new(config, isa).map_err(refusal)?;
    let save = args.common.save.clone();
    session(experiment, args.common, save, pool, began)
}

fn resume(file: &Path, common: CommonArgs, began: Instant) -> Result<()> {
    let (isa, pool) = machine_of(&common.machine)?;
    let bytes = files::read_checkpoint(file)?;
    if run::room_of(&bytes).is_ok_and(|room| room == run::backgammon::ROOM) {
        return parlour::resume(file, &bytes, common, isa, &pool, began, &SIGNALS);
    }
    let mut experiment = restored(file, &bytes, isa)?;
    for (name, value) in &common.set {
        let knob = Command::SetKnob { name: name.clone(), value: *value };
        experiment.command(knob).map_err(refusal)?;
    }
    let save = common.save.clone().or_else(|| Some(file.to_path_buf()));
    session(experiment, common, save, pool, began)
}

fn restored(file: &Path, bytes: &[u8], isa: Isa) -> Result<Experiment> {
    Experiment::restore(bytes, isa).with_context(|| format!("cannot use {}", file.display()))
}

/// What the person typed cannot be; the rest is the program's trouble.
fn refusal(error: RunError) -> anyhow::Error {
    Usage(error.to_string()).into()
}

/// Trains `experiment` and shows it as the person wants to see it.
fn session(
    mut experiment: Experiment,
    common: CommonArgs,
    save: Option<PathBuf>,
    pool: rayon::ThreadPool,
    began: Instant,
) -> Result<()> {
    let wish = Command::Device { wish: common.device };
    experiment.command(wish).map_err(refusal)?;
    let config = experiment.config();
    let default_save = PathBuf::from(format!("hothouse-{}-seed{}.safetensors", config.env, config.seed));
    if let Some(path) = &save {
        files::check_writable(path)?;
    }
    let files = [
        ("--save", &save),
        ("--monitor", &common.monitor),
        ("--events", &common.events),
        ("--csv", &common.csv),
    ];
    for (i, (flag, file)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..i].iter().find(|(_, before)| file.is_some() && before == file) {
            bail!(Usage(format!("{other} and {flag} name the same file. Give each its own")));
        }
    }
    let mut exports =
        Exports::open(common.csv.as_deref(), common.tensorboard.as_deref(), experiment.progress())?;
    let mut log = match &common.events {
        Some(path) => Some(EventLog::create(path).with_context(|| {
            format!("cannot write events to {}. Name a file in a folder that can be written", path.display())
        })?),
        None => None,
    };
    let mut log = move |record: &Record| {
        exports.record(record);
        let Some(open) = &mut log else { return };
        // `watch` reads along, so every record goes out at once.
        if let Err(error) = open.record(record).and_then(|()| open.flush()) {
            let _ = writeln!(
                std::io::stderr(),
                "warning: events are no longer written ({error}); training goes on"
            );
            log = None;
        }
    };
    let about = Record::Opened(Opened::from(pool.install(|| experiment.backend()))).line();
    let place = common.monitor.clone().map_or_else(|| ring::fresh(&config.env, config.seed), Ok);
    let monitor = place.and_then(|path| ring::create(&path, &about)).map_err(|error| format!("{error:#}"));
    on_interrupt()?;

    let (wish, wishes) = channel();
    let (update, updates) = sync_channel(session::BACKLOG);
    let screen = wants_screen(&common.show);
    let session = Session {
        experiment,
        budget: Budget {
            steps: common.steps,
            seconds: common.seconds,
            cpu_seconds: common.cpu_seconds,
            until_solved: common.until_solved,
        },
        save,
        default_save,
        interactive: screen,
        program: std::env::args().next().unwrap_or("hothouse".into()),
        resume_flags: machine_flags(&common.machine) + &other_flags(&common),
        began,
        signals: &SIGNALS,
        wishes,
        updates: update,
        monitor,
    };
    std::thread::scope(|scope| {
        // On a thread of the pool, so that training and its helpers are exactly that many.
        let trainer = scope.spawn(move || pool.install(|| session.run()));
        let shown = if screen {
            on_screen(Mode::Training, &wish, &updates, &mut log)
        } else {
            in_lines(common.show.json, &updates, &mut log)
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

fn eval(args: &EvalArgs) -> Result<()> {
    let (isa, pool) = machine_of(&args.machine)?;
    let file = args.file.as_deref().expect("the grammar asks for it");
    let bytes = files::read_checkpoint(file)?;
    if run::room_of(&bytes).is_ok_and(|room| room == run::backgammon::ROOM) {
        let shown = words::quoted(&file.to_string_lossy());
        bail!(Usage(format!(
            "{shown} is a player of backgammon. Judge it with `hothouse eval backgammon {shown} --against linear`"
        )));
    }
    let mut experiment = restored(file, &bytes, isa)?;
    let e = pool.install(|| experiment.evaluate(args.episodes, args.seed));
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", Record::Event(run::protocol::Event::Evaluation(e)).line())?;
    } else {
        let config = experiment.config();
        writeln!(
            out,
            "{} seed {} after {} steps: mean return {:.1} over {} episodes ({:.0} to {:.0})",
            config.env,
            config.seed,
            words::grouped(e.progress.env_steps),
            e.mean_return,
            e.episodes,
            e.min_return,
            e.max_return
        )?;
    }
    Ok(())
}

fn watch(file: Option<PathBuf>, show: &ShowArgs) -> Result<()> {
    let file = match file {
        Some(file) => file,
        None => {
            let newest = ring::newest()?;
            // What is watched goes to standard output, and this to whoever started it.
            let _ = writeln!(std::io::stderr(), "watching {}", newest.display());
            newest
        }
    };
    let file = &file;
    on_interrupt()?;
    let (update, updates) = sync_channel(session::BACKLOG);
    let (wish, _no_wishes) = channel();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || watch::follow(file, &SIGNALS, &update));
        let shown = if wants_screen(show) {
            on_screen(Mode::Watching, &wish, &updates, &mut |_| {})
        } else {
            in_lines(show.json, &updates, &mut |_| {})
        };
        SIGNALS.output_closed.store(true, Relaxed);
        updates.iter().for_each(drop);
        let read = reader.join().map_err(|_| anyhow!("reading stopped at an internal error, told above"))?;
        shown.and(read)
    })
}

/// Draws until the run ends, then tells in lines what is worth keeping in the scrollback.
fn on_screen(
    mode: Mode,
    wish: &Sender<Wish>,
    updates: &Receiver<Update>,
    log: &mut dyn FnMut(&Record),
) -> Result<()> {
    let mut summary = None;
    let screen = Screen::new(View::new(Opened::default(), Vec::new()), mode);
    let shown = tui::show(screen, &SIGNALS, wish, updates, &mut |record| {
        log(record);
        if matches!(record, Record::Summary(_)) {
            summary = Some(record.clone());
        }
    });
    if let Some(summary) = summary {
        let mut printer = Printer::new(std::io::stdout(), false);
        printer.record(&summary)?;
        printer.flush()?;
    }
    shown
}

fn in_lines(json: bool, updates: &Receiver<Update>, log: &mut dyn FnMut(&Record)) -> Result<()> {
    let mut printer = Printer::new(std::io::stdout(), json);
    let mut printed = Ok(());
    while let Ok(first) = updates.recv() {
        for update in std::iter::once(first).chain(updates.try_iter()) {
            if let Update::Record(record) = update {
                log(&record);
                if printed.is_ok() {
                    printed = printer.record(&record);
                }
            }
        }
        if printed.is_ok() {
            printed = printer.flush();
        }
        if printed.is_err() {
            SIGNALS.output_closed.store(true, Relaxed);
        }
    }
    Ok(printed?)
}

fn wants_screen(show: &ShowArgs) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !show.json && !show.plain && !dumb
}

fn on_interrupt() -> Result<()> {
    ctrlc::set_handler(|| SIGNALS.interrupt()).context("cannot listen for Ctrl-C")
}

fn machine_of(machine: &MachineArgs) -> Result<(Isa, rayon::ThreadPool)> {
    let isa = match &machine.isa {
        None => Isa::best(),
        Some(name) => Isa::from_name(name).filter(|isa| isa.is_available()).ok_or_else(|| {
            let have: Vec<_> = Isa::available().into_iter().map(Isa::name).collect();
            Usage(format!("there is no instruction set '{name}' here. This machine has: {}", have.join(", ")))
        })?,
    };
    let threads = machine.threads.unwrap_or(0) as usize;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .context("cannot start the threads. Ask for fewer with --threads")?;
    Ok((isa, pool))
}

fn machine_flags(machine: &MachineArgs) -> String {
    let threads = machine.threads.map_or(String::new(), |n| format!(" --threads {n}"));
    threads + &machine.isa.as_ref().map_or(String::new(), |name| format!(" --isa {name}"))
}

/// A resumed run goes on with its monitor and its tables.
fn other_flags(common: &CommonArgs) -> String {
    let flag = |name: &str, path: &Option<PathBuf>| {
        path.as_ref().map_or(String::new(), |p| format!(" {name} {}", words::quoted(&p.to_string_lossy())))
    };
    flag("--monitor", &common.monitor)
        + &flag("--csv", &common.csv)
        + &flag("--tensorboard", &common.tensorboard)
        + match common.device {
            DeviceWish::Auto => "",
            DeviceWish::Cpu => " --device cpu",
            DeviceWish::Gpu => " --device gpu",
        }
}

/// Every knob, from the one table that the page reads too.
fn knob_help() -> String {
    let mut text = String::from(
        "Knobs, for --set (those marked * can also change while the run goes on), with CartPole's defaults:\n",
    );
    let base = run::default_config().env;
    let mut knobs = run::knob_list(&base);
    for environment in run::environments() {
        let known = |knob: &Knob| knobs.iter().any(|k| k.name == knob.name);
        let more: Vec<_> = run::knob_list(&environment.id).into_iter().filter(|k| !known(k)).collect();
        knobs.extend(more);
    }
    knobs.iter().for_each(|knob| text += &knob_words(knob));
    text += "\nWhat the presets of other environments have else:\n";
    for environment in run::environments().iter().filter(|e| e.id != base) {
        let usual = run::knob_list(&base);
        let own = run::knob_list(&environment.id).into_iter().filter(|knob| {
            usual.iter().find(|u| u.name == knob.name).is_none_or(|u| u.default != knob.default)
        });
        let own: Vec<_> = own.map(|knob| format!("{}={}", knob.name, knob.default)).collect();
        text += &format!("\n  {}\n", environment.id);
        for line in words::wrapped(&own.join(" "), 90) {
            text += &format!("      {line}\n");
        }
    }
    for learner in run::backgammon::learners() {
        text += &format!("\nKnobs of backgammon's learner '{}':\n", learner.id);
        run::backgammon::knob_list(learner.id).iter().for_each(|knob| text += &knob_words(knob));
    }
    text
}

fn knob_words(knob: &Knob) -> String {
    let range = match knob.kind {
        KnobKind::Float { min, max, .. } => format!("{min} to {max}"),
        KnobKind::Int { min, max, .. } => format!("{min} to {max}, whole"),
        KnobKind::Bool => "0 or 1".into(),
    };
    let mark = if knob.live { "*" } else { "" };
    let unit = if knob.unit.is_empty() { String::new() } else { format!(" {}", knob.unit) };
    let mut text = format!("\n  {}{mark}  {range}{unit}, default {}\n", knob.name, knob.default);
    for line in words::wrapped(&format!("{}. {}", knob.label, knob.help), 90) {
        text += &format!("      {line}\n");
    }
    text
}
