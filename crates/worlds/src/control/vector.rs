//! Thousands of environments of one kind behind one handle, whatever the kind: what a learner steps.
//! Arrays are in panels, `[count/PANEL][features][PANEL]`, ready for a network.

/// Flags of [`Vector::step`]'s `ended`; the bits above them hold the length of the episode.
pub const TERMINATED: u32 = 1;
pub const TRUNCATED: u32 = 2;
pub const LENGTH_SHIFT: u32 = 2;

/// A state that no environment can be in between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("environment {env} is in no state that {id} can be in; load an earlier checkpoint")]
pub struct Impossible {
    pub env: usize,
    pub id: &'static str,
}

/// Many environments side by side, each beginning again by itself when its episode ends.
pub trait Vector: Send + Sync {
    fn count(&self) -> usize;

    /// Bytes that all of them take.
    fn bytes(&self) -> usize;

    /// What the environments show.
    fn observations(&self) -> &[f32];

    /// Begins anew as environments `first..` of a seed, each at the start of its first episode.
    fn reset(&mut self, seed: u32, first: u32);

    /// One step of every environment. In panels of one feature: `actions`, a choice as a whole number;
    /// `rewards`; `ended`, 0 while the episode goes on, else [`TERMINATED`] and [`TRUNCATED`] and above
    /// them, from [`LENGTH_SHIFT`] on, its length. `reached` is the observation the step led to, which
    /// for an episode that ended is its last; [`Vector::observations`] already shows the next one's first.
    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]);

    /// Leaves one environment's episode and begins its next.
    fn begin(&mut self, env: usize);

    /// Numbers of one environment's state.
    fn state_len(&self) -> usize;

    /// Writes the state of one environment and gives its steps and its episodes so far: all there is to
    /// save.
    fn environment(&self, env: usize, state: &mut [f32]) -> (u32, u32);

    /// Puts back what [`Vector::environment`] gave.
    fn set_environment(&mut self, env: usize, state: &[f32], steps: u32, episodes: u32) -> Result<(), Impossible>;
}
