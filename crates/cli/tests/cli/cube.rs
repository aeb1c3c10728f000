//! Tests of the cube's commands: solving, testing, training, saving and resuming.

use crate::common::*;
use serde_json::Value;
use std::process::Output;

const SOLVED: &str = "UUUURRRRFFFFDDDDLLLLBBBB";
/// Stickers of the 2x2x2 after the single move R.
const TURNED: &str = "UFUFRRRRFDFDDBDBLLLLUBUB";
const SOLVED_3: &str = "UUUUUUUUURRRRRRRRRFFFFFFFFFDDDDDDDDDLLLLLLLLLBBBBBBBBB";

fn lines(output: &Output) -> Vec<Value> {
    values(&stdout(output))
}

/// Trains a small network and saves it to `file`.
fn trained(scratch: &Scratch, variant: &str, steps: &str, file: &str) {
    let knobs = "--set hidden=64-32 --set batch=480";
    scratch.stdout(format!("train cube --variant {variant} --steps {steps} --save {file} --json {knobs}"));
}

/// Asserts that each scramble followed by its solution gives the solved cube. The exact table then finds a solution of length 0. One
/// process builds the table for all cubes.
#[track_caller]
fn assert_solved(scratch: &Scratch, solved: &[(&str, Value)]) {
    let solution = |line: &Value| line["solution"].as_str().unwrap_or_else(|| panic!("{line}")).to_string();
    let input: String = solved.iter().map(|(scramble, line)| format!("{scramble} {}\n", solution(line))).collect();
    let found = values(&scratch.stdout_with_input("solve cube --method exact --scramble -", input));
    assert_eq!(found.len(), solved.len());
    for ((scramble, line), found) in solved.iter().zip(found) {
        assert_eq!(found["length"], 0, "{scramble}: {line}");
    }
}

#[test]
fn exact_table_solves_in_order_without_an_agent() {
    let scratch = Scratch::new();
    let exact = "solve cube --method exact";
    let one = |more: &str| lines(&scratch.run(format!("{exact} {more}")))[0].clone();
    let line = one(&format!("--facelets {TURNED}"));
    assert_eq!((&line["solution"], &line["length"], &line["optimal"]), (&"R'".into(), &1.into(), &1.into()));
    assert_eq!(line["metric"], "qtm");
    assert!(line["ms"].is_number() && line["nodes"].is_number());
    assert_eq!(one("--scramble \"R2 U2\"")["length"], 4);
    assert_eq!(one("--scramble \"R2 U2\" --metric htm")["length"], 2);
    assert_eq!(one("--scramble \"D2 L B'\"")["optimal"], 4, "any face may be turned");

    let input = format!("{TURNED}\nUUUU\n\n{}\n{SOLVED}\nUFUFRRRRFDFDDBDBLLLLUBBU", TURNED.to_lowercase());
    let all = values(&scratch.stdout_with_input(format!("{exact} --facelets -"), input));
    assert_eq!(all.len(), 6);
    assert_eq!((&all[0]["length"], &all[3]["length"], &all[4]["length"]), (&1.into(), &1.into(), &0.into()));
    for (at, word) in [(1, "24 stickers"), (2, "24 stickers"), (5, "")] {
        let (error, next) = (all[at]["error"].as_str().unwrap(), all[at]["next_step"].as_str().unwrap());
        assert!(error.contains(word) && !next.is_empty() && all[at]["solution"].is_null(), "{}", all[at]);
    }
    let all = lines(&scratch.run_with_input(format!("{exact} --scramble -"), "R U\nR X\nr\nF'\n"));
    assert_eq!((&all[0]["solution"], &all[3]["solution"]), (&"U' R'".into(), &"F".into()));
    assert!(all[1]["error"].as_str().unwrap().contains("\"X\""), "{}", all[1]);
    assert!(all[2]["next_step"].as_str().unwrap().contains("enter R"), "{}", all[2]);
}

#[test]
fn an_agent_is_trained_saved_tested_resumed_and_solves() {
    let scratch = Scratch::new();
    trained(&scratch, "2x2x2", "300_000", "two.safetensors");
    let from = "solve cube --from two.safetensors --scramble";
    let run_with_input = |more: &str, all: &[&str]| lines(&scratch.run_with_input(format!("{from} - {more}"), all.join("\n")));
    let scrambles = ["R U F'", "R U2 F' R U' F2 R", "D L2 B U R' F"];
    let mut solved: Vec<(&str, Value)> = scrambles.into_iter().zip(run_with_input("", &scrambles)).collect();
    for (_, line) in &solved {
        assert!(line["optimal"].as_u64() <= line["length"].as_u64() && line["nodes"].as_u64() > Some(0));
    }
    // The same agent solves a short scramble by other methods.
    for method in ["greedy", "astar"] {
        let output = scratch.run(format!("{from} \"R U\" --method {method}"));
        solved.push(("R U", lines(&output).remove(0)));
    }
    let far = "R U F2 R' U2 F R2 U' F R U2 F'";
    // If a beam fails, a wider beam is tried, and the output line contains the width of the beam that succeeded.
    let all = [far, "U F2 R' U F' R2 U' R F U2 R'", "F R' U2 R F' U R2 F U' R2 F'", "R2 F U' R' U2 F R' U F2 R"];
    let all: Vec<(&str, Value)> = all.into_iter().zip(run_with_input("--width 1", &all)).collect();
    solved.extend(all.iter().cloned());
    assert_solved(&scratch, &solved);
    let widened = |line: &Value| line["width"].as_u64() > Some(1) && line["nodes"].as_u64() > Some(6 * 40);
    assert!(all.iter().any(|(_, line)| widened(line)), "{all:?}");
    assert!(all.iter().all(|(_, line)| line["width"].is_null() || widened(line)), "{all:?}");
    let output = scratch.run(format!("{from} \"{far}\" --width 2 --nodes 40"));
    assert_eq!(output.status.code(), Some(1));
    let line = &lines(&output)[0];
    let says = |name: &str, words: &str| line[name].as_str().unwrap().contains(words);
    assert!(says("error", "moves ahead") && line["nodes"].as_u64() >= Some(40), "{line}");
    assert!(says("next_step", "wider beam") && line["nearest"].is_number(), "{line}");

    let log = scratch.records("eval cube two.safetensors --states 40");
    let (greedy, search) = (of_kind(&log, "greedy")[0], of_kind(&log, "search")[0]);
    assert_eq!((&greedy["onward"]["states"], &search["all"]["states"]), (&3_674_160.into(), &40.into()));
    assert!(greedy["onward"]["solved"].as_f64() > greedy["plain"]["solved"].as_f64());
    assert_eq!(greedy["by_distance"].as_array().unwrap().len(), 15);
    assert!(search["all"]["solved"].as_f64() > Some(0.9) && search["all"]["optimal"].is_number(), "{search}");
    let words = scratch.stdout("eval cube two.safetensors --states 5 --method greedy");
    assert!(words.contains("greedy, all 3,674,160 states") && words.contains("uniform states"), "{words}");

    let resumed = scratch.summary("resume two.safetensors --steps 350_000");
    assert!(resumed["progress"]["states"].as_f64() >= Some(350_000.0), "{resumed}");

    // Arguments that do not suit the checkpoint are errors.
    trained(&scratch, "3x3x3", "60_000", "three.safetensors");
    scratch.train("--steps 4096 --save pole.safetensors");
    for (args, words) in [
        ("--from two.safetensors --cube 3 --scramble R", &["2x2x2, not the 3x3x3", "Omit --cube"][..]),
        ("--from three.safetensors --cube 2 --scramble R", &["3x3x3, not the 2x2x2"]),
        ("--from two.safetensors --metric htm --scramble R", &["qtm, not htm", "metric=htm"]),
        ("--from none.safetensors --scramble R", &["does not exist"]),
        ("--from pole.safetensors --scramble R", &["not 'cube'"]),
        ("--cube 4 --scramble R", &["4"]),
        ("--method magic --scramble R", &["choose greedy, beam, astar or exact"]),
        ("--cube 2", &["--facelets", "--scramble"]),
        (&format!("--facelets {SOLVED_3} --from two.safetensors"), &["24 stickers"]),
        (&format!("--facelets {SOLVED_3} --from three.safetensors --method exact"), &["no table of distances", "Choose beam"]),
    ] {
        let output = scratch.run(format!("solve cube {args}"));
        let message = stderr(&output);
        assert!(!output.status.success() && words.iter().all(|word| message.contains(word)), "{args}: {message}");
    }
    let output = scratch.run("solve cube --from three.safetensors --scramble \"R U' L\"");
    let line = &lines(&output)[0];
    assert_eq!((line["length"].as_u64(), &line["optimal"]), (Some(3), &Value::Null), "{line}");
}

#[test]
fn without_a_checkpoint_the_newest_run_or_a_new_one_solves() {
    let scratch = Scratch::new();
    let solved = || {
        let output = scratch.run("solve cube --scramble \"R U F\" --seconds 1");
        assert!(output.status.success(), "{}", stderr(&output));
        assert_solved(&scratch, &[("R U F", lines(&output).remove(0))]);
        stderr(&output)
    };
    let message = solved();
    assert!(message.contains("training one for 1.00 s") && message.contains("saved"), "{message}");
    assert_eq!(scratch.cached("safetensors").len(), 1);
    let message = solved();
    assert!(message.contains("latest run of the 2x2x2") && !message.contains("training one"), "{message}");
}

#[test]
fn variants_can_be_swept() {
    let scratch = Scratch::new();
    let knobs = "--set hidden=32-16 --set batch=64 --steps 2000 --seeds 1";
    let log = scratch.records(format!("sweep cube --knob variant=2x2x2,2x2x2-last {knobs}"));
    let runs = of_kind(&log, "sweep_run");
    let mut names: Vec<&str> = runs.iter().map(|run| run["knobs"]["variant"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["2x2x2", "2x2x2-last"]);
    assert_ne!(runs[0]["digest"], runs[1]["digest"]);
    let output = scratch.run(format!("sweep cube --knob variant=2x2x2,unknown {knobs}"));
    assert!(stderr(&output).contains("called 'unknown'"), "{}", stderr(&output));
}

#[test]
fn help_explains_stickers_and_moves() {
    let scratch = Scratch::new();
    let help = scratch.stdout("solve cube --help");
    for words in ["U R F D L B", "row by row", TURNED, "R U2 F'", "--facelets", "qtm"] {
        assert!(help.contains(words), "{words}: {help}");
    }
    assert!(scratch.stdout("solve --help").contains("cube"));
}

#[test]
fn invalid_cubes_are_errors_before_training() {
    let scratch = Scratch::new();
    let refused = |args: &str| {
        let output = scratch.run(format!("solve cube --seconds 20 {args}"));
        assert_eq!(output.status.code(), Some(1), "{args}");
        assert!(!stderr(&output).contains("training one"), "{args}: {}", stderr(&output));
        assert!(scratch.cached("safetensors").is_empty(), "{args}");
        output
    };
    for args in ["--facelets UUUU", "--facelets UUUURRRRFFFFDDDDLLLLBBBR", "--scramble \"R U2 Q\""] {
        assert!(lines(&refused(args))[0]["error"].is_string(), "{args}");
    }
    let message = stderr(&refused("--scramble R --method astar --nodes 4_000_000_000"));
    assert!(message.contains("of memory") && message.contains("Choose fewer nodes"), "{message}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_search_and_finished_results_are_printed() {
    use std::io::Write;
    use std::process::Stdio;
    use std::time::Duration;
    let scratch = Scratch::new();
    trained(&scratch, "3x3x3", "60_000", "three.safetensors");
    let far = "R U F2 R' U2 F R2 U' F L U2 F' D2 B R' D";
    let start = |args: &str| {
        let mut command = scratch.hothouse(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Running::start(&mut command)
    };
    let long = "--method beam --width 4096 --nodes 100_000_000";
    let mut running = start(&format!("solve cube --from three.safetensors --scramble - {long}"));
    let mut input = running.process.stdin.take().unwrap();
    writeln!(input, "R\n{far}").unwrap();
    assert!(running.read_to("\n").contains("solution"));
    std::thread::sleep(Duration::from_millis(300));
    running.interrupt();
    assert_eq!(running.wait(), Some(1));
    assert_eq!(running.rest(), "", "an interrupted search has no line");
    assert!(running.errors().contains("stopped before all cubes were solved"));

    let mut running = start("eval cube three.safetensors --states 1000000 --method greedy");
    running.read_to("cube / ");
    std::thread::sleep(Duration::from_millis(500));
    running.interrupt();
    assert_eq!(running.wait(), Some(1));
    let (log, message) = (running.rest(), running.errors());
    assert!(message.contains("stopped after ") && message.contains(" of 1000000 states"), "{message}");
    assert!(log.contains("uniform states") && !log.contains("1,000,000 uniform"), "{log}");
}
