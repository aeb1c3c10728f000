//! A GPU as the machine that learners of both rooms lend work to.

use crate::backgammon::CoachOnGpu;
use crate::device::Gpu;
use crate::ppo::OnGpu;
use learn::backgammon::published::away::{Blueprint, Coach};
use learn::{Accelerator, Fault, Machine, Ppo};

impl Machine for Gpu {
    fn name(&self) -> String {
        format!("{} ({})", self.about().name, self.about().backend)
    }

    fn is_software(&self) -> bool {
        self.about().software
    }

    fn take_on(&self, ppo: &Ppo) -> Result<Box<dyn Accelerator>, Fault> {
        Ok(Box::new(OnGpu::new(self, ppo)?))
    }

    fn coach(&self, blueprint: &Blueprint) -> Result<Box<dyn Coach>, Fault> {
        Ok(Box::new(CoachOnGpu::new(self, blueprint)?))
    }
}
