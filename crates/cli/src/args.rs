//! The grammar of the command line, one for every room. It refuses to do anything: it turns words
//! into plain data, or into an error that says what would do.

use clap::{Args, Parser, Subcommand};
use run::protocol::DeviceWish;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  hothouse                                   train CartPole and watch it learn (q saves and quits)
  hothouse --seed 7 --until-solved           stop as soon as the task is solved
  hothouse train control --env CartPole-v1 --seed 1 --set lr=0.003 --steps 2e6 --save run.safetensors
  hothouse train backgammon --seconds 60 --save bg.safetensors
  hothouse resume run.safetensors --steps 4e6
  hothouse eval run.safetensors --episodes 1000
  hothouse train --seconds 10 --json         one JSON object a line, the last one sums up
  hothouse watch                             in a second terminal: the newest run, live; --list names all
  hothouse train --events run.jsonl          every event as a line; hothouse watch run.jsonl reads it
  hothouse train --csv run.csv --tensorboard runs/one
  hothouse train --device gpu --set envs=65536 --set rollout_steps=32   the whole iteration on the GPU
  hothouse sweep control --knob lr=1e-4..1e-2:log --knob hidden=32,64 --seeds 5
  hothouse solve --seeds 5                   every environment from its preset, with the times
  hothouse bench core --json
  hothouse env Pendulum-v1 --stdio           an environment for another program to drive
  hothouse eval backgammon run.safetensors --against gnubg   games with duplicate dice; also linear, random
  hothouse play backgammon run.safetensors --stdio   a player of backgammon for another program to ask
  hothouse moves backgammon --stdio          the rules of backgammon for another program to ask

A budget is any of --steps, --seconds and --cpu-seconds; training ends at the end of the iteration in
which the first of them is reached. Without one it goes on until you stop it: Ctrl-C ends the
iteration, saves a checkpoint and prints the command that continues it; a second Ctrl-C quits at once.

Exit status: 0 done (also when stopped and saved), 1 failed, 2 the command line is wrong.";

#[derive(Debug, Parser)]
#[command(
    name = "hothouse",
    version,
    about = "Reinforcement learning at the full speed of your machine, live in your terminal.",
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Verb>,
    #[command(flatten)]
    pub train: TrainArgs,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Train an agent (also what happens without a command)
    Train {
        /// The room to train in
        #[arg(default_value = "control")]
        room: String,
        #[command(flatten)]
        args: TrainArgs,
    },
    /// Judge a saved agent on fresh episodes, always taking the likelier action
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Eval {
        #[command(subcommand)]
        game: Option<JudgedGame>,
        #[command(flatten)]
        args: EvalArgs,
    },
    /// Continue a saved run exactly where it stopped
    Resume {
        /// A checkpoint, saved here or in the page; the continued run is saved back to it, unless --save says otherwise
        file: PathBuf,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Measure this machine
    Bench {
        /// What to measure: core (everything), control (how soon CartPole is solved), backgammon or gpu
        #[arg(default_value = "core")]
        suite: String,
        /// One {"name":…,"value":…,"unit":…} a line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        machine: MachineArgs,
    },
    /// Follow a run from another terminal, or look at one that has ended
    Watch {
        /// What the training process writes with --monitor or --events; the newest run of this user where none is named
        file: Option<PathBuf>,
        /// List the runs that can be watched, the newest first
        #[arg(long, conflicts_with_all = ["file", "plain"])]
        list: bool,
        #[command(flatten)]
        show: ShowArgs,
    },
    /// Train under many settings and seeds, as many runs at once as there are processors
    Sweep {
        /// The room to train in
        #[arg(default_value = "control")]
        room: String,
        #[command(flatten)]
        args: SweepArgs,
    },
    /// Solve every environment from its preset, seed by seed, and print how long each took
    Solve {
        /// The room whose environments to solve
        #[arg(default_value = "control")]
        room: String,
        #[command(flatten)]
        args: SolveArgs,
    },
    /// Let another program drive an environment, or describe it
    Env {
        /// The environment's name, as Gymnasium has it
        id: String,
        /// Read requests and write answers, one JSON object a line
        #[arg(long)]
        stdio: bool,
    },
    /// Let another program ask a player for its moves
    Play {
        /// The game to play
        game: String,
        /// Who plays: a checkpoint, linear or random
        #[arg(default_value = "linear", value_name = "CHECKPOINT")]
        player: String,
        /// Evaluations that a checkpoint's agent may spend on each move; 1 means no look-ahead
        #[arg(long, default_value = "1", value_parser = evals, allow_negative_numbers = true, value_name = "N")]
        evals: u32,
        /// Read requests and write answers, a line each
        #[arg(long)]
        stdio: bool,
        #[command(flatten)]
        machine: MachineArgs,
    },
    /// Tell another program what rolls can lead to and what finished games count
    Moves {
        /// The game whose rules to tell
        game: String,
        /// Read positions and write answers, a line each
        #[arg(long)]
        stdio: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum JudgedGame {
    /// Judge a player of backgammon by games against another, or by decisions that were judged
    Backgammon(JudgeArgs),
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// A checkpoint, saved here or in the page
    #[arg(required = true)]
    pub file: Option<PathBuf>,
    /// Episodes to play
    #[arg(long, default_value = "100", value_parser = episodes, allow_negative_numbers = true, value_name = "N")]
    pub episodes: u32,
    /// Seed of the episodes
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    pub seed: u32,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct JudgeArgs {
    /// Who is judged: a checkpoint, linear, random or gnubg
    #[arg(default_value = "linear", value_name = "CHECKPOINT")]
    pub player: String,
    /// Play games against gnubg, random, linear or a checkpoint
    #[arg(long, value_name = "PLAYER")]
    pub against: Option<String>,
    /// Score the choices in this file of judged decisions
    #[arg(long, value_name = "FILE")]
    pub decisions: Option<PathBuf>,
    /// Evaluations that a checkpoint's agent may spend on each move; 1 means no look-ahead
    #[arg(long, default_value = "1", value_parser = evals, allow_negative_numbers = true, value_name = "N")]
    pub evals: u32,
    /// Games to play; an odd number is rounded up, since every sequence of dice is played twice
    #[arg(long, default_value = "4000", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    pub games: u64,
    /// How many plies GNU Backgammon looks ahead
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=i64::from(crate::gnubg::MOST_PLIES)), allow_negative_numbers = true, value_name = "N")]
    pub plies: u8,
    /// Seed of the dice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    pub seed: u32,
    /// Print each result as one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct TrainArgs {
    /// The environment to train in; in backgammon the learner: strong or published [default: CartPole-v1, strong]
    #[arg(long, value_name = "NAME")]
    pub env: Option<String>,
    /// Same seed, knobs and kind of arithmetic: the same run, whatever the number of threads
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    pub seed: u32,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What training and resuming have in common.
#[derive(Clone, Debug, Args)]
pub struct CommonArgs {
    /// Set a knob, as in --set lr=0.003; repeat for more (a resumed run takes the live ones). `hothouse train --help` lists them
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = assignment)]
    pub set: Vec<(String, f64)>,
    /// Stop when the run has come this far, its saved part included: environment steps (in backgammon games), as in 2e6 or 2_000_000
    #[arg(long, value_parser = count, allow_negative_numbers = true, value_name = "N")]
    pub steps: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub seconds: Option<f64>,
    /// Stop after this many seconds of processor time, all threads together
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub cpu_seconds: Option<f64>,
    /// Stop as soon as the evaluation reaches the task's published threshold
    #[arg(long)]
    pub until_solved: bool,
    /// What trains: auto (what turns out to be faster, once the run has lasted two seconds), cpu or gpu; of backgammon's learners the strong one trains on the processor alone
    #[arg(long, default_value = "auto", value_parser = device, value_name = "DEVICE")]
    pub device: DeviceWish,
    /// Where the checkpoint goes
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// The file that `hothouse watch` looks at while the run goes on and afterwards [default: one in the user's cache]
    #[arg(long, value_name = "FILE")]
    pub monitor: Option<PathBuf>,
    /// Also write every event to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Also write metrics as a table, one row an iteration; a resumed run goes on where its rows end
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Also write metrics as an event file for TensorBoard into this folder
    #[arg(long, value_name = "DIR")]
    pub tensorboard: Option<PathBuf>,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct SolveArgs {
    /// An environment to solve; repeat for more [default: all]
    #[arg(long, value_name = "NAME")]
    pub env: Vec<String>,
    /// Runs of each, with the seeds 1 to N
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000), allow_negative_numbers = true, value_name = "N")]
    pub seeds: u32,
    /// Environment steps after which a run counts as not solved
    #[arg(long, default_value = "20_000_000", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    pub steps: u64,
    /// Print one JSON object a line: each seed, and each environment when its seeds are done
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct SweepArgs {
    /// A knob to vary: FROM..TO, FROM..TO:log, or a list A,B,C. Repeat it for a grid of several knobs
    #[arg(long = "knob", value_name = "KNOB=VALUES", value_parser = crate::sweep::axis)]
    pub knobs: Vec<crate::sweep::Axis>,
    /// Points of a range, its two ends among them
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000), allow_negative_numbers = true, value_name = "N")]
    pub points: u32,
    /// Runs of every setting, with the seeds 1 to N. The same command with more seeds adds to what there is
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000), allow_negative_numbers = true, value_name = "N")]
    pub seeds: u32,
    /// The environment to train in
    #[arg(long, default_value = "CartPole-v1", value_name = "NAME")]
    pub env: String,
    /// Set a knob for all runs, as in --set lr=0.003; repeat for more
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = assignment)]
    pub set: Vec<(String, f64)>,
    /// End each run after this many environment steps [default: 1e6, unless --seconds is given]
    #[arg(long, value_parser = count, allow_negative_numbers = true, value_name = "N")]
    pub steps: Option<u64>,
    /// End each run after this many seconds; its results then depend on the machine
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub seconds: Option<f64>,
    /// End each run as soon as the evaluation reaches the task's published threshold
    #[arg(long)]
    pub until_solved: bool,
    /// Where finished runs are kept, one JSON object a line [default: sweep-ROOM-ENV-HASH.jsonl]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print finished runs as JSON, one object a line; the last one sums up
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// Print events as JSON, one object a line; the last one sums up the run
    #[arg(long, conflicts_with = "plain")]
    pub json: bool,
    /// Print plain lines, also in a terminal
    #[arg(long)]
    pub plain: bool,
}

#[derive(Clone, Debug, Args)]
pub struct MachineArgs {
    /// Threads to use; all processors by default
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true, value_name = "N")]
    pub threads: Option<u32>,
    /// Instruction set to use; the best one by default
    #[arg(long, value_name = "NAME")]
    pub isa: Option<String>,
}

/// A number as people write it: `2000000`, `2_000_000`, `2e6`, `2.5e6`.
pub fn number(text: &str) -> Result<f64, String> {
    let grouped = text.split('_').all(|part| !part.is_empty());
    let digits = text.replace('_', "");
    match digits.parse::<f64>() {
        Ok(value) if grouped && value.is_finite() => Ok(value),
        _ => Err("write a number, as in 2e6 or 2_000_000".into()),
    }
}

fn count(text: &str) -> Result<u64, String> {
    // Beyond 2^53 not every whole number is an f64.
    match number(text)? {
        value if value >= 1.0 && value <= (1u64 << 53) as f64 && value.fract() == 0.0 => Ok(value as u64),
        _ => Err("write a whole number from 1, as in 2e6 or 2_000_000".into()),
    }
}

fn episodes(text: &str) -> Result<u32, String> {
    match count(text)? {
        value @ 1..=1_000_000 => Ok(value as u32),
        _ => Err("write a whole number from 1 to 1_000_000".into()),
    }
}

fn evals(text: &str) -> Result<u32, String> {
    match count(text)? {
        value @ 1..=1_000_000 => Ok(value as u32),
        _ => Err("write a whole number from 1 to 1_000_000".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match number(text)? {
        value if value > 0.0 => Ok(value),
        _ => Err("write seconds above 0, as in 90 or 0.5".into()),
    }
}

fn device(text: &str) -> Result<DeviceWish, String> {
    match text {
        "auto" => Ok(DeviceWish::Auto),
        "cpu" => Ok(DeviceWish::Cpu),
        "gpu" => Ok(DeviceWish::Gpu),
        _ => Err("choose auto, cpu or gpu".into()),
    }
}

fn assignment(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("write it as KNOB=VALUE, as in lr=0.003")?;
    Ok((name.to_string(), self::value(value)?))
}

/// What a knob can be set to.
pub fn value(text: &str) -> Result<f64, String> {
    match text {
        "true" | "on" | "yes" => Ok(1.0),
        "false" | "off" | "no" => Ok(0.0),
        _ => number(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(count("2e6"), Ok(2_000_000));
        assert_eq!(count("1_000_000"), Ok(1_000_000));
        assert_eq!(count("2.5e3"), Ok(2500));
        for bad in ["", "0", "-1", "1.5", "1e99", "nan", "inf", "_1", "1__0", "1_", "ten"] {
            assert!(count(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds("0.5"), Ok(0.5));
        assert!(seconds("0").is_err() && seconds("-3").is_err());
        assert_eq!(assignment("lr=3e-3"), Ok(("lr".into(), 0.003)));
        assert_eq!(assignment("clip_value=on"), Ok(("clip_value".into(), 1.0)));
        assert!(assignment("lr").is_err() && assignment("lr=").is_err() && assignment("lr=fast").is_err());
        assert!(episodes("1e7").is_err());
    }
}
