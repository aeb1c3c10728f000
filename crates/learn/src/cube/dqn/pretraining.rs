//! Pretraining on labels from the table of distances, for scrambles up to the curriculum's last depth.

use super::replay::Transition;
use super::{Dqn, Labels};
use crate::cube::Cube;

/// Random stream of the labels.
const LABELS: u32 = 0x4C41_4245;

impl<P: Cube> Dqn<P> {
    /// Runs one optimizer step on a batch of labels.
    pub(super) fn pretrain(&mut self) {
        let began = (self.clock)();
        self.draw_labels();
        let drawn = (self.clock)();
        if let Some((executor, packed)) = &mut self.label_plan {
            let inputs = self.config.net.inputs;
            // The shards' inputs serve as buffers for the indices of active inputs, which are then copied to the label plan.
            let active = executor.input_mut("active");
            let part = active.len() / self.shards.len();
            let batches = self.drawn.batch.chunks_exact(self.drawn.batch.len() / self.shards.len());
            for ((shard, batch), to) in self.shards.iter_mut().zip(batches).zip(active.chunks_exact_mut(part)) {
                shard.write_inputs(inputs, batch);
                to.copy_from_slice(shard.learning.input_mut("active"));
            }
            let targets = executor.input_mut("target").iter_mut();
            let named = |of: &Transition<P>| inputs.action(of.state, usize::from(of.action)) as f32;
            targets.zip(&self.drawn.batch).for_each(|(to, of)| *to = named(of));
            packed.pack(&self.params);
            executor.train(&self.params, packed, &mut self.shards[0].grads, false);
            self.iteration.sums.loss += executor.output("loss")[0];
            self.adam();
        } else {
            self.drawn.weights.fill(1.0);
            self.write_inputs();
            self.step(true);
        }
        if self.progress.updates == self.config.pretraining as u64 {
            self.packed.learning.pack(&self.params);
            self.target.values_mut().copy_from_slice(self.params.values());
            self.packed.target.pack(&self.target);
        }
        self.iteration.sums.parts_s[0] += drawn - began;
        self.iteration.sums.parts_s[3] += (self.clock)() - drawn;
    }

    /// Draws a batch of scrambles and an action for each scramble. With [`Labels::Moves`], the action is optimal, otherwise random. Writes
    /// the return of each action to `drawn.errors`, under the assumption that all later moves are optimal.
    fn draw_labels(&mut self) {
        let mut numbers = self.rng(LABELS, self.progress.updates).sequence(0);
        let exact = self.exact.as_deref().expect("checked with the settings");
        let count = self.actions.count();
        for i in 0..self.drawn.batch.len() {
            let (mut state, mut last) = (P::SOLVED, None);
            let depth = 1 + numbers.below(self.config.curriculum.last as u32);
            while state == P::SOLVED {
                for _ in 0..depth {
                    let action = self.actions.drawn(last, &mut numbers);
                    (state, last) = (state.turned(action), Some(action));
                }
            }
            let after = |action: usize| {
                let next = state.turned(action);
                (next, next.distance(exact).expect("checked with the settings"))
            };
            let mut action = numbers.below(count as u32) as usize;
            if self.config.labels == Labels::Moves {
                // The search for an optimal action begins at the drawn action, so that the choice among several optimal actions is random.
                let best = (0..count).map(|action| after(action).1).min();
                while Some(after(action).1) != best {
                    action = (action + 1) % count;
                }
            }
            let (next, left) = after(action);
            self.drawn.errors[i] = self.config.rewards.of_moves(1 + usize::from(left));
            self.drawn.batch[i] = Transition { state, action: action as u8, steps: 1, done: left == 0, next };
        }
    }
}
