//! How much memory there is for what is read and made.

/// Where Linux says how much memory a group of processes may have: its second version, and its first.
const GROUP_LIMITS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// What this process may still allocate; without end where the system does not say.
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

/// None for `max`, which is no limit.
fn group_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       16316912 kB\nMemFree:              9 kB\nMemAvailable:   12000000 kB\nBuffers: 1 kB\n";

    #[test]
    fn memory_is_what_the_system_calls_available() {
        assert_eq!(available(MEMINFO), Some(12_000_000 << 10));
        for text in ["MemTotal: 1 kB\n", "MemAvailable: much kB\n", "MemAvailable: 5\n", ""] {
            assert_eq!(available(text), None, "{text}");
        }
        assert_eq!(available("MemAvailable: 18446744073709551615 kB"), None, "more than a number holds");
    }

    #[test]
    fn a_group_of_processes_may_have_less() {
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
        let said = Some(MEMINFO);
        assert_eq!(with(said, None, None), free);
        assert_eq!(with(said, Some("max\n"), None), free);
        assert_eq!(with(said, Some("1073741824\n"), None), gigabyte);
        assert_eq!(with(said, Some("999999999999999\n"), None), free, "the group may have more than there is");
        // The first version writes no limit as a number.
        assert_eq!(with(said, None, Some("9223372036854771712\n")), free);
        assert_eq!(with(said, None, Some("1073741824\n")), gigabyte);
        assert_eq!(with(None, Some("1073741824\n"), None), gigabyte);
        assert_eq!(with(None, None, None), u64::MAX, "a system that does not say");
    }

    #[test]
    fn what_this_system_says_can_be_read() {
        let bytes = memory_bytes();
        assert!(bytes > 1 << 20 && (bytes < 1 << 50 || !cfg!(target_os = "linux")), "{bytes}");
    }
}
