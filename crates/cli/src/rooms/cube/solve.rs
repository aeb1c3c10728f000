//! `hothouse solve cube`: solves one cube from the command line, or many cubes from standard input. Prints one JSON object per cube.

use super::agent::{self, MethodArgs, cube_name, problem_and_remedy, puzzle, restored, search_to_end};
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
use run::protocol::{Command, Config, Event};
use run::{AnyRun, Host, Run, RunError};
use serde::Serialize;
use serde_json::json;
use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

const HELP: &str = "\
Stickers are one letter each: 24 for the 2x2x2, 54 for the 3x3x3. Faces are in the order U R F D L B, each row by row: the U
face with B above it, the D face with F above it, the others with U above them. Any six letters in any case can represent the
colours; blanks are allowed, and the cube may be in any orientation.
  solved 2x2x2   UUUURRRRFFFFDDDDLLLLBBBB      after R   UFUFRRRRFDFDDBDBLLLLUBUB
Moves are U R F D L B for a clockwise quarter turn of that face, with ' for an anticlockwise and 2 for a half turn: R U2 F'.
Solutions of the 2x2x2 turn R, U and F only: the corner at D, B and L stays fixed. --metric selects the moves that count as one:
quarter turns (qtm), or also half turns (htm). An agent has one metric; train one for the other with
`hothouse train cube --set metric=htm`.

Each cube gets one line, in order:
  {\"solution\":\"R U' F\",\"length\":3,\"metric\":\"qtm\",\"nodes\":1,\"ms\":0.1,\"optimal\":3}
\"width\" is added if a beam failed and a wider one found the solution; \"nodes\" counts all beams. An invalid cube, or one that
is not solved within the limits, gets:
  {\"error\":\"the problem\",\"next_step\":\"the remedy\"}

The agent is that of a checkpoint (--from). Without --from it is the latest run of this cube in the user's cache. If there is none,
a new agent is trained for --seconds and saved there.";

#[derive(Clone, Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["facelets", "scramble"]))]
pub struct SolveArgs {
    /// Cube: 2 for the 2x2x2, 3 for the 3x3x3 [default: the checkpoint's, else 2]
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=3), allow_negative_numbers = true, value_name = "SIZE")]
    cube: Option<u32>,
    /// Stickers of a cube, or - for cubes on standard input, one per line
    #[arg(long, value_name = "STICKERS")]
    facelets: Option<String>,
    /// Moves from the solved cube, or - for scrambles on standard input, one per line
    #[arg(long, value_name = "MOVES")]
    scramble: Option<String>,
    #[command(flatten)]
    method: MethodArgs,
    /// Move metric: qtm (a half turn is two moves) or htm (a half turn is one move) [default: the checkpoint's, else qtm]
    #[arg(long, value_parser = metric, value_name = "METRIC")]
    metric: Option<Metric>,
    /// Checkpoint of a cube run
    #[arg(long, value_name = "CHECKPOINT")]
    from: Option<PathBuf>,
    /// Seconds of training for a new agent
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
        /// Width of the beam that found the solution; `None` if the first beam found the solution, or for another search method.
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
    const ABOUT: &'static str = "Solve one cube, or many from standard input, with a trained agent";

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
        (_, scramble) => (scramble.as_ref().expect("the grammar requires one of them"), true),
    };
    let mut out = crate::plain::stdout();
    if text != "-" && args.from.is_none() {
        // Checks the cube first, so that an invalid cube is reported before an agent is trained.
        let cube = facelets(&mut untrained(args, host)?, text, is_scramble);
        if let Err(error) = cube {
            let (error, next_step) = problem_and_remedy(&error);
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
    converse(&mut BufReader::new(files::stdin()), &mut out, |text| {
        if SIGNALS.stopping() {
            return Ok(None);
        }
        let line = match text.map(str::from_utf8) {
            Some(Ok(text)) => line(&mut run, text, is_scramble, method),
            Some(Err(_)) => Some(unsolved("the line is not text", "Write letters of stickers, or moves")),
            None => {
                let error = format!("the line is longer than {LINE_BYTES} bytes");
                Some(unsolved(error, "Write one cube per line"))
            }
        };
        Ok(line.map(|line| serde_json::to_string(&line)).transpose()?)
    })?;
    if SIGNALS.stopping() {
        bail!(STOPPED);
    }
    Ok(())
}

const STOPPED: &str = "stopped before all cubes were solved. Run the same command again, or use fewer --nodes";

fn unsolved(error: impl Into<String>, next_step: impl Into<String>) -> Line {
    Line::Unsolved { error: error.into(), next_step: next_step.into(), nodes: None, nearest: None, ms: None }
}

/// Solves one cube. Returns [`Line::Unsolved`] for an invalid cube or a failed search, and `None` if the user stops the search.
fn line(run: &mut Run<Cube>, text: &str, is_scramble: bool, method: SolveMethod) -> Option<Line> {
    solved(run, text, is_scramble, method).unwrap_or_else(|error| {
        let (error, next_step) = problem_and_remedy(&error);
        Some(unsolved(error, next_step))
    })
}

fn solved(run: &mut Run<Cube>, text: &str, is_scramble: bool, method: SolveMethod) -> Result<Option<Line>, RunError> {
    let facelets = facelets(run, text, is_scramble)?;
    let metric = agent::metric(run);
    let began = Instant::now();
    let Some(view) = search_to_end(run, &facelets, method, &SIGNALS)? else { return Ok(None) };
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
    let failure = view.failure.expect("a search without a solution has a failure");
    Ok(Some(Line::Unsolved { error: failure.text, next_step: failure.next_step, nodes: Some(nodes), nearest, ms: Some(ms) }))
}

/// Returns the stickers of a cube. If `is_scramble` is true, `text` contains a scramble of the cube, otherwise its stickers. Returns an
/// error if the text is invalid.
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

/// Returns the run in the checkpoint of `--from`. Without `--from`, returns the latest run in the cache with the requested cube and metric.
/// If the cache has no such run, trains a new run. The search method `exact` needs no agent, so without `--from` this method gets an
/// untrained run.
fn agent(args: &SolveArgs, host: Host) -> Result<Run<Cube>> {
    let Some(file) = &args.from else { return cached_or_new(args, host) };
    let mut run = restored(file, host)?;
    let (size, agents) = (puzzle(&run)?.size, agent::metric(&mut run));
    if let Some(other) = args.cube.filter(|&other| other != size) {
        bail!(Usage(format!(
            "{} solves the {}, not the {}. Omit --cube, or name a checkpoint of the {}",
            file.display(),
            cube_name(size),
            cube_name(other),
            cube_name(other)
        )));
    }
    if let Some(other) = args.metric.map(Metric::id).filter(|&other| other != agents) {
        bail!(Usage(format!(
            "{} counts moves in {agents}, not {other}. Omit --metric, or train an agent with `hothouse train cube --set metric={other}`",
            file.display()
        )));
    }
    Ok(run)
}

/// Returns the requested cube size and move metric. The defaults are 2 and quarter turns.
fn size_and_metric(args: &SolveArgs) -> (u32, Metric) {
    (args.cube.unwrap_or(2), args.metric.unwrap_or(Metric::Quarter))
}

fn untrained(args: &SolveArgs, host: Host) -> Result<Run<Cube>> {
    let (size, metric) = size_and_metric(args);
    let room = run::room("cube")?;
    let has_size = |about| serde_json::from_value::<Puzzle>(about).is_ok_and(|puzzle| puzzle.size == size);
    let variant = room.variants().into_iter().find(|variant| has_size(variant.about.clone()));
    let mut config = Config { variant: variant.expect("each cube has a learner").id.into(), ..run::config_of(room) };
    config.knobs.insert("metric".into(), metric.id().into());
    Ok(Run::new(config, host)?)
}

fn cached_or_new(args: &SolveArgs, host: Host) -> Result<Run<Cube>> {
    let (size, metric) = size_and_metric(args);
    if args.method.method == Some(SearchKind::Exact) {
        // Search by the exact table needs no trained agent.
        return untrained(args, host);
    }
    let mut output = crate::plain::stderr();
    for path in saves::kept()? {
        let Ok(mut run) = restored(&path, host) else { continue };
        let is_kind = puzzle(&run)?.size == size && agent::metric(&mut run) == metric.id();
        if is_kind && run.progress().iteration > 0 {
            let states = short(run.progress().counts[0]);
            writeln!(output, "using the latest run of the {}, {} ({states} states)", cube_name(size), path.display())?;
            return Ok(run);
        }
    }
    let mut run = untrained(args, host)?;
    check_method(&mut run, args)?;
    writeln!(
        output,
        "no saved run of the {}: training one for {} (--seconds); name another with --from",
        cube_name(size),
        clock(args.seconds)
    )?;
    trained(run, args.seconds, &mut output)
}

/// Returns an error if the search cannot start. Call this function before training an agent for the search.
fn check_method(run: &mut Run<Cube>, args: &SolveArgs) -> Result<()> {
    let method = args.method.of(&puzzle(run)?);
    let begun = solved_state(run).and_then(|facelets| agent::solve(run, &facelets, method));
    begun.map(drop).map_err(|error| {
        let (error, next_step) = problem_and_remedy(&error);
        anyhow!("{error}. {next_step}")
    })
}

const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Trains the run for at least `seconds`, to the end of an iteration, then saves the run in the cache.
fn trained(mut run: Run<Cube>, seconds: f64, output: &mut impl Write) -> Result<Run<Cube>> {
    let began = Instant::now();
    let mut reported = began;
    let mut loss = None;
    run.command(Command::Start)?;
    while began.elapsed().as_secs_f64() < seconds && !SIGNALS.stopping() || !run.at_boundary() {
        run.advance(began.elapsed().as_secs_f64());
        for event in run.events() {
            if let Event::Metrics(row) = event {
                loss = row.values[0];
            }
        }
        if reported.elapsed() >= PROGRESS_EVERY {
            reported = Instant::now();
            let (passed, states) = (clock(began.elapsed().as_secs_f64()), short(run.progress().counts[0]));
            let loss = loss.map_or(String::new(), |loss| format!(", loss {loss:.4}"));
            writeln!(output, "  {passed}: {states} states{loss}")?;
        }
    }
    if SIGNALS.stopping() {
        bail!("stopped. Run the same command to start again, or train with `hothouse train cube`");
    }
    run.command(Command::Pause)?;
    keep(&mut run, output)?;
    Ok(run)
}

fn keep(run: &mut Run<Cube>, output: &mut impl Write) -> Result<()> {
    let claim = saves::fresh(&run.config().variant, run.config().seed);
    let bytes = run.save()?;
    match claim.and_then(|claim| claim.write(&bytes).map(|()| claim)) {
        Ok(claim) => {
            saves::prune(claim.path());
            writeln!(output, "saved       {}", claim.path().display())?;
        }
        // An error does not end the command, because the trained agent can still solve this cube.
        Err(error) => writeln!(output, "not saved: {error:#}")?,
    }
    Ok(())
}
