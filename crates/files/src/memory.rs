//! Available memory.

use crate::error::refused;
use anyhow::Result;
use std::io::ErrorKind;

/// Files that contain the memory limit of a Linux control group: of version 2, then of version 1.
const GROUP_LIMITS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Returns the available memory in bytes: the available memory of the machine, or the limit of the control group if the limit is smaller.
/// Returns `u64::MAX` if both are unknown.
pub fn memory_bytes() -> u64 {
    from_files(|path| std::fs::read_to_string(path).ok())
}

pub fn from_files(read: impl Fn(&str) -> Option<String>) -> u64 {
    let free = read("/proc/meminfo").and_then(|text| available(&text));
    let group = GROUP_LIMITS.into_iter().find_map(|path| group_limit(&read(path)?));
    free.into_iter().chain(group).min().unwrap_or(u64::MAX)
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1 << 10)
}

/// Parses a limit in bytes. Returns `None` for a text that is no number, such as `max`, which means that there is no limit.
fn group_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

/// Returns an error if `bytes` exceeds `memory`, the number of free bytes. `shown` is the name for the error message.
pub fn check_room(bytes: u64, memory: u64, shown: &str) -> Result<()> {
    if bytes <= memory {
        return Ok(());
    }
    Err(refused(
        ErrorKind::FileTooLarge,
        format!("{shown} needs {}, but only {} of memory are free. Use a machine with more memory", amount(bytes), amount(memory)),
    ))
}

/// Formats a number of bytes: `512 bytes`, `5 MB`.
pub fn amount(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{} MB", bytes >> 20) }
}
