//! Tests of the logic room's commands: circuits on grids and their export.

use crate::common::*;
use run::logic::Circuit;
use serde_json::Value;

fn ran(scratch: &Scratch, args: &str) -> Value {
    scratch.json(format!("run logic {args}"))
}

#[test]
fn a_glider_returns_on_a_periodic_grid() {
    let scratch = Scratch::new();
    scratch.write("glider.txt", ".#.\n..#\n###\n");
    let glider = |more: &str| ran(&scratch, &format!("life --start glider.txt --grid 9x9 {more}"));
    let (one, round) = (glider("--steps 4"), glider("--steps 40 --out round.txt"));
    let moved = "........./........./........./........./.....#.../......#../....###../........./.........";
    assert_eq!(one["cells"], moved);
    assert_eq!((&one["periodic"], &one["on"], &one["gates"]), (&true.into(), &5.into(), &round["gates"]));
    assert!(one["gate_cells_per_s"].as_f64().unwrap() > 0.0);
    assert_eq!(scratch.text("round.txt").trim().replace('\n', "/"), round["cells"].as_str().unwrap());
    // A glider moves by 10 cells in 40 steps. On a grid of 9 x 9 cells with joined borders, the glider is then one cell from its start, as
    // after 4 steps.
    assert_eq!(round["cells"], moved);
    assert_eq!(glider("--steps 40 --periodic=false")["on"], 4, "a block remains in the corner");
    assert_eq!(glider("--steps 1 --damage 4,4,9")["on"], 0);
}

#[test]
fn an_exported_circuit_runs_alike_with_any_number_of_threads() {
    let scratch = Scratch::new();
    scratch.stdout("export logic life --format json --out life.json");
    let run = |circuit: &str, threads: &str, out: &str| {
        let grid = "--grid 1000x701 --steps 20 --seed 3";
        ran(&scratch, &format!("{circuit} {grid} --threads {threads} --out {out}"))
    };
    let (by_hand, read) = (run("life", "1", "one.pbm"), run("life.json", "2", "two.pbm"));
    assert_eq!(by_hand["on"], read["on"]);
    let bytes = scratch.bytes("one.pbm");
    assert!(bytes == scratch.bytes("two.pbm"));
    let head = b"P4\n1000 701\n";
    assert!(bytes.starts_with(head) && bytes.len() == head.len() + 125 * 701);
    let on: u32 = bytes[head.len()..].iter().map(|byte| byte.count_ones()).sum();
    assert_eq!(by_hand["on"], on);
    // A run that starts from the written bitmap continues like the original run.
    let next = ran(&scratch, "life --grid 1000x701 --steps 1 --start one.pbm --out next.pbm");
    let longer = ran(&scratch, "life --grid 1000x701 --steps 21 --seed 3 --out longer.pbm");
    assert_eq!(longer["on"], next["on"]);
    assert!(scratch.bytes("next.pbm") == scratch.bytes("longer.pbm"));
    let text = scratch.stdout("run logic life --grid 8x3 --steps 2");
    assert!(text.lines().count() == 5 && text.contains("gate-cells/s"), "{text}");
}

#[test]
fn members_of_a_checkpoint_can_be_exported() {
    let scratch = Scratch::new();
    let small = "--set population=2 --steps 1 --save run.safetensors --json";
    scratch.stdout(format!("train logic --preset life {small}"));
    for member in ["", "--member 1"] {
        scratch.stdout(format!("export logic run.safetensors --format json --out it.json {member}"));
        let run = |circuit: &str| ran(&scratch, &format!("{circuit} --grid 40x30 --steps 5"));
        let (from_file, from_run) = (run("it.json"), run(&format!("run.safetensors {member}")));
        assert!(from_file["cells"].is_string() && from_file["cells"] == from_run["cells"]);
        assert_eq!(from_file["gates"], from_run["gates"]);
    }
    let none = scratch.run("export logic run.safetensors --format svg --member 2");
    assert!(stderr(&none).contains("there is no member 2 in a population of 2"));
}

#[test]
fn cells_that_do_not_fire_stay_as_they_are() {
    let scratch = Scratch::new();
    let run = |more: &str| ran(&scratch, &format!("life --grid 40x30 --steps 3 {more}"))["cells"].clone();
    let some = run("--fire-rate 0.6");
    assert_eq!(some, run("--fire-rate 0.6 --threads 1"));
    assert_ne!(some, run(""));
    assert_eq!(run("--fire-rate 1"), run(""));
}

#[test]
fn every_format_is_written() {
    let scratch = Scratch::new();
    for (format, words) in [("svg", "<svg "), ("json", "\"hothouse circuit\""), ("verilog", "module life ("), ("rust", "pub fn step(")] {
        assert!(scratch.stdout(format!("export logic life --format {format}")).contains(words));
    }
    // A circuit is no network, so it has none of the formats of networks.
    scratch.fails("export logic life --format onnx", 2, "[possible values: svg, json, verilog, rust]");
}

#[test]
fn only_exported_circuits_are_overwritten() {
    let scratch = Scratch::new();
    let overwritten = |format: &str, text: &str| {
        scratch.write("file", text);
        let output = scratch.run(format!("export logic life --format {format} --out file"));
        assert!(output.status.success() || stderr(&output).contains("would be lost"), "{}", stderr(&output));
        assert_eq!(scratch.text("file") == text, !output.status.success(), "{format}: {text}");
        output.status.success()
    };
    for periodic in [false, true] {
        let circuit = Circuit { periodic, name: "a: b gates, c <&>".into(), ..Circuit::life() };
        assert!(overwritten("svg", &circuit.to_svg()));
        assert!(overwritten("json", &circuit.to_json()));
        assert!(overwritten("verilog", &circuit.to_verilog()) && overwritten("rust", &circuit.to_rust()));
    }
    let rust = Circuit::life().to_rust();
    let (header, rest) = rust.split_once('\n').unwrap();
    for other in [
        "// The farm has 3 gates, 2 fences and a door.\n",
        "two gates, and a road",
        header,
        &format!("{header}\nfn main() {{}}\n"),
        &format!("// x: 3 gates, 2 fences\n{rest}"),
        &format!("fn main() {{}}\n{rust}"),
    ] {
        assert!(!overwritten("rust", other) && !overwritten("verilog", other), "{other}");
    }
    let picture = Circuit::life().to_svg();
    for other in ["<svg><title>The park: a circuit of 3 km</title></svg>", &format!("<html>{picture}</html>")] {
        assert!(!overwritten("svg", other), "{other}");
    }
}

#[test]
fn errors_name_the_remedy() {
    let scratch = Scratch::new();
    for (name, text) in [
        ("notes.txt", "no circuit"),
        ("other.json", "{\"weights\": []}"),
        ("empty.txt", "\n"),
        ("ragged.txt", "...\n..\n"),
        ("wide.txt", "#########"),
    ] {
        scratch.write(name, text);
    }
    let life = scratch.stdout("export logic life --format json");
    let outputs = life.rsplit_once("\"outputs\": ").unwrap().0;
    scratch.write("nowhere.json", format!("{outputs}\"outputs\": [999]}}"));
    scratch.write("loop.json", life.replacen("\"b\":1}", "\"b\":30}", 1));
    for (args, words, status) in [
        ("gone.json", "no file gone.json", 1),
        ("notes.txt", "is not a circuit. Name a JSON file", 1),
        ("other.json", "missing field `format`", 1),
        ("nowhere.json", "but there are only", 1),
        ("loop.json", "remove the loop", 1),
        ("life --member 1", "Omit --member", 2),
        ("life --start empty.txt", "the drawing is empty", 1),
        ("life --start ragged.txt", "row 2 of the drawing", 1),
        ("life --start nothing.txt", "no drawing nothing.txt", 2),
        ("life --start notes.txt", "invalid cell 'n'", 1),
        ("life --start wide.txt", "Use --grid 9x1 or larger", 2),
        ("life --damage 8,0,1", "outside the grid of 8x8", 2),
        ("life --damage -1,0,1", "20,20,5", 2),
        ("life --fire-rate 1.5", "at most 1", 2),
        ("life --out life.png", "neither a .pbm nor a .txt", 2),
    ] {
        scratch.fails(format!("run logic {args} --grid 8x8 --steps 1"), status, words);
    }
    for (args, words, status) in [
        ("--grid 4000000000x4000000000 --steps 1", "MB of memory, and", 1),
        ("--grid 8 --steps 1", "4096x4096", 2),
        ("--grid 0x8 --steps 1", "4096x4096", 2),
        ("--grid 8x8 --steps 0", "whole number from 1", 2),
        ("--grid 4096x4096 --steps 9e15", "--steps or fewer", 1),
    ] {
        scratch.fails(format!("run logic life {args}"), status, words);
    }
}
