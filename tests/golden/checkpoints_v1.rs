//! Makes control.v1.safetensors and backgammon.v1.safetensors, and says where the program that saved them goes on to: a test
//! of crates/run as it was at commit 0e3bb78, the last with format 1. There: put it at crates/run/tests/checkpoints_v1.rs, run
//! cargo test --release -p run --test checkpoints_v1 -- --nocapture
//! on a machine with fused multiply-add, and copy the files from the temporary folder.

use math::Isa;
use run::Experiment;
use run::backgammon::Parlour;
use run::backgammon::protocol as backgammon;
use run::protocol::{Command, Config, Event};
use std::collections::BTreeMap;

fn knobs(list: &[(&str, f64)]) -> BTreeMap<String, f64> {
    list.iter().map(|(name, value)| (name.to_string(), *value)).collect()
}

/// The best of each arithmetic.
fn machines() -> [Isa; 2] {
    let other = |isa: &Isa| isa.fused() != Isa::best().fused();
    [Isa::best(), Isa::available().into_iter().find(other).unwrap()]
}

fn write(name: &str, file: &[u8]) {
    std::fs::write(std::env::temp_dir().join(format!("{name}.v1.safetensors")), file).unwrap();
}

/// With a knob turned after ten iterations, until some after it is solved.
#[test]
fn control() {
    let small = [("envs", 64.0), ("rollout_steps", 16.0), ("hidden", 8.0), ("minibatches", 2.0)];
    let config = Config { seed: 1, knobs: knobs(&small), ..run::default_config() };
    let mut run = Experiment::new(config, Isa::best()).unwrap();
    run.command(Command::Start).unwrap();
    let (mut now_s, mut end, mut turned) = (0.0, u32::MAX, false);
    while run.progress().iteration < end {
        now_s += 0.001;
        run.advance(now_s);
        if run.progress().iteration == 10 && !std::mem::replace(&mut turned, true) {
            run.command(Command::SetKnob { name: "entropy".into(), value: 0.005 }).unwrap();
        }
        if run.events().iter().any(|event| matches!(event, Event::Solved { .. })) {
            end = (run.progress().iteration + 8) / 8 * 8 + 8;
        }
    }
    let file = run.save();
    println!("saved at {:?}: {:?}", run.progress(), run.digest());
    write("control", &file);
    for isa in machines() {
        let mut run = Experiment::restore(&file, isa).unwrap();
        run.command(Command::Start).unwrap();
        let end = run.progress().iteration + 32;
        while run.progress().iteration < end {
            now_s += 0.001;
            run.advance(now_s);
        }
        println!("goes on to {:?}: {:?}", run.progress(), run.digest());
    }
}

/// With a knob turned after two rounds, a judgement and a game in progress, within the first minute, after which an agent is kept
/// that takes as much room as the learner's own.
#[test]
fn strong() {
    use backgammon::{Act, Command, Engine, Event, Setup, Who};
    let small = [("hidden", 16.0), ("games", 24.0), ("batch", 128.0)];
    let config = Config { seed: 3, knobs: knobs(&small), ..run::backgammon::default_config() };
    let mut run = Parlour::new(config, Isa::best()).unwrap();
    run.command(Command::Start).unwrap();
    let agent = Engine { who: Who::Now, evals: 1 };
    run.sit(Setup { seats: [None, Some(agent)], length: 3, cube: true, seed: 1 }).unwrap();
    let (mut now_s, mut turned, mut judged) = (0.0, false, false);
    while run.progress().rounds < 12 || !judged {
        now_s += 0.001;
        run.advance(now_s);
        if run.progress().rounds == 2 && !std::mem::replace(&mut turned, true) {
            run.command(Command::SetKnob { name: "lr".into(), value: 0.002 }).unwrap();
        }
        judged |= run.events().iter().any(|event| matches!(event, Event::Judged(_)));
    }
    run.act(&Act::Roll).unwrap();
    loop {
        let table = run.table().unwrap();
        let may = table.may;
        let act = match table.legal.first() {
            Some(_) if table.moves.len() >= 7 && !may.confirm => break,
            _ if may.reply => Act::Reply,
            _ if may.answer => Act::Take,
            _ if may.roll => Act::Roll,
            _ if may.confirm => Act::Confirm,
            Some(step) => Act::Step { from: step.from, to: step.to },
            None => Act::NextGame,
        };
        run.act(&act).unwrap();
    }
    let file = run.save();
    println!("saved at {:?}: {:?}", run.progress(), run.digest());
    write("backgammon", &file);
    for isa in machines() {
        let mut run = Parlour::restore(&file, isa).unwrap();
        run.command(Command::Start).unwrap();
        let end = run.progress().rounds + 16;
        while run.progress().rounds < end {
            now_s += 0.001;
            run.advance(now_s);
        }
        println!("goes on to {:?}: {:?}", run.progress(), run.digest());
    }
}
