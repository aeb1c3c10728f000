//! Converts a learner's errors to run errors, and a learner's curriculum and replay to plain data.

use super::judging::Known;
use super::protocol::{CurriculumDepth, Inside, ReplayView, TransitionView};
use crate::RunError;
use learn::cube;
use worlds::cube::{Actions, Scheme};

impl From<cube::LearnerError> for RunError {
    fn from(error: cube::LearnerError) -> RunError {
        RunError::below(error)
    }
}

/// Number of transitions in [`ReplayView::top`].
pub(super) const TOP: usize = 20;

pub(super) fn inside<P: Known>(inside: cube::Inside<P>, actions: Actions) -> Inside {
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
