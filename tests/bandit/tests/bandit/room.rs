//! The bandit as a library. These tests do not use the terminal program.

use bandit::Bandit;
use run::protocol::{Command, Event, Value};
use run::{AnyRun, Host, Run};

/// Returns true if a run with seed 3 and this learning rate is solved within `pulls` pulls.
fn solved(lr: f64, pulls: f64) -> bool {
    let host = Host::new(math::Isa::best());
    let mut config = run::permalink::decode("#/bandit?machine=three-arms&seed=3", host).unwrap().config;
    config.knobs.insert("lr".into(), lr.into());
    let mut run = Run::<Bandit>::new(config, host).unwrap();
    run.command(Command::Start).unwrap();
    for second in 0.. {
        if run.solved().is_some() || run.progress().counts[0] >= pulls {
            break;
        }
        run.advance(f64::from(second));
    }
    run.solved().is_some()
}

#[test]
fn training_solves_the_bandit_unless_the_learning_rate_is_too_small() {
    bandit::add();
    assert!(solved(0.1, 1e6));
    assert!(!solved(0.001, 4096.0));
}

#[test]
fn choices_and_texts_work_in_links_commands_changes_and_checkpoints() {
    bandit::add();
    let host = Host::new(math::Isa::best());
    let link = "#/bandit?machine=three-arms&seed=2&payouts=0.1%200.8&baseline=none";
    let config = run::permalink::decode(link, host).unwrap().config;
    assert_eq!(config.knobs["payouts"], Value::from("0.1 0.8"));
    let decoded = run::permalink::decode(&run::permalink::encode(&config, None), host).unwrap();
    assert_eq!(decoded.config, config);
    assert!(run::native_command(&config).contains("--set payouts='0.1 0.8'"));

    let mut run = Run::<Bandit>::new(config, host).unwrap();
    run.command(Command::Start).unwrap();
    (0..20).for_each(|i| assert!(run.advance(f64::from(i))));
    run.command(Command::SetKnob { name: "baseline".into(), value: "mean".into() }).unwrap();
    let marked = |event: &Event| matches!(event, Event::Mark(mark) if mark.to == Value::from("mean"));
    assert!(run.events().iter().any(marked));
    let refused = run.command(Command::SetKnob { name: "payouts".into(), value: "1 2".into() }).unwrap_err();
    assert!(refused.next_step().contains("Reset"), "{refused}");
    let mut restored = Run::<Bandit>::restore(&run.save().unwrap(), host).unwrap();
    restored.command(Command::Start).unwrap();
    for i in 20..60 {
        run.advance(f64::from(i));
        restored.advance(f64::from(i));
    }
    while restored.progress().iteration < run.progress().iteration {
        restored.advance(99.0);
    }
    assert_eq!(restored.digest(), run.digest());
}
