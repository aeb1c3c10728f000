//! Which machine trains: what was wished, what there is, and, where both are there, which turned out to be faster.
//!
//! A shell opens the GPU, which can take a while, and offers it; until then the processor trains. Where nobody
//! decided, both are measured for a moment on the run as it is: the processor by the iterations it does anyway, the
//! GPU by a few that are thrown away; for those alone training waits, and no longer than the GPU can still win. It refuses to open anything and to know the time by itself.

use crate::protocol::{Device, DeviceWish};
use learn::{Accelerator, Fault, Harvest, Machine, Ppo};
use math::par::Pinned;

/// Iterations of the processor that are measured first.
const HOME_ITERATIONS: usize = 3;
/// A trial is long enough after either; the first iteration, in which kernels are compiled, does not count.
const TRIAL_S: f64 = 0.15;
const TRIAL_ITERATIONS: u32 = 16;
/// A GPU whose first iteration takes longer is not worth waiting for.
const PATIENCE_S: f64 = 5.0;

#[derive(Default)]
pub(crate) struct Devices {
    wish: DeviceWish,
    machine: Option<Pinned<Box<dyn Machine>>>,
    /// Why there is none.
    missing: Option<Fault>,
    /// The wish was acted upon.
    settled: bool,
    trial: Option<Trial>,
    /// Steps a second at home, of the iterations so far.
    home: Vec<f64>,
}

struct Trial {
    accelerator: Pinned<Box<dyn Accelerator>>,
    harvest: Harvest,
    under_way: bool,
    began_s: f64,
    /// When the first iteration had ended, and how many since.
    counted: Option<(f64, u32)>,
}

/// What settling came to.
pub(crate) enum Settled {
    /// Nothing has changed.
    Already,
    /// The GPU is being timed: this slice is taken.
    Trying,
    /// To be told.
    Now(Device, Option<Fault>),
}

impl Devices {
    pub fn wish(&mut self, wish: DeviceWish) {
        (self.wish, self.settled, self.trial) = (wish, false, None);
        if wish != DeviceWish::Cpu {
            // Asked for again: perhaps it is back.
            self.missing = None;
        }
    }

    pub fn wished(&self) -> DeviceWish {
        self.wish
    }

    /// Whether a shell should open a GPU and offer it.
    pub fn wanted(&self) -> bool {
        self.wish != DeviceWish::Cpu && self.machine.is_none() && self.missing.is_none()
    }

    pub fn offer(&mut self, machine: Result<Box<dyn Machine>, Fault>) {
        match machine {
            Ok(machine) => (self.machine, self.missing) = (Some(Pinned::new(machine)), None),
            Err(fault) => (self.machine, self.missing) = (None, Some(fault)),
        }
        self.settled = false;
    }

    /// The same machine and wish for another run, which is measured anew.
    pub fn for_another_run(&mut self) -> Devices {
        let Devices { wish, machine, missing, .. } = std::mem::take(self);
        Devices { wish, machine, missing, ..Devices::default() }
    }

    pub fn gpu(&self) -> Option<String> {
        self.machine.as_ref().map(|machine| machine.name())
    }

    /// An iteration ended at home.
    pub fn note_rate(&mut self, steps_per_s: f64) {
        if !self.settled && steps_per_s > 0.0 && self.home.len() < 2 * HOME_ITERATIONS {
            self.home.push(steps_per_s);
        }
    }

    /// The GPU that trains works no longer; it is not used again until it is asked for.
    pub fn lose(&mut self, fault: &Fault) -> Device {
        if matches!(fault, Fault::Lost { .. } | Fault::Refused { .. }) {
            (self.machine, self.missing) = (None, Some(fault.clone()));
        }
        self.settled = true;
        self.tell(false, None, first_sentence(fault))
    }

    /// Lends the run again to the GPU that it was with, where its plan has changed.
    pub fn lend_again(&mut self, ppo: &mut Ppo) -> Result<(), Fault> {
        match &self.machine {
            Some(machine) if ppo.is_away() => ppo.lend(machine),
            _ => Ok(()),
        }
    }

    /// At a boundary: acts upon the wish, if that is still to be done and possible.
    pub fn settle(&mut self, ppo: &mut Ppo, now_s: f64) -> Settled {
        if self.settled {
            return Settled::Already;
        }
        match (self.wish, &self.machine, &self.missing) {
            (DeviceWish::Cpu, ..) => {
                ppo.come_home();
                self.decide(false, None, "The processor was chosen.".into())
            }
            (DeviceWish::Auto, None, Some(fault)) => {
                let why = first_sentence(fault);
                self.decide(false, None, why)
            }
            (DeviceWish::Gpu, None, Some(fault)) => {
                let fault = fault.clone();
                self.refuse(fault)
            }
            (_, None, None) => Settled::Already,
            (DeviceWish::Gpu, Some(machine), _) => {
                if ppo.is_away() {
                    return self.decide(true, None, "The GPU was chosen.".into());
                }
                let why = if machine.is_software() {
                    "The GPU was chosen, though it is the processor pretending to be one."
                } else {
                    "The GPU was chosen."
                };
                match ppo.lend(machine) {
                    Ok(()) => self.decide(true, None, why.into()),
                    Err(fault) => self.refuse(fault),
                }
            }
            (DeviceWish::Auto, Some(machine), _) if machine.is_software() => {
                let why = format!("{} is the processor pretending to be a GPU.", machine.name());
                ppo.come_home();
                self.decide(false, None, why)
            }
            (DeviceWish::Auto, Some(_), _) => {
                if ppo.is_away() {
                    // It was chosen by hand until now; its rate at home is not known.
                    ppo.come_home();
                }
                if self.home.len() < HOME_ITERATIONS {
                    return Settled::Already;
                }
                self.go_on_trying(ppo, now_s)
            }
        }
    }

    fn go_on_trying(&mut self, ppo: &mut Ppo, now_s: f64) -> Settled {
        let late = |trial: &Trial| trial.counted.is_none() && now_s - trial.began_s > PATIENCE_S;
        if self.trial.as_ref().is_some_and(late) {
            let why = format!("The GPU was not ready within {PATIENCE_S} seconds.");
            return self.decide(false, None, why);
        }
        let home = self.home.iter().copied().fold(0.0, f64::max);
        match self.try_out(ppo, now_s, home) {
            // While the GPU gets ready, the processor trains on.
            Ok(None) if self.trial.as_ref().is_some_and(|trial| trial.counted.is_none()) => Settled::Already,
            Ok(None) => Settled::Trying,
            Ok(Some(rate)) => {
                let rates = Some([home, rate]);
                if rate <= home {
                    return self.decide(false, rates, "The processor turned out to be faster.".into());
                }
                let Some(machine) = &self.machine else { return Settled::Already };
                match ppo.lend(machine) {
                    Ok(()) => self.decide(true, rates, "The GPU turned out to be faster.".into()),
                    Err(fault) => self.refuse(fault),
                }
            }
            Err(fault) => {
                let why = first_sentence(&fault);
                self.decide(false, None, why)
            }
        }
    }

    /// One look at the trial; gives the GPU's steps a second once it is over, or what they are at most once they are
    /// sure to be fewer than at home.
    fn try_out(&mut self, ppo: &Ppo, now_s: f64, home: f64) -> Result<Option<f64>, Fault> {
        let Some(machine) = &self.machine else { return Ok(None) };
        let trial = match &mut self.trial {
            Some(trial) => trial,
            none => none.insert(Trial {
                accelerator: Pinned::new(machine.take_on(ppo)?),
                harvest: Harvest::default(),
                under_way: false,
                began_s: now_s,
                counted: None,
            }),
        };
        if trial.under_way && trial.accelerator.poll(&mut trial.harvest)? {
            trial.under_way = false;
            match &mut trial.counted {
                None => trial.counted = Some((now_s, 0)),
                Some((_, iterations)) => *iterations += 1,
            }
        }
        let steps = (ppo.config().envs * ppo.config().rollout_steps) as f64;
        if let Some((first_s, n)) = trial.counted {
            let took_s = (now_s - first_s).max(1e-9);
            let at_most = (f64::from(n) + f64::from(u8::from(trial.under_way))) * steps / took_s;
            if took_s >= TRIAL_S && at_most < home {
                return Ok(Some(at_most));
            }
            if n > 0 && !trial.under_way && (took_s >= TRIAL_S || n >= TRIAL_ITERATIONS) {
                return Ok(Some(f64::from(n) * steps / took_s));
            }
        }
        if !trial.under_way {
            ppo.with_turn(false, |turn| trial.accelerator.begin(turn))?;
            trial.under_way = true;
        }
        Ok(None)
    }

    fn decide(&mut self, on_gpu: bool, rates: Option<[f64; 2]>, why: String) -> Settled {
        Settled::Now(self.tell(on_gpu, rates, why), None)
    }

    /// The GPU that was asked for cannot be used.
    fn refuse(&mut self, fault: Fault) -> Settled {
        Settled::Now(self.tell(false, None, first_sentence(&fault)), Some(fault))
    }

    fn tell(&mut self, on_gpu: bool, steps_per_s: Option<[f64; 2]>, why: String) -> Device {
        (self.settled, self.trial) = (true, None);
        Device { wish: self.wish, on_gpu, gpu: self.gpu(), steps_per_s, why }
    }
}

/// What is the matter, without what to do.
fn first_sentence(fault: &Fault) -> String {
    let (text, _) = fault_parts(fault);
    text
}

/// What is the matter, and the next step.
pub(crate) fn fault_parts(fault: &Fault) -> (String, String) {
    let all = fault.to_string();
    let (text, next) = all.rsplit_once(". ").unwrap_or((&all, ""));
    let mut letters = text.chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    (format!("{capital}."), format!("{next}."))
}
