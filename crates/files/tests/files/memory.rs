//! Tests of the available memory.

use files::internals::from_files;
use files::memory_bytes;

const MEMINFO: &str = "MemTotal:       16316912 kB\nMemFree:              9 kB\nMemAvailable:   12000000 kB\nBuffers: 1 kB\n";

#[test]
fn available_memory_is_parsed() {
    let available = |meminfo: &str| from_files(|path| (path == "/proc/meminfo").then(|| meminfo.to_string()));
    assert_eq!(available(MEMINFO), 12_000_000 << 10);
    for text in ["MemTotal: 1 kB\n", "MemAvailable: much kB\n", "MemAvailable: 5\n", ""] {
        assert_eq!(available(text), u64::MAX, "{text}");
    }
    assert_eq!(available("MemAvailable: 18446744073709551615 kB"), u64::MAX, "overflow");
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
