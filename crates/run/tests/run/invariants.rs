//! Rules about the crates that no lint covers. The tests check the sources and the manifests of the crates. `clippy.toml` forbids files,
//! clocks, threads and processes in the crates below the shells, and the compiler forbids unsafe code there.

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Returns the source lines of a crate, each with its location. Comment lines are omitted.
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
    assert!(!lines.is_empty(), "{name} has no sources");
    lines
}

#[track_caller]
fn assert_absent(name: &str, words: &[&str]) {
    for (place, line) in lines(name) {
        for word in words {
            assert!(!line.contains(word), "{place} has `{word}`: {}", line.trim());
        }
    }
}

#[test]
fn only_math_and_the_shells_name_platforms() {
    for name in ["graph", "worlds", "learn", "run"] {
        assert_absent(name, &["target_os", "target_arch", "target_family"]);
    }
}

#[test]
fn only_math_names_an_instruction_set() {
    for name in ["graph", "worlds", "learn", "run", "gpu", "bench", "files", "cli", "web", "tiles", "python"] {
        assert_absent(name, &["target_feature", "core::arch", "std::arch"]);
    }
}

#[test]
fn unsafe_code_is_forbidden_outside_math() {
    for name in ["graph", "worlds", "learn", "run"] {
        assert!(lines(name).iter().any(|(_, line)| line == "#![forbid(unsafe_code)]"), "{name}");
    }
    // The workspace denies unsafe code. With one of these attributes, a shell could contain unsafe code.
    for name in ["gpu", "bench", "files", "cli", "web", "tiles"] {
        assert_absent(name, &["allow(unsafe_code)", "expect(unsafe_code)"]);
    }
    // In the crate `python`, only macros generate unsafe code.
    assert_absent("python", &["unsafe {", "unsafe fn", "unsafe impl"]);
}

/// Texts of files reach the terminal only through `plain.rs`, which escapes control characters. The other files write no text, or escape it
/// themselves.
#[test]
fn only_listed_files_of_the_terminal_write_to_it() {
    let may_write = ["plain.rs", "progress.rs", "outputs/screen/terminal.rs", "outputs/screen/aside.rs"];
    for (place, line) in lines("cli") {
        let code = line.replace("std::io::stdout().is_terminal()", "").replace("std::io::stderr().is_terminal()", "");
        let writes = ["io::stdout", "io::stderr", "print!(", "println!("].iter().any(|word| code.contains(word));
        let listed = may_write.iter().any(|file| place.contains(&format!("cli/src/{file}:")));
        assert!(listed || !writes, "{place} writes to the terminal. Use `plain::stdout`: {}", line.trim());
    }
}

/// Tests define the goal of an environment, and `learn` must not read it.
#[test]
fn learners_never_read_the_goal() {
    assert_absent("learn", &["solved_at"]);
}

#[test]
fn crates_depend_only_on_crates_below() {
    let allowed: [(&str, &[&str]); 14] = [
        ("testkit", &[]), // a dev-dependency only
        ("unify", &[]),   // features of dependencies, without code
        ("math", &[]),
        ("graph", &["math"]),
        ("worlds", &["math"]),
        ("learn", &["math", "graph", "worlds"]),
        ("run", &["math", "graph", "worlds", "learn"]),
        ("gpu", &["math", "graph", "worlds", "learn"]),
        ("tiles", &["math", "worlds", "learn"]),
        ("files", &["run"]),
        ("bench", &["math", "graph", "worlds", "learn", "run", "gpu"]),
        ("cli", &["unify", "math", "run", "gpu", "files", "bench"]),
        ("web", &["math", "run", "gpu", "bench"]),
        ("python", &["math", "worlds", "run", "files"]),
    ];
    for (name, below) in allowed {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or("").split("\n[").next().unwrap();
        for (other, _) in allowed {
            let known = dependencies.lines().any(|l| l.starts_with(&format!("{other}.")) || l.starts_with(&format!("{other} ")));
            assert!(!known || below.contains(&other), "{name} depends on {other}");
        }
        let platforms = ["rayon", "wasm-bindgen", "js-sys", "web-sys", "wgpu"];
        for platform in platforms.iter().filter(|_| ["graph", "worlds", "learn", "run"].contains(&name)) {
            assert!(!dependencies.contains(platform), "{name} depends on {platform}");
        }
    }
}

/// Files outside of the rooms' own sources that may name rooms, each with its reason. No other such file may name a room.
const LISTS: [(&str, &str); 17] = [
    ("crates/math/src/lib.rs", "declares modules"),
    ("crates/worlds/src/lib.rs", "declares modules"),
    ("crates/learn/src/lib.rs", "declares modules"),
    ("crates/gpu/src/lib.rs", "declares modules"),
    ("crates/gpu/src/rooms.rs", "lists rooms with kernels of their own"),
    ("crates/bench/src/lib.rs", "lists rooms that are measured"),
    ("crates/run/src/lib.rs", "lists rooms"),
    ("crates/cli/src/rooms/mod.rs", "lists the rooms' parts of the terminal"),
    ("crates/web/src/rooms.rs", "lists rooms, each a module of the page"),
    ("crates/tiles/src/lib.rs", "lists the small runs of the start page"),
    ("crates/python/src/rooms/mod.rs", "lists the rooms' parts of the Python package"),
    ("www/rooms/index.ts", "lists rooms of the page"),
    ("www/start/index.ts", "lists the tiles of the start page"),
    ("www/samples/own.ts", "shows the editor of a room"),
    ("www/samples/scene.ts", "has a picture for this editor"),
    ("scripts/figures/parts.mjs", "measures the figures of docs/benchmarks.md"),
    ("scripts/figures/tables.mjs", "builds the tables of docs/benchmarks.md"),
];

/// Rooms whose names are everyday words. An identifier may contain such a word in lower case.
const EVERYDAY: [&str; 2] = ["control", "words"];

/// Collects the sources under a folder, except build output and the rooms' own sources. The name of a room's file or folder is the room's
/// name, or begins with the room's name and an underscore.
fn general_sources(folder: &Path, rooms: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
        let own = rooms.iter().any(|room| stem.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')));
        if own || ["target", "node_modules", "pkg", "tests"].contains(&&*stem) {
            continue;
        }
        if path.is_dir() {
            general_sources(&path, rooms, found);
        } else if path.extension().is_some_and(|e| ["rs", "ts", "mjs"].iter().any(|known| e == *known)) {
            found.push(path);
        }
    }
}

/// Returns a line without the contents of its strings.
fn without_strings(line: &str) -> String {
    let (mut code, mut within) = (String::new(), None);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match within {
            Some(mark) if letter == mark => within = None,
            Some(_) if letter == '\\' => drop(letters.next()),
            Some(_) => {}
            None if letter == '"' || letter == '`' => within = Some(letter),
            None => code.push(letter),
        }
    }
    code
}

/// Returns the words of which an identifier consists, in lower case, for example of `ControlView` or `words_of`.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut lower = false;
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && lower) {
            parts.push(String::new());
        }
        lower = letter.is_lowercase();
        if letter != '_' {
            parts.last_mut().unwrap().extend(letter.to_lowercase());
        }
    }
    parts
}

/// Returns true if the identifier is named after the room. A constant may end in a room's name (`GELU_CUBE`).
fn is_named_after(name: &str, room: &str) -> bool {
    let parts = parts(name);
    let upper = name.chars().take_while(|letter| !letter.is_lowercase()).count();
    match (EVERYDAY.contains(&room), upper) {
        // This case matches `ControlView`, but neither `CONTROL` nor `control`.
        (true, upper) => upper == 1 && parts[0] == room,
        (false, upper) if upper == name.len() => parts[0] == room,
        (false, _) => parts.iter().any(|part| part == room),
    }
}

/// Returns true if the code names the room: in a module path, in an identifier, or in a string.
fn names(line: &str, room: &str) -> bool {
    let quoted = [format!("\"{room}\""), format!("'{room}'"), format!("#/{room}"), format!("/{room}/"), format!("/{room}\"")];
    if quoted.iter().any(|name| line.contains(name)) {
        return true;
    }
    let code = without_strings(line);
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut before = "";
    for name in code.split(|letter| !is_part(letter)).filter(|name| !name.is_empty()) {
        let at = name.as_ptr().addr() - code.as_ptr().addr();
        let rest = &code[at + name.len()..];
        let is_module = code[..at].ends_with("::") || rest.starts_with("::") || before == "mod";
        if (name == room && is_module) || is_named_after(name, room) {
            return true;
        }
        before = name;
    }
    false
}

#[test]
fn names_finds_rooms_in_paths_identifiers_and_strings() {
    for line in [
        "use learn::control::Ppo;",
        "mod control;",
        "let view: ControlView = load();",
        "import { view } from \"./control/view\";",
        "if room == 'control' {",
    ] {
        assert!(names(line, "control"), "{line}");
    }
    for line in
        ["let control = flow.control();", "new AbortController()", "\"no-cache control\"", "headers.cache_control", "KeyModifiers::CONTROL"]
    {
        assert!(!names(line, "control"), "{line}");
    }
    assert!(names("fn cube_of(state: u8) {", "cube") && names("let solved = twoCube();", "cube"));
    assert!(!names("let cubed = x * x * x;", "cube") && !names("say(\"a cube of ice\")", "cube"));
}

#[test]
fn only_listed_files_name_rooms() {
    let root = crates().parent().unwrap().to_path_buf();
    let rooms: Vec<&str> = run::rooms().iter().map(|room| room.schema().id).collect();
    let mut files = Vec::new();
    for folder in ["crates", "www", "scripts"] {
        general_sources(&root.join(folder), &rooms, &mut files);
    }
    assert!(files.len() > 150, "{}", files.len());
    let mut found = Vec::new();
    for path in &files {
        let text = fs::read_to_string(path).unwrap();
        let file = path.strip_prefix(&root).unwrap().to_string_lossy().to_string();
        let is_code = |line: &&str| !["//", "*", "/*"].iter().any(|mark| line.trim_start().starts_with(mark));
        for line in text.lines().filter(is_code) {
            found.extend(rooms.iter().filter(|room| names(line, room)).map(|room| (file.clone(), format!("{room}: {}", line.trim()))));
        }
    }
    let listed = |file: &str| LISTS.iter().any(|(list, _)| *list == file);
    let strays: Vec<_> = found.iter().filter(|(file, _)| !listed(file)).collect();
    assert!(strays.is_empty(), "these files name a room: {strays:#?}");
    for (list, why) in LISTS {
        assert!(found.iter().any(|(file, _)| file == list), "{list} ({why}) names no room: remove it from the list");
    }
}
