//! The GPU of a training process: opened on a thread of its own, so that training need not wait for it, and offered
//! to the run, which decides.

use gpu::{Gpu, OpenOptions};
use run::protocol::DeviceWish;
use run::{AnyRun, Fault, Machine};
use std::thread::JoinHandle;
use std::time::Instant;

/// A run that nobody chose a device for looks for a GPU once it has lasted this long: a shorter one would have ended
/// before it was worth it.
const PATIENCE_S: f64 = 2.0;

type Opened = Result<Box<dyn Machine>, Fault>;

#[derive(Default)]
pub struct Opener {
    opening: Option<JoinHandle<Opened>>,
}

impl Opener {
    /// One that has opened the GPU already where the run was told to use it.
    pub fn begin(run: &mut dyn AnyRun) -> Opener {
        let mut opener = Opener::default();
        if run.device_wish() == DeviceWish::Gpu {
            opener.look(run, 0.0);
            opener.hand_over(run);
        }
        opener
    }

    /// Opens a GPU where the run wants one, and hands it over once it is there.
    pub fn look(&mut self, run: &mut dyn AnyRun, lasted_s: f64) {
        if self.opening.as_ref().is_some_and(JoinHandle::is_finished) {
            self.hand_over(run);
        }
        let soon = run.device_wish() == DeviceWish::Gpu || lasted_s >= PATIENCE_S;
        if soon && self.opening.is_none() && run.wants_machine() {
            self.opening = Some(std::thread::spawn(open));
        }
    }

    /// Waits for a GPU that is being opened.
    pub fn hand_over(&mut self, run: &mut dyn AnyRun) {
        if let Some(opening) = self.opening.take() {
            let broken = |_| Err(Fault::NoAdapter { why: "opening it failed".into() });
            run.offer(opening.join().unwrap_or_else(broken));
        }
    }
}

fn open() -> Opened {
    let gpu = Gpu::open_blocking(OpenOptions::default())?;
    let began = Instant::now();
    gpu.tune_once_blocking(&|| began.elapsed().as_secs_f64())?;
    Ok(Box::new(gpu))
}
