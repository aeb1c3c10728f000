//! Interface of all learners. A room is a topic with its own learners and page, such as the cube. Code that works with every room uses only
//! this interface. Code for a single room also calls methods that only this room's learners have.

use crate::settings::{Refusal, Setting, Value};
use crate::{Offload, Parts, Sharing, Slice, Tensor};
use graph::Executor;

/// Named values. In a run's reports, a name identifies a column, or a part of an iteration whose duration is measured.
pub type ByName<T> = Vec<(&'static str, T)>;

/// Implementation of one training algorithm. The weights depend on the settings and the seed, but not on the number of threads.
pub trait Learner: Send + Sync {
    /// Statistics of one iteration.
    type Stats: Into<Iteration>;
    type Progress: Progress;

    /// Runs one slice of work, which usually takes a few milliseconds.
    fn advance(&mut self) -> Slice<Self::Stats>;

    /// Returns true between two iterations. Settings may change only between two iterations.
    fn at_boundary(&self) -> bool;

    /// Returns every setting with its current value, in declaration order.
    fn settings(&self) -> Vec<(&'static Setting, Value)>;

    /// Checks a change of a live setting (a setting that may change during training) without changing the setting. Returns the same result
    /// as [`Learner::change`].
    fn may_change(&self, name: &str, value: &Value) -> Result<(), Refusal>;

    /// Changes a live setting. Call this method only between two iterations.
    fn change(&mut self, name: &str, value: &Value) -> Result<(), Refusal>;

    /// Returns true if [`Learner::parts`] returns a complete state at any time, not only between two iterations.
    fn saves_mid_iteration(&self) -> bool {
        false
    }

    fn progress(&self) -> Self::Progress;

    /// Returns all progress counters except the number of iterations, as pairs of column name and value.
    fn counts(&self) -> ByName<f64> {
        self.progress().counts()
    }

    /// Returns the weights of the network that acts or predicts. The digest (hash) of a run is computed from these weights.
    fn weights(&self) -> &[f32];

    /// Returns the parameter tensors, for display. This method may be called at any time. While the learner trains on another machine, the
    /// tensors have the values that the other machine returned last.
    fn tensors(&self) -> Vec<Tensor<'_>> {
        let weights = self.weights();
        vec![Tensor { name: "weights".into(), shape: vec![weights.len()], weights, gradients: &[] }]
    }

    /// Returns the complete state as named arrays, from which the learner can be restored. Call this method between two iterations, or at
    /// any time if [`Learner::saves_mid_iteration`] returns true.
    fn parts(&self) -> Parts;

    /// Returns true if the learner can be restored from [`Learner::parts`], and the last iteration reported no [`Failure`]. If the method
    /// returns false, the parts must not overwrite a good checkpoint.
    fn is_finite(&self) -> bool;

    /// Sets the profiling clock, which returns seconds since an arbitrary time. The clock does not affect the training result.
    fn set_clock(&mut self, clock: fn() -> f64);

    /// Returns the executor that computes gradients, or the first of several parallel executors. Returns `None` if the learner has no
    /// executor.
    fn executor_mut(&mut self) -> Option<&mut Executor> {
        None
    }

    /// Returns the learner's [`Offload`] interface, or the reason why the learner trains on the CPU only.
    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Err("This learner trains on the CPU only")
    }

    /// Returns the machine on which the learner currently works.
    fn worked_on(&self) -> WorkedOn {
        WorkedOn::Processor
    }

    /// Returns the learner's [`Sharing`] interface, which lets workers compute pieces of an iteration. Returns `None` if the learner does
    /// not support sharing.
    fn sharing(&mut self) -> Option<&mut dyn Sharing> {
        None
    }
}

/// Machine on which a learner works: the CPU, the machine with offloaded work (such as a GPU), or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkedOn {
    Processor,
    /// The machine with offloaded work does all work that determines the digest.
    Offloaded,
    /// The CPU and the machine with offloaded work each do a part of the work that determines the digest.
    Both,
}

impl WorkedOn {
    /// Returns the machine of a learner that offloads either all of its work or none.
    pub(crate) fn of(is_offloaded: bool) -> WorkedOn {
        if is_offloaded { WorkedOn::Offloaded } else { WorkedOn::Processor }
    }
}

/// Statistics of one iteration, as a run reports them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iteration {
    pub metrics: ByName<Option<f64>>,
    /// Seconds spent on each part of the iteration, measured with the profiling clock.
    pub parts_s: ByName<f64>,
    /// Reason why training ends with this iteration; `None` if training can continue.
    pub failure: Option<Failure>,
    /// Amount of work of the iteration, in the unit of [`Offload::pass_work`]. The choice of a device depends on this amount. `None` if the
    /// time per unit may change in later iterations.
    pub work: Option<f64>,
}

/// Reason why a learner cannot continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A loss, a gradient or a weight is not finite.
    Diverged,
    /// The rules of an environment raised an error with this text.
    World(String),
}

impl Failure {
    /// Returns [`Failure::Diverged`] if `finite` is false, else `None`. The caller passes true if all losses, gradients and weights are
    /// finite.
    pub fn unless(finite: bool) -> Option<Failure> {
        (!finite).then_some(Failure::Diverged)
    }
}

/// Progress counters of a learner.
pub trait Progress: Copy {
    fn iterations(&self) -> u64;
    /// Returns all counters except the number of iterations, with their column names.
    fn counts(&self) -> ByName<f64>;
}

/// Declares a `Progress` struct with the number of iterations and the given counters. The name of a counter is also its column name.
#[macro_export]
macro_rules! progress {
    ($($(#[$doc:meta])* $counter:ident),* $(,)?) => {
        /// Progress counters of a learner.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Progress {
            pub iterations: u64,
            $($(#[$doc])* pub $counter: u64),*
        }

        impl $crate::Progress for Progress {
            fn iterations(&self) -> u64 {
                self.iterations
            }

            fn counts(&self) -> $crate::ByName<f64> {
                vec![$((stringify!($counter), self.$counter as f64)),*]
            }
        }
    };
}
