//! What no lint can say of the crates, read off their sources and manifests. That those below the shells touch no file, clock,
//! thread or process is clippy's to hold (`clippy.toml`), and the compiler forbids them what is unsafe.

use std::fs;
use std::path::{Path, PathBuf};

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

#[track_caller]
fn never(name: &str, words: &[&str]) {
    for (place, line) in lines(name) {
        for word in words {
            assert!(!line.contains(word), "{place} has `{word}`: {}", line.trim());
        }
    }
}

#[test]
fn platforms_are_named_by_math_and_the_shells_alone() {
    for name in ["graph", "worlds", "learn", "run"] {
        never(name, &["target_os", "target_arch", "target_family"]);
    }
}

#[test]
fn only_math_names_an_instruction_set() {
    for name in ["graph", "worlds", "learn", "run", "gpu", "cli", "web", "python"] {
        never(name, &["target_feature", "core::arch", "std::arch"]);
    }
}

#[test]
fn below_the_shells_the_compiler_forbids_what_is_unsafe_but_in_math() {
    for name in ["graph", "worlds", "learn", "run"] {
        assert!(lines(name).iter().any(|(_, line)| line == "#![forbid(unsafe_code)]"), "{name}");
    }
    // The workspace denies it; these lines are how a shell would allow it.
    for name in ["gpu", "files", "cli", "web"] {
        never(name, &["allow(unsafe_code)", "expect(unsafe_code)"]);
    }
    // There macros write what is unsafe, and nobody else does.
    never("python", &["unsafe {", "unsafe fn", "unsafe impl"]);
}

/// A world that stands in for one in a test of `learn` writes the number, since every world has it; no line reads it.
#[test]
fn no_learner_reads_the_goal_of_its_own_test() {
    for (place, line) in lines("learn") {
        let writes = line.trim() == "solved_at: 0.0,";
        assert!(writes || !line.contains("solved_at"), "{place} has `solved_at`: {}", line.trim());
    }
}

#[test]
fn each_crate_knows_only_those_below_it() {
    let may_know: [(&str, &[&str]); 11] = [
        ("testkit", &[]), // tests alone know it
        ("math", &[]),
        ("graph", &["math"]),
        ("worlds", &["math"]),
        ("learn", &["math", "graph", "worlds"]),
        ("run", &["math", "graph", "worlds", "learn"]),
        ("gpu", &["math", "graph", "worlds", "learn"]),
        ("files", &["run"]),
        ("cli", &["math", "run", "gpu", "files"]),
        ("web", &["math", "run", "gpu"]),
        ("python", &["math", "worlds", "run", "files"]),
    ];
    for (name, below) in may_know {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or("").split("\n[").next().unwrap();
        for (other, _) in may_know {
            let known = dependencies.lines().any(|l| l.starts_with(&format!("{other}.")) || l.starts_with(&format!("{other} ")));
            assert!(!known || below.contains(&other), "{name} depends on {other}");
        }
        let platforms = ["rayon", "wasm-bindgen", "js-sys", "web-sys", "wgpu"];
        for platform in platforms.iter().filter(|_| ["graph", "worlds", "learn", "run"].contains(&name)) {
            assert!(!dependencies.contains(platform), "{name} depends on {platform}");
        }
    }
}

/// Where rooms are listed, each with a line of its own.
const LISTS: [&str; 5] = [
    "crates/run/src/lib.rs",
    "crates/web/src/rooms.rs",
    "www/rooms/index.ts",
    // The tables of README.
    "scripts/figures/parts.mjs",
    "scripts/figures/tables.mjs",
];

/// Sources under a folder, without those of other programs and of rooms.
fn of_no_room(folder: &Path, rooms: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
        if rooms.contains(&&*stem) || ["target", "node_modules", "pkg", "tests"].contains(&&*stem) {
            continue;
        }
        if path.is_dir() {
            of_no_room(&path, rooms, found);
        } else if path.extension().is_some_and(|e| ["rs", "ts", "mjs"].iter().any(|known| e == *known)) {
            found.push(path);
        }
    }
}

#[test]
fn nothing_outside_a_rooms_folders_names_it_but_a_list() {
    let root = crates().parent().unwrap().to_path_buf();
    let rooms: Vec<&str> = run::rooms().iter().map(|room| room.schema().id).collect();
    let mut files = Vec::new();
    for folder in ["crates", "www", "scripts"] {
        of_no_room(&root.join(folder), &rooms, &mut files);
    }
    assert!(files.len() > 150, "{}", files.len());
    let lists = LISTS.map(|list| root.join(list));
    for path in files.iter().filter(|path| !lists.contains(path)) {
        let text = fs::read_to_string(path).unwrap();
        // Tests may take any room as an example.
        let code = text.split("#[cfg(test)]").next().unwrap();
        let is_code = |line: &&str| !["//", "*", "/*"].iter().any(|mark| line.trim_start().starts_with(mark));
        for line in code.lines().filter(is_code) {
            for room in &rooms {
                let names = [format!("\"{room}\""), format!("'{room}'"), format!("#/{room}"), format!("/{room}/")];
                let named = names.iter().any(|name| line.contains(name));
                assert!(!named, "{} names {room}: {}", path.display(), line.trim());
            }
        }
    }
}
