//! What the tests share: every room with a config that is quick, a shell that drives a run, and checkpoints taken apart.

use math::Isa;
use run::protocol::{Command, Config, Event, Knobs, Mark, Progress, Row, Value};
use run::{AnyRoom, AnyRun, Host, RunError, config_of};
use serde::de::DeserializeOwned;
use std::sync::Once;
pub use testkit::{Apart, apart};

pub fn host() -> Host {
    Host::new(Isa::best())
}

/// Every room, and one that lives in the tests alone.
pub fn rooms() -> Vec<&'static dyn AnyRoom> {
    static ADDED: Once = Once::new();
    ADDED.call_once(crate::bandit::add);
    run::rooms()
}

pub fn room(id: &str) -> &'static dyn AnyRoom {
    rooms().into_iter().find(|room| room.schema().id == id).unwrap()
}

pub fn knobs(list: &[(&str, f64)]) -> Knobs {
    list.iter().map(|&(name, value)| (name.to_string(), value.into())).collect()
}

/// Small enough to be quick, large enough to be cut into several slices.
fn quick(room: &str, variant: &str) -> &'static [(&'static str, f64)] {
    match (room, variant) {
        ("control", _) => &[("envs", 256.0), ("rollout_steps", 16.0), ("hidden", 32.0), ("minibatches", 4.0)],
        (_, "strong") => &[("hidden", 16.0), ("games", 24.0), ("batch", 128.0)],
        (_, "published") => &[
            ("tables", 2.0),
            ("games", 4.0),
            ("batch", 16.0),
            ("evals", 8.0),
            ("round_batches", 40.0),
            ("minibatch", 32.0),
            ("replay", 1024.0),
            ("generation_rounds", 2.0),
            ("duel_pairs", 2.0),
        ],
        ("cube", variant) if variant.contains("dqn") => &[
            ("batch", 16.0),
            ("updates", 8.0),
            ("replay", 512.0),
            ("warmup", 64.0),
            ("envs", 8.0),
            ("window", 10.0),
            ("target_every", 10.0),
        ],
        ("logic", "life" | "rule") => &[("population", 2.0), ("batch", 2.0), ("updates", 2.0)],
        ("logic", _) => &[("population", 2.0), ("batch", 1.0), ("updates", 2.0), ("steps", 6.0)],
        ("cube", _) => &[("batch", 64.0), ("walk", 8.0), ("updates", 4.0)],
        ("words", _) => &[
            ("width", 32.0),
            ("layers", 2.0),
            ("heads", 2.0),
            ("context", 16.0),
            ("batch", 4.0),
            ("micro", 2.0),
            ("steps", 2.0),
            ("warmup", 2.0),
            ("characters", 20_000.0),
            ("vocab", 300.0),
            ("sample", 8.0),
        ],
        _ => &[],
    }
}

pub fn small(room: &str, variant: &str, seed: u32) -> Config {
    let mut knobs = knobs(quick(room, variant));
    if room == "cube" {
        knobs.insert("hidden".into(), "32-16".into());
    }
    Config { variant: variant.into(), seed, knobs, ..config_of(self::room(room)) }
}

/// A small run of each variant of each room.
pub fn every(seed: u32) -> Vec<(&'static dyn AnyRoom, Config)> {
    let of = |room: &'static dyn AnyRoom| {
        let id = room.schema().id;
        room.variants().into_iter().map(move |variant| (room, small(id, variant.id, seed)))
    };
    rooms().into_iter().flat_map(of).collect()
}

/// A small run of the first variant of each room.
pub fn first(seed: u32) -> Vec<(&'static dyn AnyRoom, Config)> {
    let of = |room: &'static dyn AnyRoom| (room, small(room.schema().id, room.variants()[0].id, seed));
    rooms().into_iter().map(of).collect()
}

pub fn set(name: &str, value: impl Into<Value>) -> Command {
    Command::SetKnob { name: name.into(), value: value.into() }
}

pub fn begin(config: &Config) -> Box<dyn AnyRun> {
    run::begin(config.clone(), host()).unwrap()
}

pub fn start(config: &Config) -> Box<dyn AnyRun> {
    let mut run = begin(config);
    run.command(Command::Start).unwrap();
    run
}

/// Restores what was saved, and starts it.
pub fn go_on(bytes: &[u8]) -> Box<dyn AnyRun> {
    let mut run = run::restore(bytes, host()).unwrap();
    run.command(Command::Start).unwrap();
    run
}

/// Works until so many iterations are done in all; whether a test of them is under way is left open.
pub fn train(run: &mut dyn AnyRun, iterations: u32) {
    let mut now_s = 0.0;
    while run.progress().iteration < iterations {
        now_s += 0.001;
        assert!(run.advance(now_s));
    }
}

/// The same to the end of a test that is under way then.
pub fn settle(run: &mut dyn AnyRun, iterations: u32) {
    train(run, iterations);
    run.command(Command::Pause).unwrap();
    while run.advance(0.0) {}
    assert_eq!(run.progress().iteration, iterations);
}

/// As a shell saves.
pub fn saved(run: &mut dyn AnyRun) -> Vec<u8> {
    run.command(Command::Save).unwrap();
    let mut now_s = 0.0;
    loop {
        for event in run.events() {
            if let Event::Saved { bytes } = event {
                return bytes;
            }
        }
        now_s += 0.001;
        assert!(run.advance(now_s), "a save in the middle of an iteration ends it");
    }
}

pub fn ask<T: DeserializeOwned>(run: &mut dyn AnyRun, question: serde_json::Value) -> Result<T, RunError> {
    let answer = run.ask(question)?;
    Ok(serde_json::from_value(serde_json::to_value(&answer).unwrap()).unwrap())
}

/// What was told since the last call.
pub struct Told(pub Vec<Event>);

impl Told {
    pub fn by(run: &mut dyn AnyRun) -> Told {
        Told(run.events())
    }

    pub fn began(&self) -> &run::protocol::Began {
        let began = self.0.iter().rev().find_map(|event| match event {
            Event::Began(began) => Some(&**began),
            _ => None,
        });
        began.expect("a run has begun")
    }

    pub fn marks(&self) -> Vec<&Mark> {
        self.0.iter().filter_map(|e| if let Event::Mark(mark) = e { Some(mark) } else { None }).collect()
    }

    pub fn tests(&self) -> Vec<&Row> {
        self.0.iter().filter_map(|e| if let Event::Test(row) = e { Some(row) } else { None }).collect()
    }

    pub fn metrics(&self) -> Vec<&Row> {
        self.0.iter().filter_map(|e| if let Event::Metrics(row) = e { Some(row) } else { None }).collect()
    }

    /// Level, text and next step of each notice.
    pub fn notices(&self) -> Vec<(run::protocol::Level, &str, &str)> {
        fn notice(event: &Event) -> Option<(run::protocol::Level, &str, &str)> {
            match event {
                Event::Notice { level, text, next_step } => Some((*level, text, next_step)),
                _ => None,
            }
        }
        self.0.iter().filter_map(notice).collect()
    }
}

/// Without the time, which no two runs share.
pub fn timeless(progress: &Progress) -> Progress {
    Progress { train_s: 0.0, ..progress.clone() }
}

pub fn timeless_row(row: &Row) -> Row {
    Row { progress: timeless(&row.progress), values: row.values.clone() }
}

/// What a refusal has to have: words for what is the matter, and a step that helps.
#[track_caller]
pub fn clear(error: &RunError) -> String {
    let text = error.to_string();
    assert!(error.what().len() > 15, "{text}");
    assert!(!error.next_step().is_empty() || matches!(error, RunError::Below(_)), "{text}");
    text
}
