//! What the suite asks of a learner beside [`Learner`]: how it is made, restored and set, and what does not apply to it.

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
use worlds::cube::{Distances, Metric};
use worlds::words::{Corpus, Grammar, Kind as TextKind};

pub const SEED: u32 = 7;

/// What can be the matter with a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Damage {
    LeftOut,
    Cut,
    Lengthened,
    OtherType,
    NoNumber,
}

pub trait Subject: Learner + Sized {
    type Config: Settings + PartialEq + Debug + Sync;
    /// What it needs beside its settings.
    type World: Copy + Sync;

    fn begin(world: Self::World, config: Self::Config, seed: u32, isa: Isa) -> Result<Self, String>;
    fn restore(world: Self::World, config: Self::Config, isa: Isa, find: &Find) -> Result<Self, String>;
    fn config(&self) -> &Self::Config;

    /// One that does its work on this processor, or why there is none.
    fn machine(config: &Self::Config) -> Result<Box<dyn Machine>, &'static str>;

    /// Why a part that is damaged so may not be refused.
    fn bears(_part: &str, _damage: Damage) -> Option<&'static str> {
        None
    }
}

/// A learner with its type parameter, what its constructors take before and behind the settings, its machine, and what it bears.
macro_rules! subject {
    (
        $learner:ty [$($generic:ident)?], $config:ty, $world:ident: $of:ty, [$($before:expr)?] [$($after:expr)?],
        $machine:expr, $bears:expr
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

            fn bears(part: &str, damage: Damage) -> Option<&'static str> {
                let bears: fn(&str, Damage) -> Option<&'static str> = $bears;
                bears(part, damage)
            }
        }
    };
}

const ALONE: &str = "it works on the processor alone";
const PLAYS: &str = "it plays there too, which a GPU alone does";

subject!(Ppo [], PpoConfig, kind: &'static worlds::control::Kind, [kind] [], |_| Err(PLAYS), all_matter);
subject!(Supervised<P> [P], SupervisedConfig, world: (), [] [exact::<P>()], |_| Ok(Box::new(Local)), has_iteration);
subject!(Dqn<P> [P], DqnConfig, world: (), [] [exact::<P>()], |_| Err(ALONE), has_iteration);
subject!(Strong [], StrongConfig, world: (), [] [], |_| Err(ALONE), all_matter);
subject!(Published [], PublishedConfig, world: (), [] [], |_| Ok(Box::new(PublishedHere)), all_matter);
subject!(Population [], LogicConfig, world: (), [] [], population_here, has_members);
subject!(Pretrainer [], WordsConfig, world: (), [] [&TEXT.0], words_here, has_iteration);

fn all_matter(_: &str, _: Damage) -> Option<&'static str> {
    None
}

fn has_iteration(part: &str, damage: Damage) -> Option<&'static str> {
    (part == "iteration" && damage == Damage::LeftOut).then_some("between two iterations nothing of one is saved")
}

fn has_members(part: &str, damage: Damage) -> Option<&'static str> {
    match damage {
        Damage::LeftOut if part == "iteration.left" => Some("between two iterations nothing of one is saved"),
        Damage::Cut | Damage::Lengthened if part.ends_with(".missed") => Some("any states may have been missed"),
        _ => None,
    }
}

fn population_here(_: &LogicConfig) -> Result<Box<dyn Machine>, &'static str> {
    Ok(Box::new(PopulationHere(Isa::best())))
}

fn words_here(config: &WordsConfig) -> Result<Box<dyn Machine>, &'static str> {
    if config.micro < config.batch { Err("it takes the whole batch at once, and sums differ") } else { Ok(Box::new(Local)) }
}

/// Distances of a cube that is small enough for a table.
fn exact<P: Cube>() -> Option<Arc<Distances>> {
    static EXACT: LazyLock<Arc<Distances>> = LazyLock::new(|| Arc::new(Distances::new(Metric::Quarter)));
    P::EXACT.then(|| EXACT.clone())
}

/// A text in windows of 32, and its letters.
pub static TEXT: LazyLock<(Arc<Corpus>, usize)> = LazyLock::new(|| {
    let text = Grammar::new().text(1, 20_000);
    let (corpus, tokenizer) = Corpus::new(text.as_bytes(), TextKind::Chars, 32).expect("a text");
    (Arc::new(corpus), tokenizer.vocab())
});

struct PublishedHere;

impl Machine for PublishedHere {
    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(request, |spec: &OffloadSpec| Ok(Box::new(LocalAccelerator::new(spec)?) as Box<dyn Accelerator>))
    }
}

/// A machine whose workers are lost after so many calls of each.
pub struct Failing(pub Box<dyn Machine>, pub u32);

struct Worker<W: ?Sized>(Box<W>, u32);

macro_rules! while_it_lives {
    ($trait:ident: $($method:ident($($given:ident: $type:ty),*) -> $answer:ty;)*) => {
        impl $trait for Worker<dyn $trait> {
            $(fn $method(&mut self, $($given: $type),*) -> Result<$answer, Fault> {
                self.1 = self.1.checked_sub(1).ok_or(Fault::Lost { why: "a test pulled its plug".into() })?;
                self.0.$method($($given),*)
            })*
        }
    };
}

while_it_lives! { PlanTrainer:
    set_state(state: &TrainStateRef) -> ();
    set_input(name: &str, values: &[f32]) -> ();
    accumulate() -> ();
    update(adam: &Adam) -> ();
    ask() -> ();
    ask_outputs() -> ();
    poll(result: &mut TrainResult) -> bool;
}

while_it_lives! { Members:
    set_member(member: usize, trainer: &Trainer) -> ();
    step(optimiser: &Optimiser, learns: &[bool], starts: &[f32], targets: &[f32]) -> ();
    ask() -> ();
    poll(trained: &mut Trained) -> bool;
}

while_it_lives! { Accelerator:
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
    fn trainer(&self, plan: &Arc<Plan>, standing: &TrainStateRef) -> Result<Box<dyn PlanTrainer>, Fault> {
        Ok(Box::new(Worker(self.0.trainer(plan, standing)?, self.1)))
    }

    fn special(&self, wanted: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        let population = |spec: &PopulationSpec| Ok(Box::new(Worker(request(&*self.0, spec)?, self.1)) as Box<dyn Members>);
        let published = |spec: &OffloadSpec| Ok(Box::new(Worker(request(&*self.0, spec)?, self.1)) as Box<dyn Accelerator>);
        serve(wanted, population).or_else(|| serve(wanted, published))
    }
}

/// A learner of some settings.
pub struct Case<S: Subject> {
    pub name: String,
    pub world: S::World,
    pub config: S::Config,
    /// Iterations after which all of it is in use.
    pub warm: u64,
    /// Settings with which threads share single products too, where these do not.
    pub wide: Option<S::Config>,
}

impl<S: Subject> Case<S> {
    pub fn begin(&self) -> S {
        S::begin(self.world, self.config.clone(), SEED, Isa::best()).unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }

    /// After its first iterations.
    pub fn warmed(&self) -> S {
        let mut learner = self.begin();
        iterate(&mut learner, self.warm);
        learner
    }

    /// With the settings of now.
    pub fn restore(&self, config: &S::Config, parts: &Parts) -> Result<S, String> {
        S::restore(self.world, config.clone(), Isa::best(), &|name| part(parts, name))
    }
}

/// The next iterations, with what they tell but for times.
pub fn iterate<L: Learner>(learner: &mut L, count: u64) -> Vec<String> {
    let mut told = Vec::new();
    while (told.len() as u64) < count {
        match learner.advance() {
            Slice::Ended(stats) => told.push(tell(stats)),
            Slice::Stopped(fault) => panic!("{fault}"),
            Slice::Worked | Slice::Waiting => {}
        }
    }
    told
}

pub fn tell(stats: impl Into<Iteration>) -> String {
    let Iteration { metrics, finite, work, .. } = stats.into();
    format!("{metrics:?} {finite} {work:?}")
}

/// Bits, since NaN differs from itself.
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

/// Both stand at the same place.
#[track_caller]
pub fn alike<L: Learner>(one: &L, other: &L, what: &str) {
    same(&one.parts(), &other.parts(), what);
    let count = |of: &L| (of.progress().iterations(), of.counts());
    assert_eq!(count(one), count(other), "{what}");
    assert!(one.weights() == other.weights(), "{what}: weights differ");
}
