//! Instruction set, threads and memory limit of a command, and the name of the processor.

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
                let available: Vec<_> = Isa::available().into_iter().map(Isa::name).collect();
                let available = available.join(", ");
                Usage(format!("instruction set '{name}' is not available. Choose one of: {available}"))
            })?,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(args.threads.unwrap_or(0) as usize)
            .build()
            .context("cannot start the threads. Use fewer with --threads")?;
        Ok(Machine { host: Host { isa, memory_bytes: files::memory_bytes() }, pool })
    }

    /// Starts the threads, installs the Ctrl-C handler and runs `work` on the threads.
    pub fn work<T: Send>(args: &MachineArgs, work: impl FnOnce(&Machine) -> Result<T> + Send) -> Result<T> {
        let machine = Machine::new(args)?;
        signals::listen()?;
        machine.pool.install(|| work(&machine))
    }

    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// Returns the name of this machine's processor; `None` if it is unknown.
pub fn processor() -> Option<String> {
    processor_in(&std::fs::read_to_string("/proc/cpuinfo").ok()?)
}

/// Returns the name of the first CPU in the text of Linux's /proc/cpuinfo; `None` if there is no name.
pub fn processor_in(cpuinfo: &str) -> Option<String> {
    let value = |name: &str| {
        let line = cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let name = value("model name")?;
    match (value("cpu family"), value("model")) {
        (Some(family), Some(model)) => Some(format!("{name} (family {family}, model {model})")),
        _ => Some(name),
    }
}
