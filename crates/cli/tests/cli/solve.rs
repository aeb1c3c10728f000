//! Tests of `hothouse solve`: the lines, the table and the exit status. Some runs stay unsolved.

use crate::common::*;

#[test]
fn each_seed_and_each_environment_has_a_line() {
    let lines = Scratch::new().records("solve --env Acrobot-v1 --seeds 2");
    assert_eq!(lines.len(), 3);
    for (i, line) in lines[..2].iter().enumerate() {
        assert_eq!((&line["kind"], &line["variant"]), (&"seed".into(), &"Acrobot-v1".into()));
        assert_eq!((&line["seed"], &line["solved"]), (&(i + 1).into(), &true.into()));
        let mean = line["mean_return"].as_f64().unwrap();
        assert!((-100.0..0.0).contains(&mean), "{mean}");
        assert!((1..=1_000_000).contains(&line["steps"].as_u64().unwrap()) && line["seconds"].as_f64() > Some(0.0));
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
fn an_unsolved_run_is_an_error_with_a_remedy() {
    let scratch = Scratch::new();
    let args = "solve --env Pendulum-v1 --seeds 1 --steps 40000";
    let output = scratch.run(args);
    assert_eq!(output.status.code(), Some(1));
    let (message, table) = (stderr(&output), stdout(&output));
    assert!(message.contains("one run was not solved") && message.contains("--steps"), "{message}");
    assert!(table.contains("not solved") && table.contains("0 of 1") && table.contains("-200"), "{table}");

    let output = scratch.run(format!("{args} --json"));
    assert_eq!(output.status.code(), Some(1));
    let lines = records(&stdout(&output));
    assert_eq!((&lines[0]["solved"], &lines[1]["solved"]), (&false.into(), &0.into()));
    assert!(lines[0]["steps"].as_u64().unwrap() >= 40_000);
}

#[test]
fn invalid_arguments_are_errors() {
    let scratch = Scratch::new();
    for (args, word) in [("--env Pong-v1", "CartPole-v1"), ("--seeds 0", "1"), ("--steps many", "many")] {
        scratch.fails(format!("solve {args}"), 2, word);
    }
}
