//! Circuits on the command line: run on grids, and exported.

mod common;

use common::*;
use serde_json::Value;
use std::fs;

fn ran(scratch: &Scratch, args: &[&str]) -> Value {
    serde_json::from_str(&scratch.told(&[&["run", "logic"], args, &["--json"]].concat())).unwrap()
}

#[test]
fn a_glider_comes_back_on_a_grid_whose_borders_are_joined() {
    let scratch = Scratch::new();
    fs::write(scratch.path("glider.txt"), ".#.\n..#\n###\n").unwrap();
    let glider =
        |more: &[&str]| ran(&scratch, &[&["life", "--start", "glider.txt", "--grid", "9x9"], more].concat());
    let (one, round) = (glider(&["--steps", "4"]), glider(&["--steps", "40", "--out", "round.txt"]));
    let moved = "........./........./........./........./.....#.../......#../....###../........./.........";
    assert_eq!(one["cells"], moved);
    assert_eq!((&one["periodic"], &one["on"], &one["gates"]), (&true.into(), &5.into(), &round["gates"]));
    assert!(one["gate_cells_per_s"].as_f64().unwrap() > 0.0);
    let written = fs::read_to_string(scratch.path("round.txt")).unwrap();
    assert_eq!(written.trim().replace('\n', "/"), round["cells"].as_str().unwrap());
    // It went 10 cells over 9, so it is one further than at the start.
    assert_eq!(round["cells"], moved);
    assert_eq!(glider(&["--steps", "40", "--periodic=false"])["on"], 4, "a block is left in the corner");
    assert_eq!(glider(&["--steps", "1", "--damage", "4,4,9"])["on"], 0);
}

#[test]
fn what_is_exported_runs_alike_for_any_number_of_threads() {
    let scratch = Scratch::new();
    scratch.told(&["export", "logic", "life", "--format", "json", "--out", "life.json"]);
    let run = |circuit: &str, threads: &str, out: &str| {
        let grid = ["--grid", "1000x701", "--steps", "20", "--seed", "3", "--threads", threads, "--out", out];
        ran(&scratch, &[&[circuit], &grid[..]].concat())
    };
    let (by_hand, read) = (run("life", "1", "one.pbm"), run("life.json", "2", "two.pbm"));
    assert_eq!(by_hand["on"], read["on"]);
    let bytes = fs::read(scratch.path("one.pbm")).unwrap();
    assert!(bytes == fs::read(scratch.path("two.pbm")).unwrap());
    let head = b"P4\n1000 701\n";
    assert!(bytes.starts_with(head) && bytes.len() == head.len() + 125 * 701);
    let on: u32 = bytes[head.len()..].iter().map(|byte| byte.count_ones()).sum();
    assert_eq!(by_hand["on"], on);
    // A bitmap is a start as well, and says where each cell is.
    let again = ["life", "--grid", "1000x701", "--steps", "1", "--start", "one.pbm", "--out", "next.pbm"];
    let next = ran(&scratch, &again);
    let longer = ["life", "--grid", "1000x701", "--steps", "21", "--seed", "3", "--out", "longer.pbm"];
    assert_eq!(ran(&scratch, &longer)["on"], next["on"]);
    assert!(fs::read(scratch.path("next.pbm")).unwrap() == fs::read(scratch.path("longer.pbm")).unwrap());
    let text = scratch.told(&["run", "logic", "life", "--grid", "8x3", "--steps", "2"]);
    assert!(text.lines().count() == 5 && text.contains("gate-cells/s"), "{text}");
}

#[test]
fn a_checkpoint_gives_the_circuit_of_a_member() {
    let scratch = Scratch::new();
    let small = ["--set", "population=2", "--steps", "1", "--save", "run.safetensors", "--json"];
    scratch.told(&[&["train", "logic", "--preset", "life"], &small[..]].concat());
    for member in [&[][..], &["--member", "1"][..]] {
        let json = [&["export", "logic", "run.safetensors", "--format", "json", "--out", "it.json"], member];
        scratch.told(&json.concat());
        let run = |circuit: &[&str]| ran(&scratch, &[circuit, &["--grid", "40x30", "--steps", "5"]].concat());
        let (from_file, from_run) = (run(&["it.json"]), run(&[&["run.safetensors"], member].concat()));
        assert!(from_file["cells"].is_string() && from_file["cells"] == from_run["cells"]);
        assert_eq!(from_file["gates"], from_run["gates"]);
    }
    let none = ["export", "logic", "run.safetensors", "--format", "svg", "--member", "2"];
    assert!(stderr(&scratch.run(&none)).contains("there is no member 2 in a population of 2"));
}

#[test]
fn cells_that_do_not_fire_stay_as_they_are() {
    let scratch = Scratch::new();
    let run = |more: &[&str]| {
        ran(&scratch, &[&["life", "--grid", "40x30", "--steps", "3"], more].concat())["cells"].clone()
    };
    let some = run(&["--fire-rate", "0.6"]);
    assert_eq!(some, run(&["--fire-rate", "0.6", "--threads", "1"]));
    assert_ne!(some, run(&[]));
    assert_eq!(run(&["--fire-rate", "1"]), run(&[]));
}

#[test]
fn every_format_is_written() {
    let scratch = Scratch::new();
    for (format, words) in [
        ("svg", "<svg "),
        ("json", "\"hothouse circuit\""),
        ("verilog", "module life ("),
        ("rust", "pub fn step("),
    ] {
        assert!(scratch.told(&["export", "logic", "life", "--format", format]).contains(words));
    }
}

#[test]
fn what_cannot_be_is_refused_with_what_would_do() {
    let scratch = Scratch::new();
    fs::write(scratch.path("notes.txt"), "no circuit").unwrap();
    fs::write(scratch.path("other.json"), "{\"weights\": []}").unwrap();
    fs::write(scratch.path("empty.txt"), "\n").unwrap();
    fs::write(scratch.path("ragged.txt"), "...\n..\n").unwrap();
    let life = scratch.told(&["export", "logic", "life", "--format", "json"]);
    let outputs = life.rsplit_once("\"outputs\": ").unwrap().0;
    fs::write(scratch.path("nowhere.json"), format!("{outputs}\"outputs\": [999]}}")).unwrap();
    fs::write(scratch.path("loop.json"), life.replacen("\"b\":1}", "\"b\":30}", 1)).unwrap();
    let small = ["--grid", "8x8", "--steps", "1"];
    let more = |args: &[&'static str]| [args, &small[..]].concat();
    for (args, words, status) in [
        (more(&["gone.json"]), "no file gone.json", 1),
        (more(&["notes.txt"]), "is no circuit. Name a JSON file", 1),
        (more(&["other.json"]), "missing field `format`", 1),
        (more(&["nowhere.json"]), "leads nowhere", 1),
        (more(&["loop.json"]), "no loops", 1),
        (more(&["life", "--member", "1"]), "Leave it out", 2),
        (more(&["life", "--start", "empty.txt"]), "the drawing is empty", 1),
        (more(&["life", "--start", "ragged.txt"]), "row 2 of the drawing", 1),
        (more(&["life", "--start", "nothing.txt"]), "no drawing nothing.txt", 2),
        (more(&["life", "--start", "notes.txt"]), "'n', which is no cell", 1),
        (more(&["life", "--damage", "8,0,1"]), "outside the grid of 8x8", 2),
        (more(&["life", "--damage", "-1,0,1"]), "20,20,5", 2),
        (more(&["life", "--fire-rate", "1.5"]), "at most 1", 2),
        (more(&["life", "--out", "life.png"]), "neither a .pbm nor a .txt", 2),
        (vec!["life", "--grid", "4000000000x4000000000", "--steps", "1"], "MB of memory, and", 1),
        (vec!["life", "--grid", "8", "--steps", "1"], "4096x4096", 2),
        (vec!["life", "--grid", "0x8", "--steps", "1"], "4096x4096", 2),
        (vec!["life", "--grid", "8x8", "--steps", "0"], "whole number from 1", 2),
        (vec!["life", "--grid", "4096x4096", "--steps", "9e15"], "Ask for", 1),
    ] {
        let output = scratch.run(&[&["run", "logic"], &args[..]].concat());
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert!(stdout(&output).is_empty());
    }
    fs::write(scratch.path("wide.txt"), "#".repeat(9)).unwrap();
    let wide = scratch.run(&["run", "logic", "life", "--start", "wide.txt", "--grid", "8x8", "--steps", "1"]);
    assert!(stderr(&wide).contains("Ask for --grid 9x1 or more"));
}
