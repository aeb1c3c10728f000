//! What the run has to know of each kind of learner, and what one that plays has to tell of its inside.

use super::judging::Known;
use super::protocol::{CurriculumDepth, Inside, ReplayView, TransitionView};
use crate::RunError;
use crate::room::Setup;
use crate::tuned::Tunable;
use learn::Find;
use learn::cube::{self, Dqn, DqnConfig, Evaluator, Supervised, SupervisedConfig};
use worlds::cube::{Actions, Scheme};

/// Judges that an agent keeps at most, apart from those of a learner's own.
const JUDGES: u64 = 3;

impl From<cube::LearnerError> for RunError {
    fn from(error: cube::LearnerError) -> RunError {
        RunError::below(error)
    }
}

/// What each learner has by the same names.
macro_rules! teaching {
    ($learner:ident, $settings:ident, $unused:expr) => {
        impl<P: Known> Tunable for $learner<P> {
            type Settings = $settings;
            const UNUSED: &'static [&'static str] = $unused;

            fn check(settings: &$settings) -> Result<(), RunError> {
                settings.check::<P>()?;
                Ok(())
            }

            fn bytes(settings: &$settings) -> u64 {
                settings.bytes::<P>().saturating_add(P::bytes() + JUDGES * Evaluator::<P>::bytes(&settings.net))
            }

            fn make(settings: $settings, setup: Setup, saved: Option<&Find>) -> Result<Self, RunError> {
                let exact = P::exact(settings.metric);
                let (seed, isa) = (setup.seed, setup.host.isa);
                match saved {
                    None => Ok($learner::new(settings, exact, seed, isa)?),
                    Some(find) => $learner::restore(settings, exact, seed, isa, find).map_err(RunError::damaged),
                }
            }

            fn retune(&mut self, settings: $settings) -> Result<(), RunError> {
                Ok(self.set(settings)?)
            }
        }
    };
}

teaching!(Supervised, SupervisedConfig, &["dueling"]);
teaching!(Dqn, DqnConfig, &[]);

/// Transitions of the greatest priority that are told.
pub(super) const TOP: usize = 20;

pub(super) fn told<P: Known>(inside: cube::Inside<P>, actions: Actions) -> Inside {
    let depths = inside.depths.iter().map(|of| CurriculumDepth {
        depth: of.depth as u32,
        share: of.share,
        success: of.success,
        episodes: of.episodes as u32,
    });
    let top = inside.top.into_iter().map(|of| TransitionView {
        facelets: of.state.facelets(&Scheme::FACES),
        action: actions.moves()[of.action].to_string(),
        reward: of.reward,
        done: of.done,
        priority: of.priority,
        q: of.q,
    });
    Inside {
        stage: inside.stage as u32,
        depths: depths.collect(),
        replay: ReplayView {
            len: inside.len as u32,
            capacity: inside.capacity as u32,
            prioritised: inside.prioritised,
            priorities: inside.priorities.to_vec(),
            top: top.collect(),
        },
    }
}
