//! Updates of a population on another machine. The CPU draws starts and targets and sends them. The updates of an iteration return no
//! results. After the last update, the CPU requests the parameters and Adam moments of all members. If the machine is lost, the CPU repeats
//! at most one iteration.

use super::offloaded::Offloaded;
use super::{Ending, Member, Population, Stats, optimiser};
use crate::logic::offload::{OffloadSpec, Trained};
use crate::offload::request;
use crate::{Fault, Learner, Machine, Offload, Pass, Slice};
use math::par::{self, Pinned};

impl Offloaded {
    fn new(population: &Population, machine: &dyn Machine) -> Result<Offloaded, Fault> {
        let (members, experiment) = (population.members(), population.experiment());
        let spec = OffloadSpec {
            architecture: experiment.architecture.clone(),
            form: members[0].trainer.automaton().form,
            rollout: experiment.training.clone(),
            loss_channels: experiment.shown(),
            members: members.len(),
        };
        let [starts, targets] = spec.sizes().map(|size| vec![0.0; size * members.len()]);
        let mut there = Offloaded {
            machine: Pinned::new(request(machine, &spec)?),
            trained: Trained::default(),
            sent: vec![None; members.len()],
            begun: 0,
            learns: vec![false; members.len()],
            starts,
            targets,
        };
        there.place(members)?;
        Ok(there)
    }

    /// Sends each member whose copy on the machine is outdated.
    fn place(&mut self, members: &[Member]) -> Result<(), Fault> {
        for (i, member) in members.iter().enumerate() {
            let here = Some((member.seed, member.trainer.updates()));
            if self.sent[i] != here {
                self.machine.with_mut(|there| there.set_member(i, &member.trainer))?;
                self.sent[i] = here;
            }
        }
        Ok(())
    }

    /// Draws the data of the next update and starts the update. After the last update of an iteration, also requests the result.
    fn begin_update(&mut self, population: &Population) -> Result<(), Fault> {
        let (members, experiment) = (&population.members, &population.experiment);
        if self.begun == 0 {
            let alone = members.len() == 1;
            self.learns.iter_mut().zip(members).for_each(|(learns, member)| *learns = member.learns(alone));
        }
        let [starts, targets] = [&mut self.starts, &mut self.targets].map(|all| {
            let size = all.len() / members.len();
            all.chunks_exact_mut(size)
        });
        let mut batches: Vec<_> = starts.zip(targets).collect();
        par::each_mut(&mut batches, |i, (start, target)| {
            if self.learns[i] {
                let update = members[i].trainer.updates() + u64::from(self.begun);
                let hard = (population.config.hard_share, &members[i].checked.missed[..]);
                experiment.fill(members[i].seed, update, hard, start, target);
            }
        });
        let optimiser = optimiser(&population.config);
        let Offloaded { machine, learns, starts, targets, .. } = self;
        machine.with_mut(|there| there.step(&optimiser, learns, starts, targets))?;
        self.begun += 1;
        if self.begun == population.config.updates {
            self.machine.with_mut(|there| there.ask())?;
        }
        Ok(())
    }
}

impl Offload for Population {
    fn ways(&self) -> &'static [&'static str] {
        &["Training on the GPU is faster."]
    }

    fn is_offloaded(&self) -> bool {
        self.offloaded.is_some()
    }

    fn begin_offload(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        assert!(self.at_boundary(), "offloading begins between two iterations");
        self.offloaded = Some(Offloaded::new(self, machine)?);
        Ok(())
    }

    fn end_offload(&mut self) {
        // If the iteration's result has not arrived, the CPU repeats all updates. If the result has arrived, the CPU only ends the
        // iteration.
        if self.offloaded.take().is_some() && self.ending.is_none() {
            (self.under_way, self.parts_s) = (false, [0.0; 2]);
        }
    }

    fn begin_probe(&mut self, machine: &dyn Machine, _: usize) -> Result<(), Fault> {
        self.probe = Some(Offloaded::new(self, machine)?);
        Ok(())
    }

    /// Runs one slice of a probe, which measures the machine's speed. A pass of the probe is one iteration, whose results are discarded.
    fn advance_probe(&mut self) -> Result<Pass, Fault> {
        let Some(mut probe) = self.probe.take() else { return Ok(Pass::Waiting) };
        let pass = if probe.begun < self.config.updates {
            probe.begin_update(self)?;
            Pass::Worked
        } else if probe.is_here()? {
            Pass::Ended(self.pass_work())
        } else {
            Pass::Waiting
        };
        self.probe = Some(probe);
        Ok(pass)
    }

    /// Returns the number of updates in an iteration, over all members that train.
    fn pass_work(&mut self) -> f64 {
        let alone = self.members.len() == 1;
        let learning = self.members.iter().filter(|member| member.learns(alone)).count();
        learning as f64 * f64::from(self.config.updates)
    }

    fn end_probe(&mut self) {
        self.probe = None;
    }
}

impl Population {
    pub(super) fn advance_offloaded(&mut self, mut there: Offloaded) -> Slice<Stats> {
        let began_s = (self.clock)();
        if self.ending.is_some() {
            self.offloaded = Some(there);
            return self.advance_end(began_s);
        }
        self.under_way = true;
        let slice = if there.begun < self.config.updates {
            let placed = if there.begun == 0 { there.place(&self.members) } else { Ok(()) };
            placed.and_then(|()| there.begin_update(self)).map(|()| Slice::Worked)
        } else {
            there.is_here().map(|here| if here { self.apply_result(&mut there) } else { Slice::Waiting })
        };
        match slice {
            Ok(slice) => {
                self.offloaded = Some(there);
                self.parts_s[0] += (self.clock)() - began_s;
                slice
            }
            Err(fault) => {
                // Updates without a result are repeated on the CPU.
                (self.under_way, self.parts_s) = (false, [0.0; 2]);
                Slice::Stopped(fault)
            }
        }
    }

    /// Copies the result of an iteration into the members.
    fn apply_result(&mut self, there: &mut Offloaded) -> Slice<Stats> {
        let updates = self.config.updates;
        for (i, member) in self.members.iter_mut().enumerate() {
            member.begin(0);
            if there.learns[i] {
                let sums = there.trained.sums[i];
                let after = member.trainer.updates() + u64::from(updates);
                member.trainer.set_state(&there.trained.state(i, after));
                there.sent[i] = Some((member.seed, after));
                member.done = updates;
                (member.loss_sum, member.grad_norm_sum) = (sums.loss / member.target.len() as f32, sums.grad_norm);
                member.loss = Some(member.loss_sum / updates as f32);
            }
        }
        self.ending = Some(Ending::default());
        Slice::Worked
    }
}
