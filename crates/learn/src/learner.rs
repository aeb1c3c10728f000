//! What every learner has. A run knows no more of one; a room adds what it asks of its own.

use crate::settings::{Refusal, Setting, Value};
use crate::{Offload, Parts, Sharing, Slice};
use graph::Executor;

/// Values by the names of a room's columns.
pub type ByName<T> = Vec<(&'static str, T)>;

/// An algorithm under way. The same settings and seed give the same weights, whatever the threads.
pub trait Learner: Send + Sync {
    /// An iteration in numbers.
    type Stats: Into<Iteration>;
    type Progress: Progress;

    /// One slice of work of a few milliseconds.
    fn advance(&mut self) -> Slice<Self::Stats>;

    /// Between two iterations, where its settings may change.
    fn at_boundary(&self) -> bool;

    /// Every setting with its value in force, in the order of their declaration.
    fn settings(&self) -> Vec<(&'static Setting, Value)>;

    /// Returns the error that [`Learner::change`] would return.
    fn may_change(&self, name: &str, value: &Value) -> Result<(), Refusal>;

    /// Changes a live setting, at a boundary.
    fn change(&mut self, name: &str, value: &Value) -> Result<(), Refusal>;

    /// Whether its parts are all there is also within an iteration.
    fn saves_within(&self) -> bool {
        false
    }

    fn progress(&self) -> Self::Progress;

    /// What it counts, by name.
    fn counts(&self) -> ByName<f64> {
        self.progress().counts()
    }

    /// Those that act, for a digest.
    fn weights(&self) -> &[f32];

    /// All that it is made from again, by name, between two iterations and where it [`Learner::saves_within`].
    fn parts(&self) -> Parts;

    /// Whether there is anything worth saving: it can be made from its parts, and the last iteration's losses and gradients were
    /// numbers. A learner that has diverged should not overwrite a good save.
    fn is_finite(&self) -> bool;

    /// Tells where the time goes by this clock, in seconds from anywhere. It leaves no trace in what is learned.
    fn set_clock(&mut self, clock: fn() -> f64);

    /// What computes the gradients of its steps, where that is a plan; of several side by side the first.
    fn executor_mut(&mut self) -> Option<&mut Executor> {
        None
    }

    /// Itself, or why it works on the processor alone.
    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Err("This learner has nothing to lend to a GPU")
    }

    /// Where the newest work was done.
    fn worked_on(&self) -> WorkedOn {
        WorkedOn::Processor
    }

    /// Itself, where others can do pieces of its iterations.
    fn sharing(&mut self) -> Option<&mut dyn Sharing> {
        None
    }
}

/// Which machine worked on what has been done of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkedOn {
    Processor,
    /// All of what the digest covers.
    Offloaded,
    Both,
}

impl WorkedOn {
    /// Of a learner that lends all of its work or none.
    pub(crate) fn of(is_offloaded: bool) -> WorkedOn {
        if is_offloaded { WorkedOn::Offloaded } else { WorkedOn::Processor }
    }
}

/// An iteration as a run tells of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Iteration {
    pub metrics: ByName<Option<f64>>,
    /// Seconds by the clock that was set.
    pub parts_s: ByName<f64>,
    /// Losses and gradients are numbers still.
    pub finite: bool,
    /// What was done, in the unit of [`Offload::pass_work`], where other iterations will take as long for it: for the choice of
    /// a device.
    pub work: Option<f64>,
}

/// How far a learner has come.
pub trait Progress: Copy {
    fn iterations(&self) -> u64;
    /// What else it counts, by name.
    fn counts(&self) -> ByName<f64>;
}

/// Declares what the learners of a room count beside their iterations, each counter by the name of its column.
#[macro_export]
macro_rules! progress {
    ($($(#[$doc:meta])* $counter:ident),* $(,)?) => {
        /// How far a learner has come.
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
