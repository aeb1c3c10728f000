//! Vectorized environments of one kind behind a common trait, for learners. A panel contains the values of `PANEL` environments. Arrays are
//! `[panels][features][PANEL]`, the input layout of the networks.

use super::fault::WorldFault;
use super::shape::Shape;
use super::world::Text;

/// Flag in `ended` of [`Vector::step`]: the episode has terminated.
pub const TERMINATED: u32 = 1;
/// Flag in `ended` of [`Vector::step`]: the episode has reached the step limit.
pub const TRUNCATED: u32 = 2;
/// Number of flag bits in `ended` of [`Vector::step`]; the higher bits are the length of the episode.
pub const LENGTH_SHIFT: u32 = 2;

/// Error for a saved state that the environment cannot have between two steps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the saved state of environment {env} is not a valid state of {id}; load another checkpoint")]
pub struct InvalidState {
    pub env: usize,
    pub id: Text,
}

/// Many environments of one kind. When an episode of an environment ends, its next episode starts in the same step.
pub trait Vector: Send + Sync {
    fn count(&self) -> usize;

    /// Returns the number of bytes of memory that all environments use.
    fn bytes(&self) -> usize;

    /// Returns the current observations, in panels.
    fn observations(&self) -> &[f32];

    /// Returns the masks of the choices in the current states, in panels with one feature per choice. A value is 1 if the choice is
    /// permitted, otherwise 0. In every state, at least one choice is permitted. The slice is empty if the kind is not masked; see
    /// [`Kind::masked`](super::Kind::masked).
    fn masks(&self) -> &[f32] {
        &[]
    }

    /// Restarts all environments at the start of their first episodes. The environments are then those of `seed` with the numbers
    /// `first..first + count`.
    fn reset(&mut self, seed: u32, first: u32);

    /// Steps every environment. `actions` are panels with one feature per number of an action; a discrete action is the index of a choice.
    /// `rewards` and `ended` are panels of one feature. A word of `ended` is 0 during an episode. After the last step of an episode, the
    /// word contains the flags [`TERMINATED`] and [`TRUNCATED`], and the episode's length from bit [`LENGTH_SHIFT`] on. `reached` receives
    /// the observations after the step. After the end of an episode, [`Vector::observations`] instead returns the first observation of the
    /// next episode.
    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]);

    /// Begins or continues a step as [`Vector::step`] does, but returns false before its end if `work` is used up. The caller then repeats
    /// the call with the same buffers, and calls no other method except [`Vector::reset`] until a call returns true. The division of a
    /// step does not affect its results. `work` counts an instruction of the rules for [`PANEL`](math::PANEL) environments as 1, and is
    /// reduced by the work done. Environments with cheap steps ignore it.
    fn step_part(&mut self, _work: &mut u64, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) -> bool {
        self.step(actions, reached, rewards, ended);
        true
    }

    /// Steps every environment as [`Vector::step`] does, except the environments in `held`. A held environment keeps its state and its
    /// observation. Its reward is 0, and its word in `ended` is 0.
    fn step_except(&mut self, held: &[u32], actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        let len = self.state_len();
        let mut states = vec![0.0; held.len() * len];
        let save = |(&env, state)| self.environment(env as usize, state);
        let ages: Vec<(u32, u32)> = held.iter().zip(states.chunks_exact_mut(len)).map(save).collect();
        self.step(actions, reached, rewards, ended);
        for ((&env, (steps, episodes)), state) in held.iter().zip(ages).zip(states.chunks_exact(len)) {
            let env = env as usize;
            self.set_environment(env, state, steps, episodes).expect("the state was valid before");
            (rewards[env], ended[env]) = (0.0, 0);
        }
    }

    /// Returns the first error that the rules of an environment raised since the last [`Vector::reset`]. The environment keeps the state
    /// before the failed step, which [`Vector::environment`] returns. If the start of an episode failed, all numbers of the state are 0.
    /// Further steps of the environment give the reward 0 and do not end the episode, until the caller starts another episode or sets the
    /// state.
    fn fault(&self) -> Option<WorldFault> {
        None
    }

    /// Draws the picture of one environment. Returns its shapes, or the error that the rules raised. Most kinds draw no pictures; see
    /// [`Kind::size`](super::Kind::size).
    fn draw(&mut self, _env: usize) -> Result<Vec<Shape>, WorldFault> {
        Ok(Vec::new())
    }

    /// Starts the next episode of one environment.
    fn begin(&mut self, env: usize);

    /// Returns the number of values in one environment's state.
    fn state_len(&self) -> usize;

    /// Writes the state of the environment `env` to `state`. Returns the number of steps taken in the current episode, and the number of
    /// earlier episodes. The state and these two numbers are sufficient to restore the environment.
    fn environment(&self, env: usize, state: &mut [f32]) -> (u32, u32);

    /// Restores one environment from the values of [`Vector::environment`]. Returns an error if the values are not possible.
    fn set_environment(&mut self, env: usize, state: &[f32], steps: u32, episodes: u32) -> Result<(), InvalidState>;
}
