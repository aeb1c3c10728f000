//! Command-line grammar that all rooms share. Parsing returns plain data, or an error that names the valid values.

pub mod data;
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
  hothouse resume                            choose a saved run from a list (in a script: the newest)
  hothouse eval run.safetensors              test a saved agent
  hothouse train --seconds 10 --json         print one JSON object per line; the last is the summary
  hothouse watch                             follow the newest run from a second terminal; --list shows all
  hothouse train --events run.jsonl          write every event as a line; hothouse watch run.jsonl reads it
  hothouse train --csv run.csv --tensorboard runs/one
  hothouse train --device gpu --set envs=65536 --set rollout_steps=32   run whole iterations on the GPU
  hothouse bench core --json";

pub const BUDGETS: &str = "\
Limits are --steps, --seconds, --cpu-seconds and --until-solved. Training ends with the iteration that reaches the first
of them. Without a limit it runs until Ctrl-C, which finishes the iteration, saves a checkpoint and prints the command
that resumes the run. A second Ctrl-C quits at once. A run also saves itself every 30 seconds (--save-every) and at its
end: to the file of --save, or else to the user's cache, which keeps the latest 20.

Exit status: 0 done (also when stopped and saved), 1 failed (also when a requested file is incomplete), 2 the command
line is wrong.";

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

/// Commands that all rooms share. The module `rooms` contains the commands of single rooms.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Train an agent (the default command)
    Train {
        /// Room to train in [default: the first]
        room: Option<String>,
        #[command(flatten)]
        args: TrainArgs,
    },
    /// Resume training from a checkpoint
    Resume {
        /// Checkpoint, saved here or in the page. The resumed run saves to this file unless --save names another file [default: choose from
        /// the saved runs; in a script, the latest]
        file: Option<PathBuf>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Test a saved agent
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Eval {
        #[command(flatten)]
        args: EvalArgs,
    },
    /// Train the runs of links or gallery entries again, and report whether the results are reproduced
    Verify {
        #[command(flatten)]
        args: VerifyArgs,
    },
    /// Show the CPU, instruction sets, threads, memory, GPU and rooms
    Info {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        machine: MachineArgs,
    },
    /// Measure this machine
    Bench {
        /// Suite to measure: core (all kernels), gpu, or a room
        #[arg(default_value = "core")]
        suite: String,
        /// Also measure other software: pytorch (only for the room words)
        #[arg(long, value_name = "NAME")]
        versus: Option<String>,
        /// Show the time of each operation in a training step instead of the speeds (only for core and the room words)
        #[arg(long, conflicts_with = "versus")]
        profile: bool,
        /// Print one JSON object {"name":…,"value":…,"unit":…} per line
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        machine: MachineArgs,
    },
    /// Follow a run from another terminal, or show a run that has ended
    Watch {
        /// File that a training process writes with --monitor or --events [default: the monitor of this user's latest run]
        file: Option<PathBuf>,
        /// List the runs that can be watched, latest first
        #[arg(long, conflicts_with_all = ["file", "plain"])]
        list: bool,
        #[command(flatten)]
        show: ShowArgs,
    },
    /// Print a shell completion script, as in: hothouse completions bash >
    /// ~/.local/share/bash-completion/completions/hothouse
    Completions { shell: clap_complete::Shell },
    /// Train with many settings and seeds, one run per CPU at a time
    Sweep {
        /// Room to train in [default: the first]
        room: Option<String>,
        #[command(flatten)]
        args: SweepArgs,
    },
}

#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Checkpoint, saved here or in the page
    #[arg(required = true)]
    pub file: Option<PathBuf>,
    /// Number of test episodes, in rooms that have episodes [default: depends on the room]
    #[arg(long, value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    pub episodes: Option<u32>,
    /// Seed of the test episodes [default: 1]
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

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Links with a digest, or files of the gallery
    #[arg(required = true, value_name = "LINK|FILE")]
    pub targets: Vec<String>,
    /// Seconds that each run may take. A run that clearly needs more time is not continued
    #[arg(long, default_value = "3600", value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub limit: f64,
    /// Print one JSON object per target
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct TrainArgs {
    /// Environment, learner or preset of the room [default: the first of the room]
    #[arg(long, visible_aliases = ["env", "learner", "preset"], value_name = "NAME")]
    pub variant: Option<String>,
    /// Seed; the same seed, knobs and arithmetic give the same run with any number of threads [default: 1]
    #[arg(long, allow_negative_numbers = true, value_name = "N")]
    pub seed: Option<u32>,
    /// Change a live knob (one that can change during a run) after N iterations, as in --at 320:lr=1e-4; repeat for more
    #[arg(long = "at", value_name = "N:KNOB=VALUE", value_parser = change)]
    pub at: Vec<(u32, String, String)>,
    /// Read the run's settings from this TOML or JSON file; flags take precedence over it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print all settings of the run as a config file, without training
    #[arg(long)]
    pub print_config: bool,
    /// Write an entry of the gallery to this file at the end of the run
    #[arg(long, value_name = "FILE")]
    pub entry: Option<PathBuf>,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// User data of rooms that learn from data.
#[derive(Clone, Debug, Default, Args)]
pub struct DataArgs {
    /// Learn from this file or all texts of this folder, or in the environment of this Python file; - is standard input. Data over 16 MB is
    /// not saved: name the file again to resume or test
    #[arg(long, visible_aliases = ["text", "world"], value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Use the vocabulary in this file, written by `hothouse export words`, instead of learning a vocabulary from the data
    #[arg(long, value_name = "FILE")]
    pub vocab: Option<PathBuf>,
}

/// Arguments that `train` and `resume` share.
#[derive(Clone, Debug, Args)]
pub struct CommonArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Set a knob, as in --set lr=0.003; repeat for more (a resumed run accepts live knobs only). `hothouse train --help` lists them
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// Stop at this total of the room's first counter (environment steps, games), earlier sessions included, as in 2e6 or 2_000_000
    #[arg(long, visible_alias = "games", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    pub steps: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub seconds: Option<f64>,
    /// Stop after this many seconds of CPU time, summed over all threads
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub cpu_seconds: Option<f64>,
    /// Stop as soon as the task is solved: a test reaches the variant's goal, and a second test with other seeds confirms it
    #[arg(long)]
    pub until_solved: bool,
    /// Device: auto (the faster device, chosen after two seconds of training), cpu or gpu [default: auto]
    #[arg(long, value_parser = device, value_name = "DEVICE")]
    pub device: Option<DeviceWish>,
    /// Checkpoint file to write [default: a file in the user's cache]
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Seconds of training between two automatic saves [default: 30]
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub save_every: Option<f64>,
    /// File for `hothouse watch`, during the run and afterwards [default: a file in the user's cache]
    #[arg(long, value_name = "FILE")]
    pub monitor: Option<PathBuf>,
    /// Also write every event to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Also write metrics to this CSV file, one row per iteration; a resumed run appends its rows
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Also write metrics to a TensorBoard event file in this folder
    #[arg(long, value_name = "DIR")]
    pub tensorboard: Option<PathBuf>,
    #[command(flatten)]
    pub show: ShowArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct SweepArgs {
    /// Vary a knob: FROM..TO, FROM..TO:log, or a list A,B,C. Repeat the flag for a grid of several knobs
    #[arg(long = "knob", value_name = "KNOB=VALUES", value_parser = axis)]
    pub knobs: Vec<Axis>,
    /// Number of points in a range, both ends included
    #[arg(
        long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=1000),
        allow_negative_numbers = true, value_name = "N",
    )]
    pub points: u32,
    /// Number of runs per setting, with seeds 1 to N. Repeat the command with a larger N to add runs
    #[arg(
        long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000),
        allow_negative_numbers = true, value_name = "N",
    )]
    pub seeds: u32,
    /// Environment, learner or preset of the room [default: the first of the room]
    #[arg(long, visible_aliases = ["env", "learner", "preset"], value_name = "NAME")]
    pub variant: Option<String>,
    /// Set a knob for all runs, as in --set lr=0.003; repeat for more
    #[arg(long = "set", value_name = "KNOB=VALUE", value_parser = assignment)]
    pub set: Vec<(String, String)>,
    /// End each run at this total of the room's first counter (environment steps, games) [default: a total that the variant declares,
    /// unless --seconds is given]
    #[arg(long, visible_alias = "games", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    pub steps: Option<u64>,
    /// End each run after this many seconds. Its test may take as long again. The results then depend on the speed of the machine
    #[arg(long, value_parser = seconds, allow_negative_numbers = true, value_name = "S")]
    pub seconds: Option<f64>,
    /// End each run as soon as it is solved: a test reaches the variant's goal, and a second test with other seeds confirms it
    #[arg(long)]
    pub until_solved: bool,
    /// File for finished runs, one JSON object per line [default: sweep-ROOM-VARIANT-HASH.jsonl]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print finished runs as JSON, one object per line; the last line is the summary
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub machine: MachineArgs,
}

#[derive(Clone, Debug, Args)]
pub struct ShowArgs {
    /// Print events as JSON, one object per line; the last line is the summary
    #[arg(long, conflicts_with = "plain")]
    pub json: bool,
    /// Print plain lines, also in a terminal
    #[arg(long)]
    pub plain: bool,
}

#[derive(Clone, Debug, Args)]
pub struct MachineArgs {
    /// Number of threads [default: one per CPU]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true, value_name = "N")]
    pub threads: Option<u32>,
    /// Instruction set [default: the fastest available]
    #[arg(long, value_name = "NAME")]
    pub isa: Option<String>,
}
