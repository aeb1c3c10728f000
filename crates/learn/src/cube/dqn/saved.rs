//! Saving and restoring the learner.

use super::curriculum::Curriculum;
use super::play::Ended;
use super::replay::{MOST_STEPS, Transition};
use super::{Dqn, DqnConfig, InProgress};
use crate::cube::{Cube, LearnerError, Progress, Stats};
use crate::state::{Saved, bad, counters, floats, load, missing, partial, save, save_partial, words};
use crate::{Data, Find};
use math::Isa;
use std::sync::Arc;
use worlds::cube::Distances;

impl<P: Cube> Dqn<P> {
    /// Returns the named arrays for a checkpoint, which [`Dqn::restore`] reads.
    pub(super) fn saved(&self) -> Vec<Saved> {
        let mut parts = save(
            self.params.table(),
            [("", self.params.values()), ("target.", self.target.values()), ("adam.m.", &self.optimizer.m), ("adam.v.", &self.optimizer.v)],
        );
        let mut words = |name: &str, words: Vec<u32>| {
            parts.push((name.into(), vec![words.len()], Data::U32(words)));
        };
        let len = self.replay.len();
        let transitions = || (0..len).map(|at| self.replay.get(at));
        let states = |state: fn(&Transition<P>) -> P| {
            let mut all = vec![0; len * P::WORDS];
            let each = all.chunks_exact_mut(P::WORDS).zip(transitions());
            each.for_each(|(words, transition)| state(&transition).words(words));
            all
        };
        words("replay.states", states(|transition| transition.state));
        words("replay.next", states(|transition| transition.next));
        words("replay.how", transitions().map(|transition| transition.how()).collect());
        words("curriculum", self.curriculum.words());
        words("episodes", self.playing.episodes.words());
        let (at, greatest) = self.replay.cursor();
        let mut priorities = vec![greatest];
        if self.replay.is_prioritised() {
            priorities.extend((0..len).map(|at| self.replay.priority(at)));
        }
        parts.push(("replay.priorities".into(), vec![priorities.len()], Data::F32(priorities)));
        let Progress { iterations, updates, states, moves, episodes } = self.progress;
        let counters = vec![iterations, updates, states, moves, episodes, self.optimizer.steps, at];
        parts.push(("counters".into(), vec![counters.len()], Data::U64(counters)));
        if self.iteration.begun {
            let InProgress { update, sums, mean_q, ended, .. } = &self.iteration;
            let [loss, grad_norm, lr] = sums.sums();
            let [mean_q, episodes, solved] = [f64::from(*mean_q), ended.episodes.into(), ended.solved.into()];
            parts.push(save_partial([*update as f64, loss, grad_norm, lr, mean_q, episodes, solved]));
        }
        parts
    }

    /// Restores a learner from its [`crate::Learner::parts`]. With the settings and the seed of the saved learner, training continues
    /// exactly as without the interruption.
    pub fn restore(config: DqnConfig, exact: Option<Arc<Distances>>, seed: u32, isa: Isa, find: &Find) -> Result<Dqn<P>, LearnerError> {
        let mut it = Dqn::new(config, exact, seed, isa)?;
        let table = it.params.table().clone();
        load(
            find,
            &table,
            [
                ("", it.params.values_mut()),
                ("target.", it.target.values_mut()),
                ("adam.m.", &mut it.optimizer.m),
                ("adam.v.", &mut it.optimizer.v),
            ],
        )?;
        let words = |name: &str| words(find, name);
        let [iterations, updates, states, moves, episodes, steps, at] = counters(find, "counters")?;
        it.progress = Progress { iterations, updates, states, moves, episodes };
        it.optimizer.steps = steps;
        if let Some([update, loss, grad_norm, lr, mean_q, episodes, solved]) = partial(find)? {
            it.iteration = InProgress {
                update: update as usize,
                begun: true,
                sums: Stats::of_sums([loss, grad_norm, lr]),
                mean_q: mean_q as f32,
                ended: Ended { episodes: episodes as u32, solved: solved as u32 },
            };
        }

        let count = it.actions.count() as u32;
        let how = words("replay.how")?;
        let [states, next] = [words("replay.states")?, words("replay.next")?];
        if how.len() > it.replay.capacity() || [states, next].iter().any(|of| of.len() != how.len() * P::WORDS) {
            return Err(missing("replay.states").into());
        }
        let each = states.chunks_exact(P::WORDS).zip(next.chunks_exact(P::WORDS));
        for (&how, (state, next)) in how.iter().zip(each) {
            let [action, steps, done, rest] = how.to_le_bytes();
            let sound = u32::from(action) < count && (1..=MOST_STEPS).contains(&usize::from(steps)) && done < 2 && rest == 0;
            let (Some(state), Some(next), true) = (P::from_words(state), P::from_words(next), sound) else {
                return Err(bad("replay.states").into());
            };
            it.replay.push(Transition { state, action, steps, done: done == 1, next });
        }
        let Some((&greatest, priorities)) = floats(find, "replay.priorities")?.split_first() else {
            return Err(missing("replay.priorities").into());
        };
        if !it.replay.set_cursor(at, greatest, priorities) {
            return Err(bad("replay.priorities").into());
        }
        it.curriculum = Curriculum::from_words(&it.config.curriculum, words("curriculum")?).ok_or_else(|| bad("curriculum"))?;
        let mut rest = words("episodes")?;
        for i in 0..it.config.envs {
            it.playing.episodes.resume(i, &mut rest, count).ok_or_else(|| bad("episodes"))?;
        }
        if !rest.is_empty() {
            return Err(missing("episodes").into());
        }
        it.packed.learning.pack(&it.params);
        it.packed.target.pack(&it.target);
        Ok(it)
    }
}
