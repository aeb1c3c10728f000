//! Concurrent episodes. An episode is a scramble, followed by moves until the cube is solved or the maximum number of moves is reached. The
//! transitions of an episode are created when the episode ends. Each transition spans n steps (n-step returns, Sutton 1988), or fewer at
//! the end of the episode.
//!
//! A failed episode may be used again with its final state as the goal (hindsight, Andrychowicz et al. 2017). The states of the cube form a
//! group, so all states of the episode can be expressed relative to the final state. The final state then becomes the solved cube, and each
//! earlier state becomes the state that the remaining moves solve. A relabelled episode is therefore a valid path with the same moves, and
//! all of its transitions are correct.

use super::curriculum::{Curriculum, CurriculumConfig, DEEPEST};
use super::replay::Transition;
use crate::cube::{Cube, Greedy};
use math::Rng;
use worlds::cube::{Actions, Puzzle};

/// Upper limit of [`Play::slack`].
pub const MOST_SLACK: usize = 190;

/// Calls `give` with each transition of an episode. `path` contains the episode's states, and `taken` the actions between the states.
/// `steps` is the maximum number of steps of a transition.
pub fn n_step<P: Copy>(path: &[P], taken: &[u8], steps: usize, solved: bool, mut give: impl FnMut(Transition<P>)) {
    assert_eq!(path.len(), taken.len() + 1);
    for (i, &action) in taken.iter().enumerate() {
        let end = taken.len().min(i + steps);
        give(Transition { state: path[i], action, steps: (end - i) as u8, done: solved && end == taken.len(), next: path[end] });
    }
}

/// Relabels an episode: computes the states from which the actions `taken` lead to the solved state, and writes them to `path`. If the
/// solved state also occurs before the end, `path` begins after the last such occurrence. Returns the number of actions between the states
/// of `path`.
pub fn relabel<P: Puzzle>(actions: &Actions, taken: &[u8], path: &mut Vec<P>) -> usize {
    path.clear();
    path.push(P::SOLVED);
    let mut state = P::SOLVED;
    for &action in taken.iter().rev() {
        state = state.turned(actions.inverse(usize::from(action)));
        if state == P::SOLVED {
            break;
        }
        path.push(state);
    }
    path.reverse();
    path.len() - 1
}

/// Parameters of a round of play. `epsilon` is the probability of a random move. `steps` is the maximum number of steps of a transition.
#[derive(Clone, Copy, Debug)]
pub struct Play<'a> {
    pub actions: Actions,
    pub curriculum: &'a CurriculumConfig,
    /// Maximum number of moves of an episode, in addition to the depth of its scramble.
    pub slack: usize,
    pub epsilon: f32,
    /// Rule that decides whether a move may undo the previous move.
    pub acting: Greedy,
    pub steps: usize,
    /// Share of failed episodes that are used again with their final state as the goal.
    pub hindsight: f32,
}

/// An episode in progress. `path` contains the states so far, and is empty if the episode has not begun. `taken` contains the actions
/// between the states.
#[derive(Clone, Debug)]
struct Episode<P> {
    depth: usize,
    path: Vec<P>,
    taken: Vec<u8>,
}

pub struct Episodes<P> {
    all: Vec<Episode<P>>,
    /// Current state of each episode; the solved state if the episode has not begun.
    states: Vec<P>,
    relabelled: Vec<P>,
}

/// Number of episodes that ended, and number of these episodes that solved the cube.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    pub episodes: u32,
    pub solved: u32,
}

/// Maximum number of moves of an episode.
const LONGEST: usize = DEEPEST + MOST_SLACK;

impl<P: Cube> Episodes<P> {
    /// Creates episodes that have not begun; [`Episodes::states`] begins them.
    pub fn new(count: usize) -> Episodes<P> {
        let episode = |_| Episode { depth: 0, path: Vec::with_capacity(LONGEST + 1), taken: Vec::with_capacity(LONGEST) };
        Episodes { all: (0..count).map(episode).collect(), states: vec![P::SOLVED; count], relabelled: Vec::with_capacity(LONGEST + 1) }
    }

    pub fn bytes(count: usize) -> u64 {
        count as u64 * ((LONGEST + 2) * (size_of::<P>() + 1) + size_of::<Episode<P>>()) as u64
    }

    /// Begins all episodes that have not begun yet. Returns the current state of each episode.
    pub fn states(&mut self, play: &Play, curriculum: &Curriculum, rng: &Rng) -> &[P] {
        for (i, (episode, state)) in self.all.iter_mut().zip(&mut self.states).enumerate() {
            if !episode.path.is_empty() {
                continue;
            }
            let mut numbers = rng.sequence(((2 * i + 1) as u64) << 32);
            episode.depth = curriculum.draw(play.curriculum, &mut numbers);
            // A random walk may end in the solved state. The scramble is then repeated.
            while *state == P::SOLVED {
                let mut last = None;
                for _ in 0..episode.depth {
                    let action = play.actions.drawn(last, &mut numbers);
                    (*state, last) = (state.turned(action), Some(action));
                }
            }
            episode.path.push(*state);
        }
        &self.states
    }

    /// Makes one move in each episode. The move is random, or the best by the action values `q`, `[episodes][actions]`. Calls `give` with
    /// the transitions of the episodes that end, and with those of relabelled episodes.
    pub fn step(&mut self, play: &Play, curriculum: &mut Curriculum, rng: &Rng, q: &[f32], mut give: impl FnMut(Transition<P>)) -> Ended {
        let (count, mut ended) = (play.actions.count(), Ended::default());
        let each = self.all.iter_mut().zip(&mut self.states).zip(q.chunks_exact(count));
        for (i, ((episode, state), q)) in each.enumerate() {
            let mut numbers = rng.sequence(((2 * i) as u64) << 32);
            let back = match play.acting {
                Greedy::Plain => None,
                Greedy::Onward => episode.taken.last().map(|&last| play.actions.inverse(usize::from(last))),
            };
            let action = if numbers.uniform() < play.epsilon {
                let free = count - usize::from(back.is_some());
                let action = numbers.below(free as u32) as usize;
                action + usize::from(back.is_some_and(|back| action >= back))
            } else {
                best(q, back)
            };
            *state = state.turned(action);
            episode.taken.push(action as u8);
            episode.path.push(*state);
            let solved = *state == P::SOLVED;
            if !solved && episode.taken.len() < (episode.depth + play.slack).min(LONGEST) {
                continue;
            }
            n_step(&episode.path, &episode.taken, play.steps, solved, &mut give);
            if !solved && numbers.uniform() < play.hindsight {
                let used = relabel(&play.actions, &episode.taken, &mut self.relabelled);
                let taken = &episode.taken[episode.taken.len() - used..];
                n_step(&self.relabelled, taken, play.steps, true, &mut give);
            }
            curriculum.record(play.curriculum, episode.depth, solved);
            ended.episodes += 1;
            ended.solved += u32::from(solved);
            episode.path.clear();
            episode.taken.clear();
            *state = P::SOLVED;
        }
        ended
    }

    /// Returns words of all episodes for a checkpoint. The word 0 represents an episode that has not begun. The words of any other episode
    /// are its depth, the number of actions, the first state and the actions.
    pub(super) fn words(&self) -> Vec<u32> {
        let mut words = Vec::new();
        for Episode { depth, path, taken } in &self.all {
            let Some(start) = path.first() else {
                words.push(0);
                continue;
            };
            words.extend([*depth as u32, taken.len() as u32]);
            let at = words.len();
            words.resize(at + P::WORDS, 0);
            start.words(&mut words[at..]);
            words.extend(taken.iter().map(|&action| u32::from(action)));
        }
        words
    }

    /// Restores episode `i`, which must not have begun, from the first words of `words`, and removes these words from the slice. Returns
    /// `None` for invalid words.
    pub(super) fn resume(&mut self, i: usize, words: &mut &[u32], actions: u32) -> Option<()> {
        let mut next = |len: usize| {
            let (here, rest) = words.split_at_checked(len)?;
            *words = rest;
            Some(here)
        };
        let depth = next(1)?[0] as usize;
        if depth == 0 {
            return Some(());
        }
        let len = next(1)?[0] as usize;
        let start = P::from_words(next(P::WORDS)?).filter(|start| *start != P::SOLVED)?;
        let taken = next(len)?;
        if depth > DEEPEST || len >= LONGEST || taken.iter().any(|&action| action >= actions) {
            return None;
        }
        let (episode, state) = (&mut self.all[i], &mut self.states[i]);
        (episode.depth, *state) = (depth, start);
        episode.path.push(start);
        for &action in taken {
            *state = state.turned(action as usize);
            episode.taken.push(action as u8);
            episode.path.push(*state);
        }
        Some(())
    }
}

/// Returns the action with the greatest value. If several actions have this value, returns the first. The action `without` is excluded.
pub fn best(q: &[f32], without: Option<usize>) -> usize {
    let mut best = usize::from(without == Some(0));
    for (action, value) in q.iter().enumerate() {
        if *value > q[best] && Some(action) != without {
            best = action;
        }
    }
    best
}
