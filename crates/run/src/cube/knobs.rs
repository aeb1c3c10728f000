//! The knobs of the cube's learners; see `crate::knobs`.

use crate::knobs::{Access, Table, choice, float, int};
use crate::protocol::{KnobKind, Named};
use learn::cube::dqn::curriculum::Schedule;
use learn::cube::dqn::td::Loss;
use learn::cube::dqn::{Decay, Follow, Judging, Labels};
use learn::cube::{DqnConfig, Greedy, Inputs, SupervisedConfig};
use worlds::cube::Metric;

/// How a whole number, a float, a switch and a choice are read and written that may lie deeper in the settings.
macro_rules! whole {
    ($($field:ident).+) => { Access::Number(|c| c.$($field).+ as f64, |c, v| c.$($field).+ = v as _) };
}
macro_rules! real {
    ($($field:ident).+) => { Access::Number(|c| f64::from(c.$($field).+), |c, v| c.$($field).+ = v as _) };
}
macro_rules! flag {
    ($($field:ident).+) => {
        Access::Number(|c| f64::from(u8::from(c.$($field).+)), |c, v| c.$($field).+ = v != 0.0)
    };
}
macro_rules! named {
    ($($field:ident).+: $type:ty) => {
        Access::Text(
            |c| c.$($field).+.id().into(),
            |c, name| {
                let found = <$type>::ALL.into_iter().find(|of| of.id() == name);
                c.$($field).+ = found.expect("one of the choices");
            },
        )
    };
}
/// Units of each layer, with a hyphen between. What is no number is a layer of no units, which no learner takes.
macro_rules! widths {
    ($($field:ident).+) => {
        Access::Text(
            |c| c.$($field).+.iter().map(usize::to_string).collect::<Vec<_>>().join("-"),
            |c, text| c.$($field).+ = text.split('-').map(|units| units.parse().unwrap_or(0)).collect(),
        )
    };
}

const METRICS: [Named; 2] = [
    Named { name: "qtm", label: "Quarter turns (qtm)" },
    Named { name: "htm", label: "Half turns too (htm)" },
];
const INPUTS: [Named; 4] = [
    Named { name: "stickers", label: "Stickers" },
    Named { name: "cubies", label: "Cubies" },
    Named { name: "folded", label: "Folded: 6 as one" },
    Named { name: "symmetric", label: "Symmetric: 96 as one" },
];
const FOLLOWS: [Named; 2] =
    [Named { name: "hard", label: "Copies" }, Named { name: "polyak", label: "Polyak's mean" }];
const JUDGES: [Named; 2] = [
    Named { name: "trained", label: "The trained network" },
    Named { name: "target", label: "The target network" },
];
const DECAYS: [Named; 2] =
    [Named { name: "linear", label: "Linear" }, Named { name: "exponential", label: "Exponential" }];
const SCHEDULES: [Named; 3] = [
    Named { name: "even", label: "Every depth alike" },
    Named { name: "plain", label: "The stage alone" },
    Named { name: "fractional", label: "Fractional" },
];
const LABELS: [Named; 2] =
    [Named { name: "moves", label: "Optimal moves" }, Named { name: "distances", label: "Optimal returns" }];

const SHARE: KnobKind = float(0.0, 1.0, false);

/// The knobs of an optimiser, and of a network.
macro_rules! optimizer {
    ($table:expr) => {
        $table
            .with(
                "lr",
                "Learning rate",
                float(1e-5, 0.1, true),
                "",
                real!(lr),
                "How far each update moves the network at the beginning. Too small and nothing happens; too large and it forgets what it knew.",
            )
            .with(
                "lr_steps",
                "Learning-rate decay",
                float(1.0, 1e9, true),
                "updates",
                real!(lr_steps),
                "After this many updates the learning rate is down to 0.7 of what it was, and it goes on falling with the root of their number.",
            )
            .with(
                "max_grad_norm",
                "Max gradient norm",
                float(0.05, 1000.0, true),
                "",
                real!(max_grad_norm),
                "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network.",
            )
            .with(
                "updates",
                "Updates an iteration",
                int(1.0, 10_000.0),
                "updates",
                whole!(updates),
                "Steps of the optimiser before the run tells how it stands and takes up new knobs.",
            )
    };
}
macro_rules! network {
    ($table:expr) => {
        $table
            .with(
                "hidden",
                "Hidden layers: units of each",
                KnobKind::Text { most: 60 },
                "",
                widths!(net.hidden),
                "Units of each layer, multiples of 16 with a hyphen between, as in 512-256. More can know more, and take longer.",
            )
            .with(
                "blocks",
                "Residual blocks",
                KnobKind::Int { min: 0.0, max: 32.0, log: false },
                "blocks",
                whole!(net.blocks),
                "Pairs of layers, as wide as the last one, whose result is added to what they read. They make a deep network easy to train.",
            )
            .with(
                "norm",
                "Layer norm",
                KnobKind::Bool,
                "",
                flag!(net.norm),
                "Brings the sums of each layer to mean 0 and spread 1 before each activation.",
            )
            .with(
                "inputs",
                "Inputs: what the network is shown",
                choice(&INPUTS),
                "",
                named!(net.inputs: Inputs),
                "The colour of each sticker, or which cubie is where and how it is turned. States that are alike by symmetry can be shown as one: folded, the stickers of the first of six, for any network; symmetric, the cubies of one that stands for 96, for values alone.",
            )
            .with(
                "metric",
                "Metric: what counts as a move",
                choice(&METRICS),
                "",
                named!(metric: Metric),
                "Quarter turns alone, or half turns as one move as well.",
            )
    };
}

/// Of those that learn from labels.
pub(super) fn supervised(preset: SupervisedConfig) -> Table<SupervisedConfig> {
    let table = optimizer!(Table::new(preset, SupervisedConfig::can_become))
        .with(
            "walk",
            "Random-walk length: moves of a scramble",
            int(1.0, 200.0),
            "moves",
            whole!(walk),
            "How many moves from the solved state each random walk goes; all states on the way are learned from.",
        )
        .with(
            "batch",
            "Minibatch: states an update",
            int(16.0, 65_536.0),
            "states",
            whole!(batch),
            "How many states each update of the network is a mean over, as many walks as fit.",
        );
    network!(table)
}

/// Of deep Q-learning, in the order of its parts: optimiser, network, returns, target network, replay, episodes, curriculum, labels.
pub(super) fn deep_q(preset: DqnConfig) -> Table<DqnConfig> {
    let table = optimizer!(Table::new(preset, DqnConfig::can_become)).with(
        "batch",
        "Minibatch: transitions an update",
        int(1.0, 65_536.0),
        "transitions",
        whole!(batch),
        "How many transitions each update of the network is a mean over.",
    );
    network!(table)
        .with(
            "dueling",
            "Dueling heads",
            KnobKind::Bool,
            "",
            flag!(net.dueling),
            "The network says how good a state is and, apart from that, how much better each action is than the mean of all.",
        )
        .with(
            "gamma",
            "Discount γ: patience",
            float(0.5, 1.0, false),
            "",
            real!(rewards.gamma),
            "How much a reward one move later is still worth now.",
        )
        .with(
            "step_reward",
            "Reward of a move",
            float(-10.0, 0.0, false),
            "",
            real!(rewards.step),
            "What each move costs, so that few are better than many.",
        )
        .with(
            "goal_reward",
            "Reward of the solved cube",
            float(0.0, 100.0, false),
            "",
            real!(rewards.goal),
            "What solving the cube is worth, beside the move's own reward.",
        )
        .with(
            "n_step",
            "n-step returns: moves looked ahead",
            KnobKind::Int { min: 1.0, max: 5.0, log: false },
            "moves",
            whole!(n_step),
            "How many moves' rewards a target has before what the network thinks of the state that they led to.",
        )
        .with(
            "bounded",
            "Bounded targets",
            KnobKind::Bool,
            "",
            flag!(bounded),
            "Values of next states are held to what can be: no state is worth more than one a move from solved.",
        )
        .with(
            "huber",
            "Huber loss δ",
            float(0.0, 100.0, false),
            "",
            Access::Number(
                |c| match c.loss {
                    Loss::Squares => 0.0,
                    Loss::Huber(delta) => delta.into(),
                },
                |c, v| c.loss = if v == 0.0 { Loss::Squares } else { Loss::Huber(v as f32) },
            ),
            "Errors up to this count by their square, greater ones by their length. At 0 all count by their square.",
        )
        .with(
            "double",
            "Double Q-learning",
            KnobKind::Bool,
            "",
            flag!(double),
            "The trained network chooses the next action and the target network values it, so that luck is not mistaken for worth.",
        )
        .with(
            "follow",
            "Target network: how it follows",
            choice(&FOLLOWS),
            "",
            named!(follow: Follow),
            "It becomes a copy of the trained network now and then, or follows it by a share of the way at each update.",
        )
        .with(
            "target_every",
            "Updates between copies",
            int(1.0, 100_000.0),
            "updates",
            whole!(target_every),
            "Where the target network follows by copies: how many updates lie between two.",
        )
        .with(
            "tau",
            "Polyak τ: share of the way",
            float(1e-5, 1.0, true),
            "",
            real!(tau),
            "Where the target network follows by Polyak's mean: how much of the way it goes at each update.",
        )
        .with(
            "judging",
            "Judge: whose opinion counts",
            choice(&JUDGES),
            "",
            named!(judging: Judging),
            "Which of the two networks solves cubes, and is tested.",
        )
        .with(
            "replay",
            "Replay: transitions kept",
            int(16.0, 4_194_304.0),
            "transitions",
            whole!(replay),
            "How many of the newest transitions are kept to learn from.",
        )
        .with(
            "warmup",
            "Warm-up: transitions before learning",
            int(1.0, 4_194_304.0),
            "transitions",
            whole!(warmup),
            "How many transitions there must be before any is learned from.",
        )
        .with(
            "prioritised",
            "Prioritised replay",
            KnobKind::Bool,
            "",
            flag!(prioritised),
            "Transitions that the network was more wrong about are drawn more often.",
        )
        .with(
            "alpha",
            "Priority exponent α",
            SHARE,
            "",
            real!(alpha),
            "At 0 all transitions are drawn alike, at 1 in proportion to their errors.",
        )
        .with(
            "floor",
            "Priority floor ε",
            float(1e-6, 1.0, true),
            "",
            real!(floor),
            "Added to each error, so that no transition is never drawn.",
        )
        .with(
            "beta",
            "Importance exponent β",
            SHARE,
            "",
            real!(beta),
            "How much a transition that is drawn often counts less for it, at the beginning; at 1 exactly so much.",
        )
        .with(
            "beta_steps",
            "β reaches 1 after",
            float(1.0, 1e9, true),
            "updates",
            real!(beta_steps),
            "After so many updates what is drawn often counts exactly so much less.",
        )
        .with(
            "envs",
            "Episodes at once",
            int(1.0, 65_536.0),
            "episodes",
            whole!(envs),
            "How many cubes are played at the same time.",
        )
        .with(
            "updates_per_move",
            "Updates a move",
            int(1.0, 10_000.0),
            "updates",
            whole!(updates_per_move),
            "Updates of the network between two moves of all episodes.",
        )
        .with(
            "slack",
            "Moves beyond the scramble's",
            KnobKind::Int { min: 0.0, max: 190.0, log: false },
            "moves",
            whole!(slack),
            "An episode ends unsolved once it has so many moves more than its scramble.",
        )
        .with(
            "epsilon",
            "Exploration ε: random moves at first",
            SHARE,
            "",
            real!(epsilon),
            "Share of moves that are drawn at random in the beginning.",
        )
        .with(
            "epsilon_end",
            "Exploration ε at the end",
            SHARE,
            "",
            real!(epsilon_end),
            "Share of moves that are drawn at random from then on.",
        )
        .with(
            "epsilon_moves",
            "Exploration falls over",
            float(1.0, 1e9, true),
            "moves",
            real!(epsilon_moves),
            "How many moves the share of random ones takes to fall.",
        )
        .with(
            "decay",
            "Exploration's fall",
            choice(&DECAYS),
            "",
            named!(decay: Decay),
            "Evenly, or by the same factor all the time.",
        )
        .with(
            "onward",
            "Episodes go onward",
            KnobKind::Bool,
            "",
            Access::Number(
                |c| f64::from(u8::from(c.acting == Greedy::Onward)),
                |c, v| c.acting = if v == 0.0 { Greedy::Plain } else { Greedy::Onward },
            ),
            "Whether episodes never take their last move back.",
        )
        .with(
            "schedule",
            "Curriculum",
            choice(&SCHEDULES),
            "",
            named!(curriculum.schedule: Schedule),
            "Where episodes begin: at every depth, at the curriculum's stage, or for a fraction of them at the depths so far, against forgetting.",
        )
        .with(
            "first_depth",
            "Curriculum: first depth",
            KnobKind::Int { min: 1.0, max: 64.0, log: false },
            "moves",
            whole!(curriculum.first),
            "Moves of the scrambles that it begins with.",
        )
        .with(
            "last_depth",
            "Curriculum: last depth",
            KnobKind::Int { min: 1.0, max: 64.0, log: false },
            "moves",
            whole!(curriculum.last),
            "Moves of the longest scrambles.",
        )
        .with(
            "threshold",
            "Curriculum: success threshold",
            SHARE,
            "",
            real!(curriculum.threshold),
            "Share of the newest episodes at a depth that must be solved before the next one.",
        )
        .with(
            "window",
            "Curriculum: episodes of that share",
            int(1.0, 1000.0),
            "episodes",
            whole!(curriculum.window),
            "How many of the newest episodes at a depth the share is of.",
        )
        .with(
            "fraction",
            "Curriculum: fraction at depths so far",
            SHARE,
            "",
            real!(curriculum.fraction),
            "With the fractional curriculum: share of episodes that begin at any depth so far.",
        )
        .with(
            "hindsight",
            "Hindsight: failed episodes relabelled",
            SHARE,
            "",
            real!(hindsight),
            "Share of failed episodes that are learned from as if where they ended had been the goal.",
        )
        .with(
            "pretraining",
            "Pretraining from exact labels",
            KnobKind::Int { min: 0.0, max: 1e7, log: false },
            "updates",
            whole!(pretraining),
            "First updates, which learn from the table of distances and not from play. 0 does without.",
        )
        .with(
            "labels",
            "Labels of the pretraining",
            choice(&LABELS),
            "",
            named!(labels: Labels),
            "Which move an optimal solution begins with, or what each action returns if all moves after it are optimal.",
        )
}
