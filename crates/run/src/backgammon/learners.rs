//! The learners that there are, behind one face: each with its words and its knobs. A new learner is an entry here.
//!
//! It refuses to know how they learn.

use crate::knobs::{Access, Table, float, int};
use crate::protocol::{Goal, Knob, KnobKind, Knobs, Value, Variant};
use crate::room::Setup;
use crate::{RunError, count, number, switch};
use learn::Find;
use learn::backgammon::{Published, PublishedConfig, SelfTaught, Strong, StrongConfig};
use math::Isa;

type Made = Result<Box<dyn Tuned>, RunError>;

/// A learner with the settings in force.
pub(super) trait Tuned: Send + Sync {
    fn learner(&self) -> &(dyn SelfTaught + 'static);
    fn learner_mut(&mut self) -> &mut (dyn SelfTaught + 'static);

    /// Every knob with its value in force.
    fn values(&self) -> Knobs;

    /// What [`Tuned::set`] would say.
    fn check(&self, name: &str, value: &Value) -> Result<(), RunError>;

    /// Changes a live knob between two rounds: from what, and to what.
    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError>;
}

/// One of the learners.
pub(super) struct Kind {
    id: &'static str,
    name: &'static str,
    summary: &'static str,
    goal: Goal,
    /// Some minutes for a sweep with a few settings.
    sweep_games: f64,
    pub knobs: fn() -> Vec<Knob>,
    /// Refuses what cannot be learned with.
    pub check: fn(&Knobs) -> Result<(), RunError>,
    /// About what it allocates, at most.
    pub bytes: fn(&Knobs) -> Result<u64, RunError>,
    pub begin: fn(Setup) -> Made,
    pub restore: fn(Setup, &Find) -> Made,
}

pub(super) fn variants() -> Vec<Variant> {
    let variant = |kind: &Kind| Variant {
        id: kind.id,
        name: kind.name,
        summary: kind.summary,
        goal: Some(kind.goal),
        sweep_budget: kind.sweep_games,
        about: serde_json::Value::Null,
    };
    KINDS.iter().map(variant).collect()
}

/// The learner of this name; the default where there is none.
pub(super) fn kind(id: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.id == id).unwrap_or(&KINDS[0])
}

static KINDS: [Kind; 2] = [
    Kind {
        id: "strong",
        name: "Strong",
        summary: "Learns what each position that it leaves is worth, from its own next opinion and from how its games end (temporal \
                  differences). Its networks read 24 handmade inputs of each side, and an exact table plays bear-offs. It looks \
                  ahead where it is asked to.",
        goal: Goal { column: "linear_points", at: 0.4 },
        sweep_games: 20_000.0,
        knobs: With::<Strong>::knobs,
        check: With::<Strong>::check,
        bytes: With::<Strong>::bytes,
        begin: With::<Strong>::begin,
        restore: With::<Strong>::restore,
    },
    Kind {
        id: "published",
        name: "AlphaZero style",
        summary: "The configuration of AlphaZero.jl by sile16 (github.com/sile16/AlphaZero.jl, notes/perf_progress.md): every move \
                  is searched over chance nodes, and the network learns from what the search preferred. Much slower.",
        goal: Goal { column: "random_points", at: 1.2 },
        sweep_games: 4000.0,
        knobs: With::<Published>::knobs,
        check: With::<Published>::check,
        bytes: With::<Published>::bytes,
        begin: With::<Published>::begin,
        restore: With::<Published>::restore,
    },
];

/// What a learner has to have to be among them.
trait Tunable: SelfTaught + Sized + 'static {
    type Settings: Clone + Send + Sync;
    fn table() -> Table<Self::Settings>;
    fn begin(settings: Self::Settings, seed: u32, isa: Isa) -> Result<Self, RunError>;
    fn restore(settings: Self::Settings, seed: u32, isa: Isa, find: &Find) -> Result<Self, RunError>;
    fn sound(settings: &Self::Settings) -> Result<(), RunError>;
    fn bytes(settings: &Self::Settings) -> u64;
    fn set(&mut self, settings: Self::Settings) -> Result<(), RunError>;
}

struct With<L: Tunable> {
    learner: L,
    settings: L::Settings,
}

impl<L: Tunable> With<L> {
    fn knobs() -> Vec<Knob> {
        L::table().knobs()
    }

    fn check(knobs: &Knobs) -> Result<(), RunError> {
        L::sound(&L::table().settings(knobs)?)
    }

    fn bytes(knobs: &Knobs) -> Result<u64, RunError> {
        Ok(L::bytes(&L::table().settings(knobs)?))
    }

    fn begin(setup: Setup) -> Made {
        let settings = L::table().settings(setup.knobs)?;
        let learner = L::begin(settings.clone(), setup.seed, setup.host.isa)?;
        Ok(Box::new(With { learner, settings }))
    }

    fn restore(setup: Setup, find: &Find) -> Made {
        let settings = L::table().settings(setup.knobs)?;
        let learner = L::restore(settings.clone(), setup.seed, setup.host.isa, find)?;
        Ok(Box::new(With { learner, settings }))
    }
}

impl<L: Tunable> Tuned for With<L> {
    fn learner(&self) -> &(dyn SelfTaught + 'static) {
        &self.learner
    }

    fn learner_mut(&mut self) -> &mut (dyn SelfTaught + 'static) {
        &mut self.learner
    }

    fn values(&self) -> Knobs {
        L::table().values(&self.settings)
    }

    fn check(&self, name: &str, value: &Value) -> Result<(), RunError> {
        let mut settings = self.settings.clone();
        L::table().set_live(&mut settings, name, value)?;
        L::sound(&settings)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let mut settings = self.settings.clone();
        let change = L::table().set_live(&mut settings, name, value)?;
        self.learner.set(settings.clone())?;
        self.settings = settings;
        Ok(change)
    }
}

impl Tunable for Strong {
    type Settings = StrongConfig;

    fn table() -> Table<StrongConfig> {
        Table::new(StrongConfig::default(), StrongConfig::can_become)
            .with(
                "lr",
                "Learning rate",
                float(1e-5, 0.05, true),
                "",
                number!(lr),
                "How far each update moves the networks at the beginning. Too small and nothing happens; too large and they forget what they knew.",
            )
            .with(
                "lr_steps",
                "Learning-rate decay",
                float(1.0, 1e6, true),
                "updates",
                number!(lr_steps),
                "After this many updates the learning rate is down to 0.7 of what it was, and it goes on falling with the root of their number.",
            )
            .with(
                "lambda",
                "TD λ",
                float(0.0, 1.0, false),
                "",
                number!(lambda),
                "At 0 a position is worth what the next one is thought to be worth, at 1 what the game came to in the end.",
            )
            .with(
                "games",
                "Games a round",
                int(1.0, 4096.0),
                "games",
                count!(games),
                "How many games are played by the same networks before they learn from them.",
            )
            .with(
                "batch",
                "Minibatch: positions an update",
                int(16.0, 8192.0),
                "positions",
                count!(batch),
                "How many positions each update of the networks is a mean over.",
            )
            .with(
                "look_after",
                "Look ahead after",
                KnobKind::Int { min: 0.0, max: 1e7, log: false },
                "games",
                Access::Number(|c| if c.look_after == u64::MAX { 0.0 } else { c.look_after as f64 }, |c, v| {
                    c.look_after = if v == 0.0 { u64::MAX } else { v as u64 };
                }),
                "From so many games on it learns from means over all that may be rolled next, which says more and takes some twenty times as long. 0 never does.",
            )
            .with(
                "look_games",
                "Games a round then",
                int(1.0, 4096.0),
                "games",
                count!(look_games),
                "How many games are then played by the same networks before they learn from them.",
            )
            .with(
                "look_lambda",
                "TD λ then",
                float(0.0, 1.0, false),
                "",
                number!(look_lambda),
                "How much an outcome counts then beside the mean over all rolls.",
            )
            .with(
                "look_passes",
                "Epochs then: passes over the games",
                int(1.0, 16.0),
                "",
                count!(look_passes),
                "How often each position is then learned from.",
            )
            .with(
                "look_lr",
                "Learning rate then",
                float(0.01, 10.0, true),
                "times",
                number!(look_lr),
                "The learning rate is then so many times what it would be.",
            )
            .with(
                "hidden",
                "Hidden units: width of the networks",
                int(16.0, 1024.0),
                "units",
                count!(hidden),
                "Units in the first layer of each network, a multiple of 16. More can know more, and take longer.",
            )
            .with(
                "narrow",
                "Width of the layers behind",
                int(8.0, 256.0),
                "units",
                count!(narrow),
                "Units in each layer behind the first, a multiple of 8.",
            )
            .with(
                "depth",
                "Depth: layers behind the first",
                int(1.0, 8.0),
                "layers",
                count!(depth),
                "How many such layers each network has before the six outcomes.",
            )
            .with(
                "handmade",
                "Handmade inputs",
                KnobKind::Bool,
                "",
                switch!(handmade),
                "Beside where checkers stand, the networks read 24 numbers of each side that players count by eye (shots, primes, anchors, timing), and the lead. Off, they read places alone.",
            )
            .with(
                "bearoff",
                "Exact bear-off table",
                KnobKind::Bool,
                "",
                switch!(bearoff),
                "Where all checkers are home, a table of exact chances answers, in learning and in play. Off, the networks learn these endings too.",
            )
    }

    fn begin(settings: StrongConfig, seed: u32, isa: Isa) -> Result<Self, RunError> {
        Ok(Strong::new(settings, seed, isa)?)
    }

    fn restore(settings: StrongConfig, seed: u32, isa: Isa, find: &Find) -> Result<Self, RunError> {
        Strong::restore(settings, seed, isa, find).map_err(RunError::damaged)
    }

    fn sound(settings: &StrongConfig) -> Result<(), RunError> {
        Ok(settings.check()?)
    }

    fn bytes(settings: &StrongConfig) -> u64 {
        StrongConfig::bytes(settings)
    }

    fn set(&mut self, settings: StrongConfig) -> Result<(), RunError> {
        Ok(self.set_config(settings)?)
    }
}

impl Tunable for Published {
    type Settings = PublishedConfig;

    fn table() -> Table<PublishedConfig> {
        Table::new(PublishedConfig::default(), PublishedConfig::can_become)
            .with(
                "lr",
                "Learning rate",
                float(1e-5, 0.1, true),
                "",
                number!(lr),
                "How far each update moves the network. Too small and nothing happens; too large and it forgets what it knew.",
            )
            .with(
                "evals",
                "Search: simulations a decision",
                int(2.0, 2000.0),
                "ways down",
                count!(evals),
                "How often each decision of its own games is followed down the tree. More play better, and fewer games.",
            )
            .with(
                "exploration",
                "PUCT exploration constant c",
                float(0.0, 10.0, false),
                "",
                number!(exploration),
                "How much the search tries what the network thinks likely beside what has turned out well (c of PUCT).",
            )
            .with(
                "noise",
                "Dirichlet noise",
                float(0.0, 1.0, false),
                "",
                number!(noise),
                "Share of chance in what is searched first, so that games differ.",
            )
            .with(
                "noise_alpha",
                "Dirichlet α: shape of the noise",
                float(0.01, 1.0, false),
                "",
                number!(noise_alpha),
                "Parameter of the Dirichlet distribution: small gives chance to few moves, large to all.",
            )
            .with(
                "temperature",
                "Temperature",
                float(0.0, 4.0, false),
                "",
                number!(temperature),
                "How freely the first moves of a game are drawn from those searched; at 0 the most searched is always played.",
            )
            .with(
                "warm_decisions",
                "Temperature moves",
                KnobKind::Int { min: 0.0, max: 500.0, log: false },
                "moves",
                count!(warm_decisions),
                "How many first moves of a game are drawn so.",
            )
            .with(
                "tables",
                "Self-play actors",
                int(1.0, 256.0),
                "actors",
                count!(actors),
                "Groups of games that threads share.",
            )
            .with(
                "games",
                "Games an actor",
                int(1.0, 1024.0),
                "games",
                count!(games),
                "How many games each table plays at once.",
            )
            .with(
                "batch",
                "Positions a batch",
                int(2.0, 1024.0),
                "positions",
                count!(batch),
                "How many positions of a table's games the network values together.",
            )
            .with(
                "round_batches",
                "Length of a round",
                int(1.0, 1e5),
                "batches",
                count!(round_batches),
                "Batches that each actor has valued before its games are learned from.",
            )
            .with(
                "replay",
                "Replay: positions kept",
                int(256.0, 1_000_000.0),
                "positions",
                count!(replay),
                "How many positions of the last games are kept to learn from.",
            )
            .with(
                "minibatch",
                "Minibatch: positions an update",
                int(32.0, 8192.0),
                "positions",
                count!(minibatch),
                "How many positions each update of the network is a mean over.",
            )
            .with(
                "passes",
                "Epochs: passes over the data",
                int(1.0, 100.0),
                "",
                count!(passes),
                "How often the positions of a round are learned from, about.",
            )
            .with(
                "most_updates",
                "Updates a round at most",
                int(1.0, 10_000.0),
                "updates",
                count!(most_updates),
                "A cap on learning, so that it does not hold up the games.",
            )
            .with(
                "weight_decay",
                "Weight decay",
                float(0.0, 0.1, false),
                "",
                number!(weight_decay),
                "How fast weights shrink that nothing holds up.",
            )
            .with(
                "value_coef",
                "Value coefficient: weight of the outcome",
                float(0.0, 10.0, false),
                "",
                number!(value_coef),
                "How much how the game ended counts beside what the search preferred.",
            )
            .with(
                "max_grad_norm",
                "Max gradient norm",
                float(0.05, 100.0, true),
                "",
                number!(max_grad_norm),
                "Longer gradients are shortened to this length, so that one odd batch cannot wreck the network.",
            )
            .with(
                "generation_rounds",
                "Rounds a generation",
                int(1.0, 1000.0),
                "rounds",
                count!(generation_rounds),
                "After so many rounds it plays against itself as it was at the last such time.",
            )
            .with(
                "duel_pairs",
                "Games of that match",
                KnobKind::Int { min: 0.0, max: 10_000.0, log: false },
                "pairs",
                count!(duel_pairs),
                "Pairs of games with the same dice in that match; 0 plays none.",
            )
            .with(
                "width",
                "Hidden units: width of the network",
                int(16.0, 1024.0),
                "units",
                count!(width),
                "Units in each layer of the network, a multiple of 16; AlphaZero.jl has 128. More can know more, and take longer.",
            )
            .with(
                "blocks",
                "Depth: residual blocks",
                KnobKind::Int { min: 0.0, max: 16.0, log: false },
                "blocks",
                count!(blocks),
                "Blocks of two layers each, one behind the other; AlphaZero.jl has 3.",
            )
    }

    fn begin(settings: PublishedConfig, seed: u32, isa: Isa) -> Result<Self, RunError> {
        Ok(Published::new(settings, seed, isa)?)
    }

    fn restore(settings: PublishedConfig, seed: u32, isa: Isa, find: &Find) -> Result<Self, RunError> {
        Published::restore(settings, seed, isa, find).map_err(RunError::damaged)
    }

    fn sound(settings: &PublishedConfig) -> Result<(), RunError> {
        Ok(settings.check()?)
    }

    fn bytes(settings: &PublishedConfig) -> u64 {
        PublishedConfig::bytes(settings)
    }

    fn set(&mut self, settings: PublishedConfig) -> Result<(), RunError> {
        Ok(self.set_config(settings)?)
    }
}
