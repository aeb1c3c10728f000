//! Choice of the device that trains: the CPU or a GPU.
//!
//! The shell (the program around the run) opens the GPU, which can take a while, and offers it to the run. Until the offer, the CPU trains.
//! For the automatic choice, the run measures the speed of both devices on the learner's work. The speed of the CPU is that of ordinary
//! training iterations. A probe measures one option of dividing the work between CPU and GPU. In a probe, the GPU repeats a fixed piece of
//! the learner's work, called a pass, and the results are discarded. The first pass includes the preparation of the GPU. For most learners,
//! the CPU continues to train during the first pass; training waits for the later passes. A probe ends early if its option cannot be the
//! fastest. This module does not open devices or read clocks. An implementation of [`Offload`] defines how a learner offloads.

use crate::protocol::{Device, DeviceWish};
use learn::{Fault, Machine, Offload, Pass};
use math::par::Pinned;

/// Minimum number of CPU iterations whose speed is measured before the first probe.
const PROCESSOR_RATES: usize = 3;
/// Time in seconds after which a probe ends, counted from the end of the first pass. The first pass is not counted, because it compiles
/// kernels.
const PROBE_S: f64 = 0.15;
/// Number of passes after which a probe ends, even before [`PROBE_S`]. The first pass is not counted.
const PROBE_PASSES: u32 = 16;
/// Maximum total time in seconds of the first passes of all options. After this time, the options whose first pass has not ended are not
/// used.
const PATIENCE_S: f64 = 5.0;

#[derive(Default)]
pub(crate) struct Devices {
    wish: DeviceWish,
    machine: Option<Pinned<Box<dyn Machine>>>,
    /// Reason why there is no GPU; `None` if there is a GPU (`machine`) or if the shell has not answered.
    missing: Option<Fault>,
    /// True if the device has been chosen. A new request or offer sets this field to false until the next choice.
    settled: bool,
    probes: Probes,
    /// Work per second of the latest iterations on the CPU, the latest last. The learner defines the unit of work.
    processor: Vec<f64>,
}

/// Probes of the learner's offloading options ([`Offload::ways`]). The probes run one after another. `way` is the index of the present
/// option.
#[derive(Default)]
struct Probes {
    way: usize,
    now: Option<Probe>,
    /// Seconds spent on first passes that have ended, summed over the probes of all options. [`PATIENCE_S`] limits the sum. After a pause
    /// of the run, the next pass of the current probe counts as a first pass again.
    waited_s: f64,
    /// Index of the fastest option so far, and its work per second.
    best: Option<(usize, f64)>,
    /// Reason why an option could not be measured. If several options failed, the reason of the last failure.
    failed: Option<String>,
    /// True if the run was paused since the last poll.
    paused: bool,
}

/// A probe in progress.
struct Probe {
    began_s: f64,
    counted: Option<Counted>,
}

/// Number and work of a probe's passes after the first pass. `since_s` is the time at which the first pass ended.
struct Counted {
    since_s: f64,
    passes: u32,
    work: f64,
}

/// Result of polling the current probe.
enum ProbeStatus {
    /// The first pass has not ended. `waiting` is true if the CPU has no work until the GPU answers.
    NotReady {
        waiting: bool,
    },
    Timing {
        waiting: bool,
    },
    /// Work per second of the option. If the probe ended early because the option is too slow, this number is an upper bound.
    Measured(f64),
    /// The first pass did not end within [`PATIENCE_S`].
    Late,
}

/// Result of [`Devices::settle`].
pub(crate) enum Settled {
    /// This call chose no device. The slice is free for other work.
    Already,
    /// The GPU is being probed, and the probe has used the slice. `waiting` is true if the CPU has no work until the GPU answers.
    Trying { waiting: bool },
    /// The device that this call chose, which the run reports. The fault is present if the requested GPU cannot be used.
    Now(Device, Option<Fault>),
}

impl Devices {
    pub fn wish(&mut self, learner: Option<&mut dyn Offload>, wish: DeviceWish) {
        self.abandon_probes(learner);
        (self.wish, self.settled) = (wish, false);
        if wish != DeviceWish::Cpu {
            // A new request may succeed although an earlier request failed.
            self.missing = None;
        }
    }

    pub fn wished(&self) -> DeviceWish {
        self.wish
    }

    /// Returns true if the shell should open a GPU and offer the GPU. The caller must check whether the learner can use a GPU.
    pub fn wanted(&self) -> bool {
        self.wish != DeviceWish::Cpu && self.machine.is_none() && self.missing.is_none()
    }

    pub fn offer(&mut self, learner: Option<&mut dyn Offload>, machine: Result<Box<dyn Machine>, Fault>) {
        self.abandon_probes(learner);
        match machine {
            Ok(machine) => (self.machine, self.missing) = (Some(Pinned::new(machine)), None),
            Err(fault) => (self.machine, self.missing) = (None, Some(fault)),
        }
        self.settled = false;
    }

    /// Returns the `Devices` of the run that replaces this run, with the same machine and request. The new run measures both devices again.
    pub fn for_another_run(&mut self) -> Self {
        let Devices { wish, machine, missing, .. } = std::mem::take(self);
        Devices { wish, machine, missing, ..Devices::default() }
    }

    pub fn gpu(&self) -> Option<String> {
        self.machine.as_ref().map(|machine| machine.name())
    }

    /// Records the work per second of an iteration on the CPU. Does nothing if the device is already chosen.
    pub fn note_rate(&mut self, work_per_s: f64) {
        if !self.settled && work_per_s > 0.0 {
            if self.processor.len() == 2 * PROCESSOR_RATES {
                self.processor.remove(0);
            }
            self.processor.push(work_per_s);
        }
    }

    /// Records a pause of the run. After a pause, the current probe begins again with a first pass.
    pub fn pause(&mut self) {
        self.probes.paused = true;
    }

    fn abandon_probes(&mut self, learner: Option<&mut dyn Offload>) {
        if let (Some(_), Some(learner)) = (std::mem::take(&mut self.probes).now, learner) {
            learner.end_probe();
        }
    }

    /// Offloads the learner again to the current GPU, after the learner's settings changed. Does nothing without a GPU.
    pub fn offload_again(&mut self, learner: &mut dyn Offload) -> Result<(), Fault> {
        match &self.machine {
            Some(machine) => learner.begin_offload(machine, learner.ways().len() - 1),
            None => Ok(()),
        }
    }

    /// Chooses the CPU after a fault of the GPU, and returns the device report. A GPU that was lost or refused work is dropped. The run
    /// then uses a GPU only after another request or offer.
    pub fn lose(&mut self, fault: &Fault) -> Device {
        if matches!(fault, Fault::Lost { .. } | Fault::Refused { .. }) {
            (self.machine, self.missing) = (None, Some(fault.clone()));
        }
        self.report(false, None, fault.what())
    }

    /// Chooses the device if there is no choice yet and the measurements suffice. The learner must be between two iterations.
    pub fn settle(&mut self, learner: Result<&mut dyn Offload, &'static str>, now_s: f64) -> Settled {
        if self.settled {
            return Settled::Already;
        }
        let learner = match learner {
            Ok(learner) => learner,
            Err(_) if self.wish == DeviceWish::Cpu => {
                return self.decide(false, None, "The CPU was chosen.".into());
            }
            Err(why) => {
                let fault = Fault::CpuOnly { why };
                return match self.wish {
                    DeviceWish::Gpu => self.refuse(fault),
                    _ => self.decide(false, None, fault.what()),
                };
            }
        };
        match (self.wish, &self.machine, &self.missing) {
            (DeviceWish::Cpu, ..) => {
                learner.end_offload();
                self.decide(false, None, "The CPU was chosen.".into())
            }
            (DeviceWish::Auto, None, Some(fault)) => {
                let why = fault.what();
                self.decide(false, None, why)
            }
            (DeviceWish::Gpu, None, Some(fault)) => {
                let fault = fault.clone();
                self.refuse(fault)
            }
            (_, None, None) => Settled::Already,
            (DeviceWish::Gpu, Some(machine), _) => {
                let why =
                    if machine.is_software() { "The GPU was chosen, although it is emulated on the CPU." } else { "The GPU was chosen." };
                match learner.begin_offload(machine, learner.ways().len() - 1) {
                    Ok(()) => self.decide(true, None, why.into()),
                    Err(fault) => self.refuse(fault),
                }
            }
            (DeviceWish::Auto, Some(machine), _) if machine.is_software() => {
                let why = format!("{} is emulated on the CPU.", machine.name());
                learner.end_offload();
                self.decide(false, None, why)
            }
            (DeviceWish::Auto, Some(_), _) => {
                if learner.is_offloaded() {
                    // The learner still offloads because of an earlier choice. During the measurements, the learner must train on the CPU.
                    learner.end_offload();
                }
                if self.processor.len() < PROCESSOR_RATES {
                    return Settled::Already;
                }
                self.continue_probing(learner, now_s)
            }
        }
    }

    /// Advances the probes of the offloading options, one after another. After the last probe, chooses the fastest option or the CPU.
    fn continue_probing(&mut self, learner: &mut dyn Offload, now_s: f64) -> Settled {
        let Some(machine) = &self.machine else { return Settled::Already };
        let processor = self.processor.iter().copied().fold(0.0, f64::max);
        let probes = &mut self.probes;
        while probes.way < learner.ways().len() {
            match probes.poll(learner, machine, processor, now_s) {
                // The CPU continues to train while the GPU prepares the first pass.
                Ok(ProbeStatus::NotReady { .. }) if learner.trains_meanwhile() => return Settled::Already,
                Ok(ProbeStatus::NotReady { waiting } | ProbeStatus::Timing { waiting }) => {
                    return Settled::Trying { waiting };
                }
                Ok(ProbeStatus::Measured(rate)) => {
                    if probes.best.is_none_or(|(_, best)| rate > best) {
                        probes.best = Some((probes.way, rate));
                    }
                    probes.way += 1;
                }
                Ok(ProbeStatus::Late) => {
                    probes.failed = Some(format!("The GPU was not ready within {PATIENCE_S} seconds."));
                    probes.way = learner.ways().len();
                }
                Err(fault) => {
                    probes.failed = Some(fault.what());
                    probes.way += 1;
                    if let Fault::Lost { .. } = fault {
                        (probes.way, probes.best) = (learner.ways().len(), None);
                    }
                }
            }
        }
        match probes.best {
            None => {
                let why = probes.failed.take().unwrap_or_default();
                self.decide(false, None, why)
            }
            Some((_, rate)) if rate <= processor => self.decide(false, Some([processor, rate]), "The CPU is faster.".into()),
            Some((way, rate)) => match learner.begin_offload(machine, way) {
                Ok(()) => self.decide(true, Some([processor, rate]), learner.ways()[way].into()),
                Err(fault) => self.refuse(fault),
            },
        }
    }

    fn decide(&mut self, on_gpu: bool, rates: Option<[f64; 2]>, why: String) -> Settled {
        Settled::Now(self.report(on_gpu, rates, why), None)
    }

    /// Chooses the CPU and reports that the requested GPU cannot be used.
    fn refuse(&mut self, fault: Fault) -> Settled {
        Settled::Now(self.report(false, None, fault.what()), Some(fault))
    }

    fn report(&mut self, on_gpu: bool, rates: Option<[f64; 2]>, why: String) -> Device {
        (self.settled, self.probes) = (true, Probes::default());
        Device { wish: self.wish, on_gpu, gpu: self.gpu(), rates, why }
    }
}

impl Probes {
    /// Advances the probe of the current option; begins the probe if there is none. Ends the probe when its rate is known or its first pass
    /// is late.
    fn poll(&mut self, learner: &mut dyn Offload, machine: &dyn Machine, processor: f64, now_s: f64) -> Result<ProbeStatus, Fault> {
        let mut probe = match self.now.take() {
            Some(probe) => probe,
            None => {
                learner.begin_probe(machine, self.way)?;
                Probe { began_s: now_s, counted: None }
            }
        };
        if std::mem::take(&mut self.paused) {
            (probe.began_s, probe.counted) = (now_s, None);
        }
        if probe.counted.is_none() && self.waited_s + now_s - probe.began_s > PATIENCE_S {
            learner.end_probe();
            return Ok(ProbeStatus::Late);
        }
        let waiting = loop {
            match (learner.advance_probe()?, &mut probe.counted) {
                (Pass::Worked, _) => break false,
                (Pass::Waiting, _) => break true,
                (Pass::Ended(_), None) => {
                    self.waited_s += now_s - probe.began_s;
                    probe.counted = Some(Counted { since_s: now_s, passes: 0, work: 0.0 });
                }
                (Pass::Ended(work), Some(counted)) => {
                    (counted.passes, counted.work) = (counted.passes + 1, counted.work + work);
                    let took_s = now_s - counted.since_s;
                    if took_s >= PROBE_S || counted.passes >= PROBE_PASSES {
                        learner.end_probe();
                        return Ok(ProbeStatus::Measured(counted.work / took_s.max(1e-9)));
                    }
                }
            }
        };
        if let Some(counted) = &probe.counted {
            let took_s = now_s - counted.since_s;
            let at_most = (counted.work + learner.pass_work()) / took_s.max(1e-9);
            if took_s >= PROBE_S && at_most < self.best.map_or(processor, |(_, best)| best.max(processor)) {
                learner.end_probe();
                return Ok(ProbeStatus::Measured(at_most));
            }
        }
        let is_counted = probe.counted.is_some();
        self.now = Some(probe);
        Ok(if is_counted { ProbeStatus::Timing { waiting } } else { ProbeStatus::NotReady { waiting } })
    }
}
