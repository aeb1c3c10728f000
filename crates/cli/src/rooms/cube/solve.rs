//! `hothouse solve cube`: solutions of cubes that somebody types in, or of many on standard input, one JSON object a line.

use super::agent::{self, MethodArgs, named, puzzle, restored, searched, told};
use crate::args::MachineArgs;
use crate::args::values::seconds;
use crate::error::Usage;
use crate::format::{clock, short};
use crate::host::Machine;
use crate::session::saves;
use crate::shell::{VerbArgs, ask};
use crate::signals::SIGNALS;
use crate::stdio::{LINE_BYTES, converse};
use anyhow::{Result, anyhow, bail};
use clap::{ArgGroup, Args};
use run::cube::protocol::{Puzzle, Scrambled, SearchKind, SolveMethod, StateView};
use run::cube::{Cube, Metric};
use run::protocol::{Command as Wish, Config, Event};
use run::{AnyRun, Host, Run, RunError};
use serde::Serialize;
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

const HELP: &str = "\
Stickers are one letter each, faces in the order U R F D L B and each face row by row as one looks at it: the U face with B
above it, the D face with F above it, the others with U above them (24 letters of the 2x2x2, 54 of the 3x3x3). Any six letters
do, in any case, blanks between them too, and the cube may be held any way round.
  solved 2x2x2   UUUURRRRFFFFDDDDLLLLBBBB      after R   UFUFRRRRFDFDDBDBLLLLUBUB
Moves are U R F D L B for a clockwise quarter turn of that face, with ' for an anticlockwise and 2 for a half turn: R U2 F'.
On the 2x2x2 solutions turn R, U and F alone: the corner at D, B and L stays where it is. --metric says what counts as one
move: a quarter turn alone (qtm), or a half turn as well (htm); it is the agent's own, so an agent for the other one is trained
with `hothouse train cube --set metric=htm`.

Each cube gets one line, in order:
  {\"solution\":\"R U' F\",\"length\":3,\"metric\":\"qtm\",\"nodes\":1,\"ms\":0.1,\"optimal\":3}
(\"width\" beside \"nodes\" where a beam failed and wider ones went on; nodes are those of all), and one that is no cube, or is \
not solved within the limits:
  {\"error\":\"what is wrong, or how far it got\",\"next_step\":\"what would do\"}

The agent is a checkpoint's (--from). Without one it is the newest run of this cube in the user's cache, or else a fresh one is
trained for --seconds and saved there.";

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["facelets", "scramble"]))]
pub struct SolveArgs {
    /// 2 for the 2x2x2, 3 for the 3x3x3 [default: the checkpoint's, else 2]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=3), allow_negative_numbers = true, value_name = "SIZE")]
    cube: Option<u32>,
    /// The stickers of a cube, or - for cubes on standard input, one a line
    #[arg(long, value_name = "STICKERS")]
    facelets: Option<String>,
    /// The moves that led to it from the solved cube, or - for such on standard input, one scramble a line
    #[arg(long, value_name = "MOVES")]
    scramble: Option<String>,
    #[command(flatten)]
    method: MethodArgs,
    /// What counts as one move: qtm or htm [default: the agent's, else qtm]
    #[arg(long, value_parser = metric, value_name = "METRIC")]
    metric: Option<Metric>,
    /// A checkpoint of a run of the cube
    #[arg(long, value_name = "CHECKPOINT")]
    from: Option<PathBuf>,
    /// How long a fresh agent is trained
    #[arg(long, default_value = "20", value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    seconds: f64,
    #[command(flatten)]
    machine: MachineArgs,
}

fn metric(text: &str) -> Result<Metric, String> {
    Metric::ALL.into_iter().find(|metric| metric.id() == text).ok_or("choose qtm or htm".into())
}

#[derive(Serialize)]
#[serde(untagged)]
enum Line {
    Solved {
        solution: String,
        length: usize,
        metric: String,
        nodes: u64,
        /// Of the beam that found it, where narrower ones had failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        width: Option<u32>,
        ms: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        optimal: Option<u32>,
    },
    Unsolved {
        error: String,
        next_step: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        nodes: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        nearest: Option<f32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        ms: Option<f64>,
    },
}

impl VerbArgs for SolveArgs {
    const PATH: &'static [&'static str] = &["solve", "cube"];
    const ABOUT: &'static str = "Solve a cube, or many on standard input, by an agent that has learned it";

    fn help() -> String {
        HELP.into()
    }

    fn run(self) -> Result<()> {
        Machine::work(&self.machine, |machine| run(&self, machine.host))
    }
}

fn run(args: &SolveArgs, host: Host) -> Result<()> {
    let (text, is_scramble) = match (&args.facelets, &args.scramble) {
        (Some(facelets), _) => (facelets, false),
        (_, scramble) => (scramble.as_ref().expect("the grammar asks for one of them"), true),
    };
    let mut out = crate::plain::stdout();
    if text != "-" && args.from.is_none() {
        // What is no cube is refused before an agent is trained for it.
        let known = facelets(&mut untrained(args, host)?, text, is_scramble);
        if let Err(error) = known {
            let (error, next_step) = told(&error);
            writeln!(out, "{}", serde_json::to_string(&unsolved(&error, &next_step))?)?;
            bail!("{error}. {next_step}");
        }
    }
    let mut run = agent(args, host)?;
    let method = args.method.of(&puzzle(&run)?);
    if text != "-" {
        let Some(line) = line(&mut run, text, is_scramble, method) else { bail!(STOPPED) };
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
        return match line {
            Line::Solved { .. } => Ok(()),
            Line::Unsolved { error, next_step, .. } => bail!("{error}. {next_step}"),
        };
    }
    converse(&mut std::io::stdin().lock(), &mut out, |text| {
        if SIGNALS.stopping() {
            return Ok(None);
        }
        let line = match text.map(str::from_utf8) {
            Some(Ok(text)) => line(&mut run, text, is_scramble, method),
            Some(Err(_)) => Some(unsolved("the line is no text", "Write letters of stickers, or moves")),
            None => {
                let error = format!("the line is longer than {LINE_BYTES} bytes");
                Some(unsolved(error, "Write one cube a line"))
            }
        };
        Ok(line.map(|line| serde_json::to_string(&line)).transpose()?)
    })?;
    if SIGNALS.stopping() {
        bail!(STOPPED);
    }
    Ok(())
}

const STOPPED: &str = "stopped before every cube was solved. Run the same command again, or give fewer --nodes";

fn unsolved(error: impl Into<String>, next_step: impl Into<String>) -> Line {
    Line::Unsolved { error: error.into(), next_step: next_step.into(), nodes: None, nearest: None, ms: None }
}

/// None where a person stopped the search.
fn line(run: &mut Run<Cube>, text: &str, is_scramble: bool, method: SolveMethod) -> Option<Line> {
    solved(run, text, is_scramble, method).unwrap_or_else(|error| {
        let (error, next_step) = told(&error);
        Some(unsolved(error, next_step))
    })
}

fn solved(run: &mut Run<Cube>, text: &str, is_scramble: bool, method: SolveMethod) -> Result<Option<Line>, RunError> {
    let facelets = facelets(run, text, is_scramble)?;
    let metric = agent::metric(run);
    let began = Instant::now();
    let Some(view) = searched(run, &facelets, method, &SIGNALS)? else { return Ok(None) };
    let ms = (1e6 * began.elapsed().as_secs_f64()).round() / 1e3;
    let (nodes, nearest) = (view.nodes as u64, view.nearest);
    if let Some(solution) = &view.solution {
        let (moves, optimal) = (&solution.moves, solution.optimal);
        return Ok(Some(Line::Solved {
            solution: moves.join(" "),
            length: moves.len(),
            metric,
            nodes,
            width: view.width.filter(|&width| width > method.width),
            ms,
            optimal,
        }));
    }
    let failure = view.failure.expect("a search ends with a solution or without");
    Ok(Some(Line::Unsolved { error: failure.text, next_step: failure.next_step, nodes: Some(nodes), nearest, ms: Some(ms) }))
}

/// The stickers of a cube that is given, or an error where it is none.
fn facelets(run: &mut Run<Cube>, text: &str, is_scramble: bool) -> Result<String, RunError> {
    if is_scramble {
        let question = json!({ "ask": "turn", "facelets": solved_state(run)?, "moves": text });
        return Ok(ask::<Scrambled>(run, question)?.facelets);
    }
    Ok(ask::<StateView>(run, json!({ "ask": "look", "facelets": text.trim() }))?.facelets)
}

fn solved_state(run: &mut Run<Cube>) -> Result<String, RunError> {
    Ok(ask::<Scrambled>(run, json!({ "ask": "scramble", "moves": 0, "seed": 0 }))?.facelets)
}

/// Who solves: the agent of the checkpoint, of the newest run in the cache, or a fresh one.
fn agent(args: &SolveArgs, host: Host) -> Result<Run<Cube>> {
    let Some(file) = &args.from else { return found(args, host) };
    let mut run = restored(file, host)?;
    let (size, agents) = (puzzle(&run)?.size, agent::metric(&mut run));
    if let Some(asked) = args.cube.filter(|&asked| asked != size) {
        bail!(Usage(format!(
            "{} has learned the {}, not the {}. Leave --cube out, or name a checkpoint of the {}",
            file.display(),
            named(size),
            named(asked),
            named(asked)
        )));
    }
    if let Some(asked) = args.metric.map(Metric::id).filter(|&asked| asked != agents) {
        bail!(Usage(format!(
            "{} counts moves in {agents}, not {asked}. Leave --metric out, or train one with `hothouse train cube --set metric={asked}`",
            file.display()
        )));
    }
    Ok(run)
}

/// Which cube, and what counts as a move.
fn asked(args: &SolveArgs) -> (u32, Metric) {
    (args.cube.unwrap_or(2), args.metric.unwrap_or(Metric::Quarter))
}

fn untrained(args: &SolveArgs, host: Host) -> Result<Run<Cube>> {
    let (size, metric) = asked(args);
    let room = run::room("cube")?;
    let of_size = |about| serde_json::from_value::<Puzzle>(about).is_ok_and(|puzzle| puzzle.size == size);
    let variant = room.variants().into_iter().find(|variant| of_size(variant.about.clone()));
    let mut config = Config { variant: variant.expect("each cube has a learner").id.into(), ..run::config_of(room) };
    config.knobs.insert("metric".into(), metric.id().into());
    Ok(Run::new(config, host)?)
}

fn found(args: &SolveArgs, host: Host) -> Result<Run<Cube>> {
    let (size, metric) = asked(args);
    if args.method.method == Some(SearchKind::Exact) {
        // The table knows without having learned.
        return untrained(args, host);
    }
    let mut said = std::io::stderr();
    for path in saves::kept()? {
        let Ok(mut run) = restored(&path, host) else { continue };
        let is_kind = puzzle(&run)?.size == size && agent::metric(&mut run) == metric.id();
        if is_kind && run.progress().iteration > 0 {
            let states = short(run.progress().counts[0]);
            writeln!(said, "solving with the newest run of the {}, {} ({states} states)", named(size), path.display())?;
            return Ok(run);
        }
    }
    let mut run = untrained(args, host)?;
    check_method(&mut run, args)?;
    writeln!(
        said,
        "no run of the {} is saved here, so one is trained for {} (--seconds); --from names another",
        named(size),
        clock(args.seconds)
    )?;
    trained(run, args.seconds, &mut said)
}

/// Refuses a search that cannot begin, before an agent is trained for it.
fn check_method(run: &mut Run<Cube>, args: &SolveArgs) -> Result<()> {
    let method = args.method.of(&puzzle(run)?);
    let begun = solved_state(run).and_then(|facelets| agent::solve(run, &facelets, method));
    begun.map(drop).map_err(|error| {
        let (error, next_step) = told(&error);
        anyhow!("{error}. {next_step}")
    })
}

/// How often it is told how far a training is.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// Trains and saves it where those are that nobody named.
fn trained(mut run: Run<Cube>, seconds: f64, said: &mut impl Write) -> Result<Run<Cube>> {
    let began = Instant::now();
    let mut told = began;
    let mut loss = None;
    run.command(Wish::Start)?;
    while began.elapsed().as_secs_f64() < seconds && !SIGNALS.stopping() || !run.at_boundary() {
        run.advance(began.elapsed().as_secs_f64());
        for event in run.events() {
            if let Event::Metrics(row) = event {
                loss = row.values[0];
            }
        }
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            let (passed, states) = (clock(began.elapsed().as_secs_f64()), short(run.progress().counts[0]));
            let loss = loss.map_or(String::new(), |loss| format!(", loss {loss:.4}"));
            writeln!(said, "  {passed}: {states} states{loss}")?;
        }
    }
    if SIGNALS.stopping() {
        bail!("stopped. Run the same command to begin again, or train with `hothouse train cube`");
    }
    run.command(Wish::Pause)?;
    keep(&mut run, said)?;
    Ok(run)
}

fn keep(run: &mut Run<Cube>, said: &mut impl Write) -> Result<()> {
    let path: PathBuf = saves::fresh(&run.config().variant, run.config().seed)?;
    let written = files::write_whole(&path, files::CHECKPOINT, &run.save()?);
    match written {
        Ok(()) => {
            saves::prune(&path);
            writeln!(said, "saved       {}", path.display())?;
        }
        // What it has learned serves now all the same.
        Err(error) => writeln!(said, "not saved: {error:#}")?,
    }
    Ok(())
}
