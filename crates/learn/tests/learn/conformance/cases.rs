//! Cases for the learners of every room. The learners are small enough for a test, and use all their components.

use super::subject::{Case, TEXT};
use crate::{point, rooms};
use learn::backgammon::{Published, PublishedConfig, Strong, StrongConfig};
use learn::control::{Ppo, PpoConfig};
use learn::cube::dqn::Follow;
use learn::cube::dqn::curriculum::{CurriculumConfig, Schedule};
use learn::cube::{Cube, Dqn, DqnConfig, NetConfig, Preset, Signal, Steps, Supervised, SupervisedConfig};
use learn::logic::experiment::{Config as LogicConfig, Form, Preset as LogicPreset};
use learn::logic::population::Population;
use learn::words::{Config as WordsConfig, Mlp, Norm, Positions, Pretrainer, Shape};
use std::sync::Arc;
use worlds::control::Kind;
use worlds::cube::{Three, Two};

/// Calls the function `$property` with each case.
macro_rules! each_case {
    ($property:path) => {{
        $crate::conformance::cases::control().iter().for_each($property);
        $crate::conformance::cases::supervised::<worlds::cube::Two>(&learn::cube::Signal::ALL).iter().for_each($property);
        $crate::conformance::cases::supervised::<worlds::cube::Three>(&[learn::cube::Signal::WalkLength]).iter().for_each($property);
        $crate::conformance::cases::dqn_of_two().iter().for_each($property);
        $crate::conformance::cases::dqn_of_three().iter().for_each($property);
        $crate::conformance::cases::strong().iter().for_each($property);
        $crate::conformance::cases::published().iter().for_each($property);
        $crate::conformance::cases::population().iter().for_each($property);
        $crate::conformance::cases::words().iter().for_each($property);
    }};
}
pub(crate) use each_case;

/// Returns cases that together cover every kind of action, normalisation and loss. The environments of the last two cases exist only in
/// tests.
pub fn control() -> Vec<Case<Ppo>> {
    // 300 environments do not divide evenly into panels or actors. A rollout of 40 steps takes several slices.
    let small = PpoConfig { envs: 300, rollout_steps: 40, epochs: 2, minibatches: 3, hidden: 16, ..PpoConfig::default() };
    let normalized = PpoConfig { normalize_observation: true, normalize_reward: true, ..small.clone() };
    let ways = [
        ("CartPole-v1", small.clone()),
        ("Pendulum-v1", PpoConfig { squash: true, ..normalized.clone() }),
        ("MountainCarContinuous-v0", PpoConfig { spread: 0.5, target_kl: 0.003, clip_value: true, ..small.clone() }),
        ("Acrobot-v1", PpoConfig { shared: true, tanh: true, ..small }),
        ("LunarLander-v3", PpoConfig { tanh: true, clip_value: true, ..normalized.clone() }),
    ]
    .map(|(id, config)| (worlds::control::kind(id).expect(id), config));
    let leaked = |kind| -> &'static Kind { Box::leak(Box::new(kind)) };
    let own = [
        (leaked(point::kind()), PpoConfig { squash: true, clip_value: true, ..normalized.clone() }),
        (leaked(rooms::kind("Rooms-v0", &Arc::default(), None)), normalized),
    ];
    let case =
        |(kind, config): (&'static Kind, _)| Case { name: format!("PPO in {}", kind.spec.id), world: kind, config, warm: 2, wide: None };
    ways.into_iter().chain(own).map(case).collect()
}

pub fn supervised<P: Cube>(signals: &[Signal]) -> Vec<Case<Supervised<P>>> {
    let case = |&signal: &Signal| {
        let preset = SupervisedConfig::preset::<P>(signal);
        let of = |hidden: &[usize], batch| {
            let net = NetConfig { hidden: hidden.to_vec(), ..preset.net.clone() };
            SupervisedConfig { net, batch, steps: Steps { updates: 4, ..preset.steps }, ..preset.clone() }
        };
        Case {
            name: format!("walks on {0}x{0}x{0} by {1:?}", P::SIZE, signal),
            world: (),
            config: of(&[64, 32], 260),
            warm: 1,
            wide: (signal == Signal::WalkLength && P::EXACT).then(|| of(&[512, 256], 1000)),
        }
    };
    signals.iter().map(case).collect()
}

fn dqn<P: Cube>(preset: Preset, warm: u64, change: impl Fn(DqnConfig) -> DqnConfig) -> Case<Dqn<P>> {
    let known = DqnConfig::preset(preset);
    let config = DqnConfig {
        net: NetConfig { hidden: vec![48, 32], ..known.net.clone() },
        batch: 32,
        steps: Steps { updates: 6, ..known.steps },
        replay: 512,
        warmup: 100,
        envs: 8,
        updates_per_move: 2,
        hindsight: 0.5,
        curriculum: CurriculumConfig { schedule: Schedule::Fractional, window: 5, ..known.curriculum },
        ..known
    };
    Case { name: format!("deep Q-learning on {0}x{0}x{0}, {1:?}", P::SIZE, preset), world: (), config: change(config), warm, wide: None }
}

pub fn dqn_of_two() -> Vec<Case<Dqn<Two>>> {
    let mut later = dqn(Preset::Later, 3, |config| config);
    let net = NetConfig { hidden: vec![512, 256], ..later.config.net.clone() };
    // These settings are large enough that matrix products and rows are split among threads.
    let steps = Steps { updates: 3, ..later.config.steps };
    let wide = DqnConfig { net, batch: 700, envs: 300, steps, replay: 4096, warmup: 1000, ..later.config.clone() };
    later.wide = Some(wide);
    // The replay ring is so small that it wraps around.
    let published = dqn(Preset::Published, 12, |config| DqnConfig { replay: 128, follow: Follow::Hard, target_every: 4, ..config });
    // The pretraining ends in the third iteration, in which play starts.
    let tuned = dqn(Preset::Tuned, 2, |config| DqnConfig { pretraining: 15, ..config });
    vec![later, published, tuned]
}

pub fn dqn_of_three() -> Vec<Case<Dqn<Three>>> {
    vec![dqn(Preset::Later, 3, |config| config)]
}

pub fn strong() -> Vec<Case<Strong>> {
    // From the third round on, the learner looks ahead over all rolls.
    let small = StrongConfig { hidden: 32, games: 16, batch: 128, look_after: 32, look_games: 6, ..StrongConfig::default() };
    let plain = StrongConfig { narrow: 24, depth: 2, handmade: false, bearoff: false, ..small };
    let case = |(name, config)| Case { name: format!("TD, {name}"), world: (), config, warm: 1, wide: None };
    [("all inputs", small), ("positions only", plain)].map(case).into()
}

pub fn published() -> Vec<Case<Published>> {
    // Every second round ends with a match. The fourth round is the first round with many updates.
    let config = PublishedConfig {
        width: 48,
        blocks: 1,
        evals: 12,
        actors: 3,
        games: 8,
        batch: 32,
        round_batches: 60,
        replay: 300,
        minibatch: 64,
        generation_rounds: 2,
        duel_pairs: 4,
        ..PublishedConfig::default()
    };
    vec![Case { name: "AlphaZero".into(), world: (), config, warm: 5, wide: None }]
}

pub fn population() -> Vec<Case<Population>> {
    // The patience is so small that some members are replaced.
    let life = LogicConfig { population: 3, updates: 3, patience: 6, lr: 0.2, ..LogicConfig::preset(LogicPreset::Life) };
    let noisy = LogicConfig { form: Form::Gumbel, ..life.clone() };
    // Cells are updated asynchronously. On the 16x16 board, each sample is a piece of work of its own.
    let preset = LogicConfig::preset(LogicPreset::Checkerboard);
    let board = LogicConfig { population: 2, updates: 2, form: Form::Four, fire_rate: 0.6, ..preset };
    let wide = LogicConfig { side: 16, form: Form::Softmax, ..board.clone() };
    let case = |(name, config, wide)| Case { name: format!("automata of {name}"), world: (), config, warm: 2, wide };
    [("life", life, None), ("life with noise", noisy, None), ("a checkerboard", board, Some(wide))].map(case).into()
}

pub fn words() -> Vec<Case<Pretrainer>> {
    let of = |norm, positions, mlp, micro, width, layers| {
        let shape = Shape { vocab: TEXT.1, width, layers, heads: 2, context: 32, norm, positions, mlp, tied: true, bias: true };
        let config = WordsConfig { shape, dropout: 0.2, micro, steps: 3, ..WordsConfig::default() };
        WordsConfig { lr: 3e-3, min_lr: 3e-4, warmup: 20, decay_steps: 200, ..config }
    };
    let (gpt, llama) = ((Norm::Layer, Positions::Learned, Mlp::Gelu), (Norm::Rms, Positions::Rotary, Mlp::SwiGlu));
    let case = |(name, (norm, positions, mlp), micro, wide): (&str, _, _, Option<(usize, usize)>)| Case {
        name: format!("a text by {name}"),
        world: (),
        config: of(norm, positions, mlp, micro, 64, 1),
        warm: 1,
        wide: wide.map(|(width, layers)| of(norm, positions, mlp, micro, width, layers)),
    };
    [("GPT", gpt, 4, Some((128, 3))), ("Llama", llama, 8, None)].map(case).into()
}
