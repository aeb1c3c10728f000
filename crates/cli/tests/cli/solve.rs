//! `hothouse solve`: its lines, its table, its exit status, and what it says of a run that was not solved.

use serde_json::Value;
use std::process::{Command, Output, Stdio};

fn solve(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hothouse"));
    command.arg("solve").args(args).current_dir(std::env::temp_dir()).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn it_gives_a_line_for_each_seed_and_one_for_the_environment() {
    let output = solve(&["--env", "Acrobot-v1", "--seeds", "2", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = lines(&output);
    assert_eq!(lines.len(), 3);
    for (i, line) in lines[..2].iter().enumerate() {
        assert_eq!((&line["kind"], &line["variant"]), (&"seed".into(), &"Acrobot-v1".into()));
        assert_eq!((&line["seed"], &line["solved"]), (&(i + 1).into(), &true.into()));
        let mean = line["mean_return"].as_f64().unwrap();
        assert!((-100.0..0.0).contains(&mean), "{mean}");
        assert!(
            (1..=1_000_000).contains(&line["steps"].as_u64().unwrap())
                && line["seconds"].as_f64() > Some(0.0)
        );
    }
    let all = &lines[2];
    assert_eq!((&all["kind"], &all["solved"], &all["of"]), (&"environment".into(), &2.into(), &2.into()));
    assert_eq!(all["solved_at"], -100.0);
    let of = |name: &str| lines[..2].iter().map(|line| line[name].as_f64().unwrap()).collect::<Vec<_>>();
    let lowest = of("mean_return").into_iter().fold(f64::INFINITY, f64::min);
    assert_eq!(all["lowest_return"], lowest);
    assert!(of("seconds").contains(&all["median_seconds"].as_f64().unwrap()));
}

#[test]
fn a_run_that_was_not_solved_is_a_failure_with_a_way_on() {
    let args = ["--env", "Pendulum-v1", "--seeds", "1", "--steps", "40000"];
    let output = solve(&args);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("one run was not solved") && said.contains("--steps"), "{said}");
    let table = text(&output.stdout);
    assert!(table.contains("not solved") && table.contains("0 of 1") && table.contains("-200"), "{table}");

    let output = solve(&[&args[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    assert_eq!((&lines[0]["solved"], &lines[1]["solved"]), (&false.into(), &0.into()));
    assert!(lines[0]["steps"].as_u64().unwrap() >= 40_000);
}

#[test]
fn what_cannot_be_solved_is_refused() {
    for (args, word) in
        [(["--env", "Pong-v1"], "CartPole-v1"), (["--seeds", "0"], "1"), (["--steps", "many"], "many")]
    {
        let output = solve(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = text(&output.stderr);
        assert!(said.contains(word), "{said}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}
