//! Available memory.

/// Files that contain the memory limit of a Linux control group: of version 2, then of version 1.
const GROUP_LIMITS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Returns the available memory in bytes: the available memory of the machine, or the limit of the control group if the limit is smaller.
/// Returns `u64::MAX` if both are unknown.
pub fn memory_bytes() -> u64 {
    from_files(|path| std::fs::read_to_string(path).ok())
}

fn from_files(read: impl Fn(&str) -> Option<String>) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       16316912 kB\nMemFree:              9 kB\nMemAvailable:   12000000 kB\nBuffers: 1 kB\n";

    #[test]
    fn available_memory_is_parsed() {
        assert_eq!(available(MEMINFO), Some(12_000_000 << 10));
        for text in ["MemTotal: 1 kB\n", "MemAvailable: much kB\n", "MemAvailable: 5\n", ""] {
            assert_eq!(available(text), None, "{text}");
        }
        assert_eq!(available("MemAvailable: 18446744073709551615 kB"), None, "overflow");
    }

    #[test]
    fn the_group_limit_applies_if_lower() {
        let with = |meminfo: Option<&str>, second: Option<&str>, first: Option<&str>| {
            from_files(|path| {
                let text = match path {
                    "/proc/meminfo" => meminfo,
                    "/sys/fs/cgroup/memory.max" => second,
                    "/sys/fs/cgroup/memory/memory.limit_in_bytes" => first,
                    _ => panic!("{path}"),
                };
                text.map(String::from)
            })
        };
        let (free, gigabyte) = (12_000_000 << 10, 1 << 30);
        let info = Some(MEMINFO);
        assert_eq!(with(info, None, None), free);
        assert_eq!(with(info, Some("max\n"), None), free);
        assert_eq!(with(info, Some("1073741824\n"), None), gigabyte);
        assert_eq!(with(info, Some("999999999999999\n"), None), free, "the group limit exceeds the memory");
        // Version 1 writes a large number if there is no limit.
        assert_eq!(with(info, None, Some("9223372036854771712\n")), free);
        assert_eq!(with(info, None, Some("1073741824\n")), gigabyte);
        assert_eq!(with(None, Some("1073741824\n"), None), gigabyte);
        assert_eq!(with(None, None, None), u64::MAX, "unknown memory");
    }

    #[test]
    fn the_memory_of_this_system_is_readable() {
        let bytes = memory_bytes();
        assert!(bytes > 1 << 20 && (bytes < 1 << 50 || !cfg!(target_os = "linux")), "{bytes}");
    }
}
