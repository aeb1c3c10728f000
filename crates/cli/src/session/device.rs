//! The GPU of a training process. A separate thread opens the GPU, so that training does not wait. The run then decides whether to use
//! the GPU.

use gpu::{Gpu, OpenOptions};
use run::protocol::DeviceWish;
use run::{AnyRun, Fault, Machine};
use std::thread::JoinHandle;
use std::time::Instant;

/// Number of seconds after which a run with device `auto` opens a GPU. A shorter run would end before the GPU saves time.
const AUTO_DELAY_S: f64 = 2.0;

type Opened = Result<Box<dyn Machine>, Fault>;

#[derive(Default)]
pub struct GpuOpener {
    opening: Option<JoinHandle<Opened>>,
}

impl GpuOpener {
    /// Creates an opener. If the run requires a GPU, opens the GPU before returning.
    pub fn begin(run: &mut dyn AnyRun) -> GpuOpener {
        let mut opener = GpuOpener::default();
        if run.device_wish() == DeviceWish::Gpu {
            opener.poll(run, 0.0);
            opener.finish(run);
        }
        opener
    }

    /// Starts to open a GPU if the run can use a GPU. With device `auto`, starts only after `AUTO_DELAY_S`. When the GPU is open or opening
    /// has failed, passes the GPU or the error to the run.
    pub fn poll(&mut self, run: &mut dyn AnyRun, elapsed_s: f64) {
        if self.opening.as_ref().is_some_and(JoinHandle::is_finished) {
            self.finish(run);
        }
        let is_due = run.device_wish() == DeviceWish::Gpu || elapsed_s >= AUTO_DELAY_S;
        if is_due && self.opening.is_none() && run.wants_machine() {
            self.opening = Some(std::thread::spawn(open));
        }
    }

    /// If a GPU is being opened, waits for the result and passes the GPU or the error to the run.
    pub fn finish(&mut self, run: &mut dyn AnyRun) {
        if let Some(opening) = self.opening.take() {
            let panicked = |_| Err(Fault::NoAdapter { why: "opening it failed".into() });
            run.offer(opening.join().unwrap_or_else(panicked));
        }
    }
}

fn open() -> Opened {
    let gpu = Gpu::open_blocking(OpenOptions::default())?;
    let began = Instant::now();
    gpu.tune_once_blocking(&|| began.elapsed().as_secs_f64())?;
    Ok(Box::new(gpu))
}
