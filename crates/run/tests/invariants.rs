//! What the crates below the shells promise never to do, read off their sources and manifests.

use std::fs;
use std::path::{Path, PathBuf};

const BELOW_THE_SHELLS: [&str; 5] = ["math", "graph", "worlds", "learn", "run"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Every source line of a crate that is not a comment, with the place it stands at.
fn lines(name: &str) -> Vec<(String, String)> {
    let mut folders = vec![crates().join(name).join("src")];
    let mut lines = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
            lines.extend(code.map(|(i, line)| (format!("{}:{}", path.display(), i + 1), line.to_string())));
        }
    }
    assert!(!lines.is_empty(), "{name} has sources");
    lines
}

/// The one file of cli where something unsafe stands: a monitor is a mapped file.
const MAPS: &str = "ring.rs";

fn never(name: &str, words: &[&str]) {
    never_but_in("", name, words);
}

fn never_but_in(file: &str, name: &str, words: &[&str]) {
    let elsewhere = |place: &str| file.is_empty() || !place.contains(file);
    for (place, line) in lines(name).into_iter().filter(|(place, _)| elsewhere(place)) {
        for word in words {
            assert!(!line.contains(word), "{place} has `{word}`: {}", line.trim());
        }
    }
}

#[test]
fn below_the_shells_there_are_no_files_clocks_threads_or_platforms() {
    let platform = [
        "std::fs",
        "std::net",
        "std::time",
        "std::thread",
        "std::process",
        "std::env",
        "wasm_bindgen",
        "web_sys",
    ];
    for name in BELOW_THE_SHELLS {
        never(name, &platform);
        if name != "math" {
            never(name, &["target_os", "target_arch", "rayon"]);
        }
    }
}

#[test]
fn only_math_is_unsafe_or_names_an_instruction_set() {
    for name in ["graph", "worlds", "learn", "run", "gpu", "cli", "web"] {
        never_but_in(
            if name == "cli" { MAPS } else { "" },
            name,
            &[
                "unsafe {",
                "unsafe fn",
                "unsafe impl",
                "allow(unsafe_code)",
                "target_feature",
                "_mm512",
                "_mm256",
            ],
        );
    }
}

#[test]
fn what_else_is_unsafe_is_one_line_each() {
    let found =
        lines("cli").into_iter().filter(|(place, line)| place.contains(MAPS) && line.contains("unsafe {"));
    assert_eq!(found.count(), 1);
}

#[test]
fn each_crate_knows_only_those_below_it() {
    let may_know: [(&str, &[&str]); 8] = [
        ("math", &[]),
        ("graph", &["math"]),
        ("worlds", &["math"]),
        ("learn", &["math", "graph", "worlds"]),
        ("run", &["math", "graph", "worlds", "learn"]),
        ("gpu", &["math", "graph", "worlds", "learn"]),
        ("cli", &["math", "run", "gpu"]),
        ("web", &["math", "run", "gpu"]),
    ];
    for (name, below) in may_know {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or("").split("\n[").next().unwrap();
        for (other, _) in may_know {
            let known = dependencies
                .lines()
                .any(|l| l.starts_with(&format!("{other}.")) || l.starts_with(&format!("{other} ")));
            assert!(!known || below.contains(&other), "{name} depends on {other}");
        }
    }
}
