//! Interface of all learners. Runs use only this interface; a room adds the methods that it needs.

use crate::settings::{Refusal, Setting, Value};
use crate::{Offload, Parts, Sharing, Slice};
use graph::Executor;

/// Values, each with its column name.
pub type ByName<T> = Vec<(&'static str, T)>;

/// Learner of one algorithm. The same settings and seed give the same weights for any number of threads.
pub trait Learner: Send + Sync {
    /// Statistics of one iteration.
    type Stats: Into<Iteration>;
    type Progress: Progress;

    /// Runs one slice of work, a few milliseconds long.
    fn advance(&mut self) -> Slice<Self::Stats>;

    /// Returns true between two iterations, where settings may change.
    fn at_boundary(&self) -> bool;

    /// Returns every setting with its current value, in declaration order.
    fn settings(&self) -> Vec<(&'static Setting, Value)>;

    /// Returns the error that [`Learner::change`] would return.
    fn may_change(&self, name: &str, value: &Value) -> Result<(), Refusal>;

    /// Changes a live setting. Call it at a boundary only.
    fn change(&mut self, name: &str, value: &Value) -> Result<(), Refusal>;

    /// Returns true if [`Learner::parts`] is also complete within an iteration.
    fn saves_mid_iteration(&self) -> bool {
        false
    }

    fn progress(&self) -> Self::Progress;

    /// Counters by column name.
    fn counts(&self) -> ByName<f64> {
        self.progress().counts()
    }

    /// Weights of the acting network, for a digest.
    fn weights(&self) -> &[f32];

    /// Complete state by name, from which the learner can be restored. Call it between two iterations, or anywhere if
    /// [`Learner::saves_mid_iteration`].
    fn parts(&self) -> Parts;

    /// Returns true if the state is worth saving: it can be restored, and the losses and gradients of the last iteration were finite. A
    /// learner that has diverged must not overwrite a good checkpoint.
    fn is_finite(&self) -> bool;

    /// Sets the profiling clock (seconds, arbitrary epoch). It does not affect the training result.
    fn set_clock(&mut self, clock: fn() -> f64);

    /// Executor that computes the gradients of a plan; the first if several run in parallel. `None` if the learner has none.
    fn executor_mut(&mut self) -> Option<&mut Executor> {
        None
    }

    /// Returns the learner's [`Offload`] interface, or the reason why it trains on the CPU only.
    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Err("This learner trains on the CPU only")
    }

    /// Machine that computed the newest work.
    fn worked_on(&self) -> WorkedOn {
        WorkedOn::Processor
    }

    /// Returns the learner's [`Sharing`] interface, if other workers can compute pieces of its iterations.
    fn sharing(&mut self) -> Option<&mut dyn Sharing> {
        None
    }
}

/// Machine that computed the finished part of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkedOn {
    Processor,
    /// All work that determines the digest was offloaded.
    Offloaded,
    /// Both machines computed a part of this work.
    Both,
}

impl WorkedOn {
    /// Result for a learner that offloads all of its work or none.
    pub(crate) fn of(is_offloaded: bool) -> WorkedOn {
        if is_offloaded { WorkedOn::Offloaded } else { WorkedOn::Processor }
    }
}

/// Statistics of one iteration, as a run reports them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iteration {
    pub metrics: ByName<Option<f64>>,
    /// Seconds per part of the iteration, by the profiling clock.
    pub parts_s: ByName<f64>,
    /// True if all losses and gradients are finite.
    pub finite: bool,
    /// Work of the iteration, in the unit of [`Offload::pass_work`], for the choice of a device. `None` if the time per unit may change in
    /// later iterations.
    pub work: Option<f64>,
}

/// Progress counters of a learner.
pub trait Progress: Copy {
    fn iterations(&self) -> u64;
    /// Further counters, by column name.
    fn counts(&self) -> ByName<f64>;
}

/// Declares the counters that the learners of a room have besides their iterations. Each counter has the name of its column.
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
