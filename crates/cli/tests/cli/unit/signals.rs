//! Tests of the signals that a process ignores since its start.

use cli::internals::signals::{child_ignores, ignored_in};
use std::process::Command;

#[test]
fn linux_lists_the_ignored_signals() {
    let status = "Name:\tcat\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000004003\nSigCgt:\t0000000000000004\n";
    for (signal, expected) in [(1, true), (2, true), (3, false), (15, true), (16, false)] {
        assert_eq!(ignored_in(status, signal), Some(expected), "{signal}");
    }
    assert_eq!(ignored_in("Name:\tcat\n", 1), None);
    assert_eq!(ignored_in("SigIgn:\tmany\n", 1), None);
}

/// On a system without /proc, a child process that inherits the ignored signals shows them.
#[test]
fn a_child_shows_the_ignored_signals() {
    const TERM: i32 = 15;
    assert!(!child_ignores(TERM));
    let inherited = Command::new("sh").args(["-c", &format!("trap '' TERM; sh -c 'kill -{TERM} $$'")]).status().unwrap();
    assert!(inherited.success());
}
