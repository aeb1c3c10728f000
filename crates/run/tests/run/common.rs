//! Shared helpers: small configs of every room, functions that advance a run, and checkpoints as separate parts.

use math::Isa;
use run::protocol::{Column, Command, Config, Confirmation, Event, Knobs, Mark, Progress, Row, Value};
use run::{AnyRoom, AnyRun, Host, RunError, config_of};
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
pub use testkit::apart;

pub fn host() -> Host {
    Host::new(Isa::best())
}

/// Returns true if runs can compute products in the given precision here.
pub fn has(isa: Isa) -> bool {
    Isa::best() == Isa::Avx512 && isa.is_available()
}

/// Returns every room, including the test room `bandit`.
pub fn rooms() -> Vec<&'static dyn AnyRoom> {
    static ADDED: Once = Once::new();
    ADDED.call_once(crate::bandit::add);
    run::rooms()
}

pub fn room(id: &str) -> &'static dyn AnyRoom {
    rooms().into_iter().find(|room| room.schema().id == id).unwrap()
}

/// Parses knobs in the form that `--set` takes: `lr=0.001 hidden=32-16`.
pub fn written(text: &str) -> Knobs {
    let knob = |text: &str| {
        let (name, value) = text.split_once('=').unwrap();
        (name.to_string(), value.parse().map_or_else(|_| value.into(), Value::Number))
    };
    text.split_whitespace().map(knob).collect()
}

/// Returns the config with the given knobs set. `knobs` has the form that [`written`] parses.
pub fn with(mut config: Config, knobs: &str) -> Config {
    config.knobs.extend(written(knobs));
    config
}

/// Returns the config with one text knob set. The text may contain blanks.
pub fn with_text(mut config: Config, knob: &str, text: &str) -> Config {
    config.knobs.insert(knob.into(), text.into());
    config
}

/// Returns knobs with which training is quick but still needs several slices per iteration.
fn quick(room: &str, variant: &str) -> &'static str {
    match (room, variant) {
        ("control", _) => "envs=256 rollout_steps=16 hidden=32 minibatches=4",
        (_, "strong") => "hidden=16 games=24 batch=128",
        (_, "published") => "tables=2 games=4 batch=16 evals=8 round_batches=40 minibatch=32 replay=1024 generation_rounds=2 duel_pairs=2",
        ("cube", variant) if variant.contains("dqn") => {
            "hidden=32-16 batch=16 updates=8 replay=512 warmup=64 envs=8 window=10 target_every=10"
        }
        ("cube", _) => "hidden=32-16 batch=64 walk=8 updates=4",
        ("logic", "life" | "rule") => "population=2 batch=2 updates=2",
        ("logic", _) => "population=2 batch=1 updates=2 steps=6",
        ("words", _) => "width=32 layers=2 heads=2 context=16 batch=4 micro=2 steps=2 warmup=2 characters=20000 vocab=300 sample=8",
        _ => "",
    }
}

pub fn small(room: &str, variant: &str, seed: u32) -> Config {
    let knobs = written(quick(room, variant));
    Config { variant: variant.into(), seed, knobs, ..config_of(self::room(room)) }
}

/// Returns a small config for each variant of each room.
pub fn every(seed: u32) -> Vec<(&'static dyn AnyRoom, Config)> {
    let of = |room: &'static dyn AnyRoom| {
        let id = room.schema().id;
        room.variants().into_iter().map(move |variant| (room, small(id, &variant.id, seed)))
    };
    rooms().into_iter().flat_map(of).collect()
}

/// Returns a small config for the first variant of each learner. The names of the live knobs identify the learner.
pub fn first_of_each_learner(seed: u32) -> Vec<(&'static dyn AnyRoom, Config)> {
    let mut seen = BTreeSet::new();
    let mut is_new = |(room, config): &(&'static dyn AnyRoom, Config)| {
        let live: Vec<_> = room.knobs(&config.variant).iter().filter(|knob| knob.live).map(|knob| knob.name).collect();
        seen.insert((room.schema().id, live))
    };
    every(seed).into_iter().filter(|one| is_new(one)).collect()
}

/// Returns a small config for each variant of each room in `npm test -- --all`, and for the first variant of each learner otherwise. Tests
/// of requirements that the run or the learner meets use these configs, because variants of one learner show the same faults.
pub fn each_learner(seed: u32) -> Vec<(&'static dyn AnyRoom, Config)> {
    if testkit::all() { every(seed) } else { first_of_each_learner(seed) }
}

/// Returns a small config for the first variant of each room.
pub fn first(seed: u32) -> Vec<(&'static dyn AnyRoom, Config)> {
    let of = |room: &'static dyn AnyRoom| (room, small(room.schema().id, &room.variants()[0].id, seed));
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

/// Starts a run and trains it for `iterations` iterations.
pub fn trained(config: &Config, iterations: u32) -> Box<dyn AnyRun> {
    let mut run = start(config);
    train(&mut *run, iterations);
    run
}

/// Advances the run until its learner exists.
pub fn prepare(run: &mut dyn AnyRun) {
    while run.is_preparing() {
        assert!(run.advance(0.0));
    }
}

/// Returns the error of a run that cannot begin. Fails if the run begins.
#[track_caller]
pub fn begin_error(config: &Config) -> RunError {
    run::begin(config.clone(), host()).err().expect("the run began")
}

/// Returns the command with which the page restores a file.
pub fn restored(bytes: Vec<u8>) -> Command {
    Command::Restore { bytes, data: None, follow: false }
}

/// Returns the time of a clock that advances by 1/1024 s in each call.
pub fn ticks() -> f64 {
    static TICKS: AtomicU64 = AtomicU64::new(0);
    TICKS.fetch_add(1, Relaxed) as f64 / 1024.0
}

/// Restores a saved run and starts it.
pub fn resume(bytes: &[u8]) -> Box<dyn AnyRun> {
    let mut run = run::restore(bytes, host()).unwrap();
    run.command(Command::Start).unwrap();
    run
}

/// Advances the run until `holds` returns true for the run.
pub fn work(run: &mut dyn AnyRun, holds: impl Fn(&dyn AnyRun) -> bool) {
    let mut now_s = 0.0;
    while !holds(run) {
        now_s += 0.001;
        assert!(run.advance(now_s));
    }
}

/// Advances the run until it has completed `iterations` iterations in total. A test may still be in progress.
pub fn train(run: &mut dyn AnyRun, iterations: u32) {
    work(run, |run| run.progress().iteration >= iterations);
}

/// Advances the run to the first boundary at which the room's first counter is at least `budget`.
pub fn train_for(run: &mut dyn AnyRun, budget: f64) {
    work(run, |run| run.progress().counts[0] >= budget && run.at_boundary());
}

/// Returns the ids of a room's variants.
pub fn variants(id: &str) -> Vec<String> {
    room(id).variants().iter().map(|variant| variant.id.to_string()).collect()
}

/// Returns the room's events since the previous call.
pub fn room_events(run: &mut dyn AnyRun) -> Vec<Json> {
    let event = |event| if let Event::Room { event, .. } = event { Some(event) } else { None };
    run.events().into_iter().filter_map(event).collect()
}

/// Advances the run until `holds` returns true for the events since the beginning of this call. Returns these events.
pub fn until(run: &mut dyn AnyRun, holds: impl Fn(&Events) -> bool) -> Events {
    let (mut events, mut now_s) = (Events(Vec::new()), 0.0);
    while !holds(&events) {
        now_s += 0.001;
        assert!(run.advance(now_s) && now_s < 2000.0);
        events.0.extend(run.events());
    }
    events
}

/// Advances the run as [`train`] does, pauses it, and then advances it until a test in progress has ended.
pub fn settle(run: &mut dyn AnyRun, iterations: u32) {
    train(run, iterations);
    run.command(Command::Pause).unwrap();
    while run.advance(0.0) {}
    assert_eq!(run.progress().iteration, iterations);
}

/// Saves the run by a command. Returns the bytes of the event `Saved`.
pub fn saved(run: &mut dyn AnyRun) -> Vec<u8> {
    run.command(Command::Save).unwrap();
    let mut now_s = 0.0;
    loop {
        if let Some(bytes) = Events::drain(run).saved() {
            return bytes;
        }
        now_s += 0.001;
        assert!(run.advance(now_s), "the run stopped before it was saved");
    }
}

pub fn ask<T: DeserializeOwned>(run: &mut dyn AnyRun, question: Json) -> Result<T, RunError> {
    let answer = run.ask(question)?;
    Ok(serde_json::from_value(serde_json::to_value(&answer).unwrap()).unwrap())
}

/// Asks a question and returns the answer as JSON.
#[track_caller]
pub fn value(run: &mut dyn AnyRun, question: Json) -> Json {
    ask(run, question).unwrap()
}

/// Asks a question that fails, and returns the text of the error.
#[track_caller]
pub fn ask_error(run: &mut dyn AnyRun, question: Json) -> String {
    clear(&ask::<Json>(run, question).unwrap_err())
}

/// Events that a run has emitted, in order.
pub struct Events(pub Vec<Event>);

impl Events {
    pub fn drain(run: &mut dyn AnyRun) -> Events {
        Events(run.events())
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

    /// Returns the bytes of the first saved file; `None` if there was no save.
    pub fn saved(self) -> Option<Vec<u8>> {
        self.0.into_iter().find_map(|event| if let Event::Saved { bytes } = event { Some(bytes) } else { None })
    }

    pub fn tests(&self) -> Vec<&Row> {
        self.0.iter().filter_map(|e| if let Event::Test(row) = e { Some(row) } else { None }).collect()
    }

    pub fn metrics(&self) -> Vec<&Row> {
        self.0.iter().filter_map(|e| if let Event::Metrics(row) = e { Some(row) } else { None }).collect()
    }

    pub fn confirmations(&self) -> Vec<&Confirmation> {
        self.0.iter().filter_map(|e| if let Event::Confirmation(one) = e { Some(one) } else { None }).collect()
    }

    pub fn is_solved(&self) -> bool {
        self.0.iter().any(|event| matches!(event, Event::Solved { .. }))
    }

    /// Returns the level, the text and the next step of each notice.
    pub fn notices(&self) -> Vec<(run::protocol::Level, &str, &str)> {
        let mut all = Vec::new();
        for event in &self.0 {
            if let Event::Notice { level, text, next_step } = event {
                all.push((*level, &**text, &**next_step));
            }
        }
        all
    }
}

/// Returns the progress without the training time, which differs between equal runs.
pub fn timeless(progress: &Progress) -> Progress {
    Progress { train_s: 0.0, ..progress.clone() }
}

pub fn timeless_row(row: &Row) -> Row {
    Row { progress: timeless(&row.progress), values: row.values.clone() }
}

/// Returns the values of a row in the columns that are not rates. Rates depend on the time.
pub fn unrated(columns: &[Column], row: &Row) -> Vec<Option<f64>> {
    let values = columns.iter().zip(&row.values).filter(|(column, _)| column.rate.is_none());
    values.map(|(_, value)| *value).collect()
}

/// Begins a backgammon session between a user and the current agent, and rolls the dice.
pub fn start_session(run: &mut dyn AnyRun) {
    let agent = json!({ "who": { "kind": "now" }, "evals": 1 });
    let setup = json!({ "seats": [null, agent], "length": 3, "cube": true, "seed": 1 });
    run.ask(json!({ "ask": "new_session", "setup": setup })).unwrap();
    run.ask(json!({ "ask": "act", "act": { "kind": "roll" } })).unwrap();
}

/// Asserts that an error has a description and a next step. Returns the text of the error.
#[track_caller]
pub fn clear(error: &RunError) -> String {
    let text = error.to_string();
    assert!(error.what().len() > 15, "{text}");
    assert!(!error.next_step().is_empty() || matches!(error, RunError::Below(_)), "{text}");
    text
}
