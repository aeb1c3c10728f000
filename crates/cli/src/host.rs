//! The machine: instruction set, threads and memory.

use crate::Usage;
use crate::args::MachineArgs;
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
        Ok(Machine { host: Host { isa, memory_bytes: memory_bytes() }, pool })
    }

    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}

/// What this process may still allocate; without end where the system does not say.
fn memory_bytes() -> u64 {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let free = read("/proc/meminfo").and_then(|text| available(&text));
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let group =
        number("/sys/fs/cgroup/memory.max").or_else(|| number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
    free.into_iter().chain(group).min().unwrap_or(u64::MAX)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_the_system_calls_available() {
        let text = "MemTotal:       16316912 kB\nMemFree: 9 kB\nMemAvailable:   12000000 kB\n";
        assert_eq!(available(text), Some(12_000_000 << 10));
        assert_eq!(available("MemTotal: 1 kB\n"), None);
        assert!(memory_bytes() > 1 << 20);
    }
}
