//! The parts of the learner that the app's page about the cube uses: the judge, and the contents of the curriculum and the replay.

use super::replay::Transition;
use super::{Dqn, DqnConfig};
use crate::cube::inside::{Inside, InsideDepth, InsideTransition, PRIORITY_BINS};
use crate::cube::values::Network;
use crate::cube::{Cube, CubeLearner, Evaluator, Judge, Scores};
use crate::{Learner, NetworkValues};
use graph::PlanError;
use worlds::cube::Actions;

impl<P: Cube> Dqn<P> {
    /// Returns the state of the curriculum and of the replay, with the `top` transitions of highest priority.
    fn look_inside(&self, top: usize) -> Result<Inside<P>, PlanError> {
        let DqnConfig { net, rewards, curriculum, alpha, prioritised, .. } = &self.config;
        let depths = (1..=curriculum.last).map(|depth| {
            let (success, episodes) = self.curriculum.success(depth);
            InsideDepth { depth, share: self.curriculum.share(curriculum, depth), success, episodes }
        });
        let len = self.replay.len();
        let (mut priorities, mut order) = ([0.0; PRIORITY_BINS], Vec::new());
        // Removes the exponent alpha from a priority. With an alpha of 0 the priorities do not depend on the errors and remain unchanged.
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

impl<P: Cube> CubeLearner for Dqn<P> {
    type Cube = P;

    fn actions(&self) -> Actions {
        self.actions
    }

    fn inside(&self, top: usize) -> Result<Option<Inside<P>>, PlanError> {
        self.look_inside(top).map(Some)
    }

    fn judge(&self) -> Result<Evaluator<P>, PlanError> {
        let DqnConfig { net, rewards, .. } = &self.config;
        let read = |g: &mut graph::Graph, q| rewards.moves_of(g, q);
        let (count, scores) = (self.actions.count(), Scores::ActionValues);
        Evaluator::new(net, scores, count, read, self.weights(), self.isa)
    }

    fn network(&self, states: &[P]) -> Result<NetworkValues, PlanError> {
        let (scores, params) = (Scores::ActionValues, &self.params);
        Network { config: &self.config.net, scores, actions: self.actions, params, isa: self.isa }.values(states)
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> graph::export::Model {
        let DqnConfig { net, rewards, .. } = &self.config;
        crate::cube::export::model::<P>(net, Scores::ActionValues, self.actions, &|g, q| rewards.moves_of(g, q), self.weights())
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<graph::export::Examples, PlanError> {
        crate::cube::export::examples(self, self.config.net.inputs, count, seed)
    }
}
