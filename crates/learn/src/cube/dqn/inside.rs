//! What it keeps beside its network, for whoever looks: the curriculum, and the replay with its priorities.

use super::replay::Transition;
use super::{Dqn, DqnConfig};
use crate::cube::{Cube, Evaluator, Judge, Scores};
use graph::PlanError;

/// What a learner that plays has beside its network.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside<P> {
    /// The depth that the curriculum has come to.
    pub stage: usize,
    /// From 1 to the curriculum's last.
    pub depths: Vec<InsideDepth>,
    pub len: usize,
    pub capacity: usize,
    pub prioritised: bool,
    /// Shares of all transitions by priority: bin `i` holds those from `2^(i - 12)` to twice that, the first and the last also
    /// what lies beyond. A priority is what the error was when it was last learned from.
    pub priorities: [f32; PRIORITY_BINS],
    /// Those of the greatest priority, the greatest first.
    pub top: Vec<InsideTransition<P>>,
}

pub const PRIORITY_BINS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InsideDepth {
    pub depth: usize,
    /// Share of new episodes that begin there.
    pub share: f32,
    /// Share of its newest episodes that solved the cube, and how many those are.
    pub success: f32,
    pub episodes: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct InsideTransition<P> {
    pub state: P,
    pub action: usize,
    /// Of the steps that it spans together.
    pub reward: f32,
    pub done: bool,
    pub priority: f32,
    /// What the trained network says of each action there.
    pub q: Vec<f32>,
}

impl<P: Cube> Dqn<P> {
    /// Curriculum and replay as they are, with so many transitions of the greatest priority.
    pub(super) fn look_inside(&self, top: usize) -> Result<Inside<P>, PlanError> {
        let DqnConfig { net, rewards, curriculum, alpha, prioritised, .. } = &self.config;
        let depths = (1..=curriculum.last).map(|depth| {
            let (success, episodes) = self.curriculum.success(depth);
            InsideDepth { depth, share: self.curriculum.share(curriculum, depth), success, episodes }
        });
        let len = self.replay.len();
        let (mut priorities, mut order) = ([0.0; PRIORITY_BINS], Vec::new());
        // An alpha of 0 takes all differences away.
        let root = |priority: f32| if *alpha > 0.0 { priority.powf(1.0 / alpha) } else { priority };
        if *prioritised {
            for at in 0..len {
                let bin = (root(self.replay.priority(at)).log2().floor() + 12.0).max(0.0) as usize;
                priorities[bin.min(PRIORITY_BINS - 1)] += 1.0 / len as f32;
            }
            order = (0..len).collect();
            let by = |a: &usize, b: &usize| self.replay.priority(*b).total_cmp(&self.replay.priority(*a)).then(a.cmp(b));
            if top < len {
                order.select_nth_unstable_by(top, by);
                order.truncate(top);
            }
            order.sort_unstable_by(by);
        }
        let count = self.actions.count();
        let states: Vec<P> = order.iter().map(|&at| self.replay.get(at).state).collect();
        let mut q = vec![0.0; states.len() * count];
        let (weights, scores) = (self.params.values(), Scores::ActionValues);
        Evaluator::new(net, scores, count, |_, q| q, weights, self.isa)?.judge(&states, &mut q);
        let top = order.iter().zip(q.chunks_exact(count)).map(|(&at, q)| {
            let Transition { state, action, steps, done, .. } = self.replay.get(at);
            InsideTransition {
                state,
                action: usize::from(action),
                reward: rewards.of_steps(usize::from(steps), done).0,
                done,
                priority: root(self.replay.priority(at)),
                q: q.to_vec(),
            }
        });
        Ok(Inside {
            stage: self.curriculum.stage(),
            depths: depths.collect(),
            len,
            capacity: self.replay.capacity(),
            prioritised: *prioritised,
            priorities,
            top: top.collect(),
        })
    }
}
