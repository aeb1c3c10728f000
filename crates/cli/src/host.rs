//! The machine: instruction set and threads.

use crate::args::MachineArgs;
use crate::error::Usage;
use crate::signals;
use anyhow::{Context, Result};
use math::Isa;
use run::Host;

pub struct Machine {
    pub host: Host,
    pub pool: rayon::ThreadPool,
}

impl Machine {
    pub fn new(args: &MachineArgs) -> Result<Machine> {
        let isa = match &args.isa {
            None => Isa::best(),
            Some(name) => Isa::from_name(name).filter(|isa| isa.is_available()).ok_or_else(|| {
                let have: Vec<_> = Isa::available().into_iter().map(Isa::name).collect();
                let have = have.join(", ");
                Usage(format!("there is no instruction set '{name}' here. This machine has: {have}"))
            })?,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(args.threads.unwrap_or(0) as usize)
            .build()
            .context("cannot start the threads. Ask for fewer with --threads")?;
        Ok(Machine { host: Host { isa, memory_bytes: files::memory_bytes() }, pool })
    }

    /// Does on its threads what takes long, until Ctrl-C.
    pub fn work<T: Send>(args: &MachineArgs, work: impl FnOnce(&Machine) -> Result<T> + Send) -> Result<T> {
        let machine = Machine::new(args)?;
        signals::listen()?;
        machine.pool.install(|| work(&machine))
    }

    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}
