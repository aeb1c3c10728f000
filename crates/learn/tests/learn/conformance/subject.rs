//! Test interface of learners, in addition to [`Learner`]: construction, restoring, settings and exceptions.

use crate::cube::QUARTER;
use graph::{Adam, Plan};
use learn::backgammon::published::LocalAccelerator;
use learn::backgammon::published::accelerator::{
    Accelerator, Answer, DECISION_WORDS, OffloadSpec, PackedSample, TrainResult as RoundResult,
};
use learn::backgammon::{Published, PublishedConfig, Strong, StrongConfig};
use learn::control::{Ppo, PpoConfig};
use learn::cube::{Cube, Dqn, DqnConfig, Supervised, SupervisedConfig};
use learn::logic::experiment::Config as LogicConfig;
use learn::logic::offload::{Accelerator as Members, Local as PopulationHere, OffloadSpec as PopulationSpec, Trained};
use learn::logic::population::Population;
use learn::logic::train::{Optimiser, Trainer};
use learn::offload::{Local, PlanTrainer, TrainResult, TrainStateRef, request, serve};
use learn::settings::Settings;
use learn::words::{Config as WordsConfig, Pretrainer};
use learn::{Data, Fault, Find, Iteration, Learner, Machine, Parts, Progress, Slice, part};
use math::Isa;
use std::any::Any;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock};
use worlds::cube::Distances;
use worlds::words::{Corpus, Grammar, TokenizerSpec};

pub const SEED: u32 = 7;

/// Kinds of damage to an array of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damage {
    LeftOut,
    Cut,
    Lengthened,
    OtherType,
    /// One value of the array is NaN.
    NoNumber,
}

pub trait Subject: Learner + Sized {
    type Config: Settings + PartialEq + Debug + Sync;
    /// Data that the constructor needs in addition to the settings.
    type World: Copy + Sync;

    fn begin(world: Self::World, config: Self::Config, seed: u32, isa: Isa) -> Result<Self, String>;
    fn restore(world: Self::World, config: Self::Config, isa: Isa, find: &Find) -> Result<Self, String>;
    fn config(&self) -> &Self::Config;

    /// Returns a machine that performs the learner's offloaded work on the CPU, or the reason why no such machine exists.
    fn machine(config: &Self::Config) -> Result<Box<dyn Machine>, &'static str>;

    /// Returns the reason why restoring may accept the array `_part` with this damage, or `None` if restoring must reject the array.
    fn tolerates(_part: &str, _damage: Damage) -> Option<&'static str> {
        None
    }
}

/// Implements [`Subject`] for a learner. The last two pairs of brackets contain the constructor's arguments before the settings and after
/// the settings. The last two arguments are the functions that `Subject::machine` and `Subject::tolerates` call.
macro_rules! subject {
    (
        $learner:ty [$($generic:ident)?], $config:ty, $world:ident: $of:ty, [$($before:expr)?] [$($after:expr)?],
        $machine:expr, $tolerates:expr
    ) => {
        impl$(<$generic: Cube>)? Subject for $learner {
            type Config = $config;
            type World = $of;

            fn begin($world: $of, config: $config, seed: u32, isa: Isa) -> Result<Self, String> {
                let _ = $world;
                <$learner>::new($($before,)? config, $($after,)? seed, isa).map_err(|error| error.to_string())
            }

            fn restore($world: $of, config: $config, isa: Isa, find: &Find) -> Result<Self, String> {
                let _ = $world;
                <$learner>::restore($($before,)? config, $($after,)? SEED, isa, find).map_err(|error| error.to_string())
            }

            fn config(&self) -> &$config {
                <$learner>::config(self)
            }

            fn machine(config: &$config) -> Result<Box<dyn Machine>, &'static str> {
                let machine: fn(&$config) -> Result<Box<dyn Machine>, &'static str> = $machine;
                machine(config)
            }

            fn tolerates(part: &str, damage: Damage) -> Option<&'static str> {
                let tolerates: fn(&str, Damage) -> Option<&'static str> = $tolerates;
                tolerates(part, damage)
            }
        }
    };
}

const ALONE: &str = "it trains on the CPU only";
const PLAYS: &str = "it also plays on the machine, which only a GPU supports";

subject!(Ppo [], PpoConfig, kind: &'static worlds::control::Kind, [kind] [], |_| Err(PLAYS), tolerates_nothing);
subject!(Supervised<P> [P], SupervisedConfig, world: (), [] [exact::<P>()], |_| Ok(Box::new(Local)), may_lack_iteration);
subject!(Dqn<P> [P], DqnConfig, world: (), [] [exact::<P>()], |_| Err(ALONE), may_lack_iteration);
subject!(Strong [], StrongConfig, world: (), [] [], |_| Err(ALONE), tolerates_nothing);
subject!(Published [], PublishedConfig, world: (), [] [], |_| Ok(Box::new(PublishedHere)), tolerates_nothing);
subject!(Population [], LogicConfig, world: (), [] [], population_here, may_lack_members);
subject!(Pretrainer [], WordsConfig, world: (), [] [&TEXT.0], words_here, may_lack_iteration);

fn tolerates_nothing(_: &str, _: Damage) -> Option<&'static str> {
    None
}

fn may_lack_iteration(part: &str, damage: Damage) -> Option<&'static str> {
    (part == "iteration" && damage == Damage::LeftOut).then_some("between two iterations there is nothing to save")
}

fn may_lack_members(part: &str, damage: Damage) -> Option<&'static str> {
    match damage {
        Damage::LeftOut if part == "iteration.left" => Some("between two iterations there is nothing to save"),
        Damage::Cut | Damage::Lengthened if part.ends_with(".missed") => Some("any set of states is valid"),
        _ => None,
    }
}

fn population_here(_: &LogicConfig) -> Result<Box<dyn Machine>, &'static str> {
    Ok(Box::new(PopulationHere(Isa::best())))
}

fn words_here(config: &WordsConfig) -> Result<Box<dyn Machine>, &'static str> {
    if config.micro < config.batch { Err("it computes the whole batch at once, so sums differ") } else { Ok(Box::new(Local)) }
}

/// Returns the table of exact distances, or `None` if the cube has no table of all states.
fn exact<P: Cube>() -> Option<Arc<Distances>> {
    P::EXACT.then(|| QUARTER.clone())
}

/// A text in windows of 32 tokens, and its vocabulary size.
pub static TEXT: LazyLock<(Arc<Corpus>, usize)> = LazyLock::new(|| {
    let text = Grammar::new().text(1, 20_000);
    let (corpus, tokenizer) = Corpus::new(text.as_bytes(), TokenizerSpec::Chars, 32).expect("a text");
    (Arc::new(corpus), tokenizer.vocab())
});

struct PublishedHere;

impl Machine for PublishedHere {
    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(request, |spec: &OffloadSpec| Ok(Box::new(LocalAccelerator::new(spec)?) as Box<dyn Accelerator>))
    }
}

/// A machine whose workers fail after the given number of calls. The calls of each worker are counted separately.
pub struct Failing(pub Box<dyn Machine>, pub u32);

struct Worker<W: ?Sized>(Box<W>, u32);

macro_rules! fail_after_calls {
    ($trait:ident: $($method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl $trait for Worker<dyn $trait> {
            $(fn $method(&mut self, $($argument: $type),*) -> Result<$result, Fault> {
                self.1 = self.1.checked_sub(1).ok_or(Fault::Lost { why: "failure in a test".into() })?;
                self.0.$method($($argument),*)
            })*
        }
    };
}

fail_after_calls! { PlanTrainer:
    set_state(state: &TrainStateRef) -> ();
    set_input(name: &str, values: &[f32]) -> ();
    accumulate() -> ();
    update(adam: &Adam) -> ();
    ask() -> ();
    request_outputs() -> ();
    poll(result: &mut TrainResult) -> bool;
}

fail_after_calls! { Members:
    set_member(member: usize, trainer: &Trainer) -> ();
    step(optimiser: &Optimiser, learns: &[bool], starts: &[f32], targets: &[f32]) -> ();
    ask() -> ();
    poll(trained: &mut Trained) -> bool;
}

fail_after_calls! { Accelerator:
    set_weights(weights: &[f32]) -> ();
    ask(lane: usize, decisions: &[[u32; DECISION_WORDS]]) -> ();
    answer(lane: usize, answer: &mut Answer) -> bool;
    set_state(state: &TrainStateRef) -> ();
    store_samples(first: usize, packed_samples: &[PackedSample]) -> ();
    step(adam: &Adam, value_coef: f32, drawn: &[u32]) -> ();
    request_result() -> ();
    poll_result(learned: &mut RoundResult) -> bool;
}

impl Machine for Failing {
    fn trainer(&self, plan: &Arc<Plan>, state: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        Ok(Box::new(Worker(self.0.trainer(plan, state)?, self.1)))
    }

    fn special(&self, request_any: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        let population = |spec: &PopulationSpec| Ok(Box::new(Worker(request(&*self.0, spec)?, self.1)) as Box<dyn Members>);
        let published = |spec: &OffloadSpec| Ok(Box::new(Worker(request(&*self.0, spec)?, self.1)) as Box<dyn Accelerator>);
        serve(request_any, population).or_else(|| serve(request_any, published))
    }
}

/// Test case: a learner's settings and the data for its construction.
pub struct Case<S: Subject> {
    pub name: String,
    pub world: S::World,
    pub config: S::Config,
    /// Number of iterations after which all components of the learner are in use.
    pub warm: u64,
    /// Larger settings, so that several threads share a matrix product; `None` if `config` is large enough.
    pub wide: Option<S::Config>,
}

impl<S: Subject> Case<S> {
    pub fn begin(&self) -> S {
        S::begin(self.world, self.config.clone(), SEED, Isa::best()).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// Creates a learner and runs `warm` iterations.
    pub fn warmed(&self) -> S {
        let mut learner = self.begin();
        iterate(&mut learner, self.warm);
        learner
    }

    /// Restores the learner from `parts` with the settings `config`.
    pub fn restore(&self, config: &S::Config, parts: &Parts) -> Result<S, String> {
        S::restore(self.world, config.clone(), Isa::best(), &|name| part(parts, name))
    }
}

/// Runs `count` iterations. Returns the statistics of each iteration as a text, without times.
pub fn iterate<L: Learner>(learner: &mut L, count: u64) -> Vec<String> {
    let mut reported = Vec::new();
    while (reported.len() as u64) < count {
        match learner.advance() {
            Slice::Ended(stats) => reported.push(describe(stats)),
            Slice::Stopped(fault) => panic!("{fault}"),
            Slice::Worked | Slice::Waiting => {}
        }
    }
    reported
}

pub fn describe(stats: impl Into<Iteration>) -> String {
    let Iteration { metrics, failure, work, .. } = stats.into();
    format!("{metrics:?} {failure:?} {work:?}")
}

/// Returns the bit patterns of the values. Unlike values, bit patterns of NaN can be compared for equality.
fn bits(data: &Data) -> Vec<u64> {
    match data {
        Data::F32(values) => values.iter().map(|x| u64::from(x.to_bits())).collect(),
        Data::F64(values) => values.iter().map(|x| x.to_bits()).collect(),
        Data::U32(values) => values.iter().map(|&x| u64::from(x)).collect(),
        Data::U64(values) => values.clone(),
        Data::U8(values) => values.iter().map(|&x| u64::from(x)).collect(),
    }
}

#[track_caller]
pub fn same(one: &Parts, other: &Parts, what: &str) {
    assert_eq!(one.len(), other.len(), "{what}");
    for (one, other) in one.iter().zip(other) {
        assert!(one.0 == other.0 && one.1 == other.1, "{what}: {} and {}", one.0, other.0);
        assert!(bits(&one.2) == bits(&other.2), "{what}: {} differs", one.0);
    }
}

/// Asserts that both learners have the same state.
#[track_caller]
pub fn alike<L: Learner>(one: &L, other: &L, what: &str) {
    same(&one.parts(), &other.parts(), what);
    let count = |of: &L| (of.progress().iterations(), of.counts());
    assert_eq!(count(one), count(other), "{what}");
    assert!(one.weights() == other.weights(), "{what}: weights differ");
}
