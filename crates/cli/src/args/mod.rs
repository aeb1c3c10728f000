//! The grammar of the command line, one for every room. It refuses to do anything: it turns words
//! into plain data, or into an error that says what would do.

mod data;
pub mod values;

use clap::{Args, Parser, Subcommand};
use run::axis::{Axis, axis};
use run::protocol::DeviceWish;
use std::path::PathBuf;
use values::{assignment, change, count, device, seconds, up_to_a_million};

pub const EXAMPLES: &str = "\
Examples:
  hothouse                                   train CartPole and watch it learn (q saves and quits)
  hothouse --seed 7 --until-solved           stop as soon as the task is solved
  hothouse resume run.safetensors --steps 4e6
  hothouse resume                            choose from the runs that saved themselves; in a script, the newest
  hothouse eval run.safetensors              test a saved agent
  hothouse train --seconds 10 --json         one JSON object a line, the last one sums up
  hothouse watch                             in a second terminal: the newest run, live; --list names all
  hothouse train --events run.jsonl          every event as a line; hothouse watch run.jsonl reads it
  hothouse train --csv run.csv --tensorboard runs/one
  hothouse train --device gpu --set envs=65536 --set rollout_steps=32   the whole iteration on the GPU
  hothouse bench core --json";

pub const BUDGETS: &str = "\
A budget is any of --steps, --seconds, --cpu-seconds and --until-solved; training ends at the end of the iteration in
which the first of them is reached. Without one it goes on until you stop it: Ctrl-C ends the iteration, saves a
checkpoint and prints the command that continues it; a second Ctrl-C quits at once. Every 30 seconds (--save-every), and
when it ends, a run saves itself: where --save says, or else in the user's cache, where the newest 20 stay.

Exit status: 0 done (also when stopped and saved), 1 failed, 2 the command line is wrong.";

#[derive(Debug, Parser)]
#[command(
    name = "hothouse",
    version,
    about = "Reinforcement learning at the full speed of your machine, live in your terminal.",
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Verb>,
    #[command(flatten)]
    pub train: TrainArgs,
}

/// The verbs that every room has; a room's own are in its folder of `rooms`.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Train an agent (also what happens without a command)
    Train {
        /// The room to train in [default: the first]
        room: Option<String>,
        #[command(flatten)]
        args: TrainArgs,
    },
    /// Continue a saved run exactly where it stopped
    Resume {
        /// A checkpoint, saved here or in the page; the continued run is saved back to it, unless --save says otherwise
        /// [default: one of those that runs saved by themselves, asked for in a terminal, and else the newest]
        file: Option<PathBuf>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Test a saved agent on what does not train it
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Eval {
        #[command(flatten)]
        args: EvalArgs,
    },
    /// Tell what this machine has and this program can use: processor, instruction sets, threads, memory, GPU, rooms
    Info {
        /// Print it as one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        machine: MachineArgs,
    },
    /// Measure this machine
    Bench {
        /// What to measure: core (everything), gpu, or a room
        #[arg(default_value = "core")]
        suite: String,
        /// Also measure other people's software: pytorch, of the room words
        #[arg(long, value_name = "NAME")]
        versus: Option<String>,
        /// Say where the time of a training step goes instead, call by call: of core, or of the room words
        #[arg(long, conflicts_with = "versus")]
        profile: bool,
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
    /// Print what completes this command line in a shell, as in: hothouse completions bash >
    /// ~/.local/share/bash-completion/completions/hothouse
    Completions { shell: clap_complete::Shell },
    /// Train under many settings and seeds, as many runs at once as there are processors
    Sweep {
        /// The room to train in [default: the first]
        room: Option<String>,
        #[command(flatten)]
        args: SweepArgs,
    },
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// A checkpoint, saved here or in the page
    #[arg(required = true)]
    pub file: Option<PathBuf>,
    /// Episodes of the test, in rooms that have episodes [default: the room's]
    #[arg(long, value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    pub episodes: Option<u32>,
    /// Seed of those episodes [default: 1]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub seed: Option<u32>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct TrainArgs {
    /// Which of the room's environments, learners or presets [default: the room's first]
    #[arg(long, visible_aliases = ["env", "learner", "preset"], value_name = "NAME")]
    pub variant: Option<String>,
    /// Same seed, knobs and kind of arithmetic: the same run, whatever the number of threads [default: 1]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub seed: Option<u32>,
    /// Change a live knob once so many iterations are done, as in --at 320:lr=1e-4; repeat for more
    #[arg(long = "at", value_name = "N:KNOB=VALUE", value_parser = change)]
    pub at: Vec<(u32, String, String)>,
    /// Begin the run that this file says, in TOML or JSON; flags beside it go before it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the whole run as such a file, and train nothing
    #[arg(long)]
    pub print_config: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What rooms that learn from data are given.
#[derive(Clone, Debug, Default, Args)]
pub struct DataArgs {
    /// Learn from this file or all texts of this folder, in a room that takes one; - is standard input. A run on more than 16 MB is
    /// resumed and tested with it again
    #[arg(long, visible_alias = "text", value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Read it in the tokens of this vocabulary, which `hothouse export words` wrote, instead of learning some from it
    #[arg(long, value_name = "FILE")]
    pub vocab: Option<PathBuf>,
}

/// What training and resuming have in common.
#[derive(Clone, Debug, Args)]
pub struct CommonArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Set a knob, as in --set lr=0.003; repeat for more (a resumed run takes the live ones). `hothouse train --help` lists them
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Stop when the run has come this far, its saved part included: in what the room counts first (environment steps, games), as in 2e6 or
    /// 2_000_000
    #[arg(long, visible_alias = "games", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    pub steps: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub seconds: Option<f64>,
    /// Stop after this many seconds of processor time, all threads together
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub cpu_seconds: Option<f64>,
    /// Stop as soon as the task is solved: a test reaches the variant's goal, and a second one on other draws confirms it
    #[arg(long)]
    pub until_solved: bool,
    /// What trains: auto (what turns out to be faster, once the run has lasted two seconds), cpu or gpu [default: auto]
    #[arg(long, value_parser = device, value_name = "DEVICE")]
    pub device: Option<DeviceWish>,
    /// Where the checkpoint goes [default: the user's cache]
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Seconds of training after which the run saves itself [default: 30]
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub save_every: Option<f64>,
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
pub struct SweepArgs {
    /// A knob to vary: FROM..TO, FROM..TO:log, or a list A,B,C. Repeat it for a grid of several knobs
    #[arg(long = "knob", value_name = "KNOB=VALUES", value_parser = axis)]
    pub knobs: Vec<Axis>,
    /// Points of a range, its two ends among them
    #[arg(
        long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000),
        allow_negative_numbers = true, value_name = "N",
    )]
    pub points: u32,
    /// Runs of every setting, with the seeds 1 to N. The same command with more seeds adds to what there is
    #[arg(
        long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000),
        allow_negative_numbers = true, value_name = "N",
    )]
    pub seeds: u32,
    /// Which of the room's environments, learners or presets [default: the room's first]
    #[arg(long, visible_aliases = ["env", "learner", "preset"], value_name = "NAME")]
    pub variant: Option<String>,
    /// Set a knob for all runs, as in --set lr=0.003; repeat for more
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// End each run after this many of what the room counts first: environment steps, games [default: what the variant declares, unless
    /// --seconds is given]
    #[arg(long, visible_alias = "games", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    pub steps: Option<u64>,
    /// End each run after this many seconds; its results then depend on the machine
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub seconds: Option<f64>,
    /// End each run as soon as it is solved: a test reaches the variant's goal and is confirmed
    #[arg(long)]
    pub until_solved: bool,
    /// Where finished runs are kept, one JSON object a line [default: sweep-ROOM-VARIANT-HASH.jsonl]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print finished runs as JSON, one object a line; the last one sums up
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
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
