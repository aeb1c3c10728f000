//! Tests of the training thread.

use cli::internals::budget::Budget;
use cli::internals::monitor_file::MonitorFile;
use cli::internals::{Record, SaveTarget, Session, Signals, Update};
use files::{CHECKPOINT, Claim, MONITOR};
use run::Host;
use run::protocol::{Command, DeviceWish, Event};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{channel, sync_channel};

/// If the process is killed, at most 30 seconds of training and one iteration are lost.
#[test]
fn autosaves_every_30_seconds_can_be_resumed() {
    const SLICE_S: f64 = 0.25;
    const SAVE_EVERY_S: f64 = 30.0;
    let folder = testkit::Scratch::new("autosave");
    let file = folder.path("run.safetensors");
    let host = Host::new(math::Isa::best());
    let small = [("envs", 64.0), ("rollout_steps", 16.0), ("hidden", 16.0), ("minibatches", 2.0)];
    let knobs = small.map(|(name, value)| (name.to_string(), value.into())).into();
    let config = run::protocol::Config { knobs, ..run::config_of(run::room("control").unwrap()) };
    let mut run = run::begin(config, host).unwrap();
    run.command(Command::Device { wish: DeviceWish::Cpu }).unwrap();
    let schema = run.schema();
    let monitor = MonitorFile::create(Claim::new(&folder.path("run.ring"), MONITOR).unwrap(), schema, "about").unwrap();
    let claim = Claim::new(&file, CHECKPOINT).unwrap();

    let (calls, signals) = (AtomicU64::new(0), Signals::new());
    let clock = || calls.fetch_add(1, Relaxed) as f64 * SLICE_S;
    let (_request, requests) = channel();
    // The queue has capacity 0, so the test receives each record before training continues.
    let (update, updates) = sync_channel(0);
    let session = Session {
        run,
        budget: Budget { seconds: Some(100.0), ..Budget::default() },
        out_of_reach: None,
        target: SaveTarget::new(Some(claim), SAVE_EVERY_S),
        interactive: false,
        program: "hothouse".into(),
        resume_flags: String::new(),
        clock: &clock,
        signals: &signals,
        requests,
        updates: update,
        monitor: Ok(monitor),
        monitor_is_named: true,
    };
    // `trained_s` contains the training time after each iteration. `saves` contains the number of iterations and the file's content at
    // each save.
    let (mut trained_s, mut saves) = (vec![0.0], Vec::new());
    std::thread::scope(|scope| {
        let trainer = scope.spawn(|| session.train());
        for update in &updates {
            match update {
                Update::Record(record) => match *record {
                    Record::Event(Event::Metrics(row)) => trained_s.push(row.progress.train_s),
                    Record::FileSaved { .. } => {
                        saves.push((trained_s.len() - 1, std::fs::read(&file).unwrap()));
                    }
                    _ => {}
                },
                Update::Answer(_) => {}
            }
        }
        trainer.join().unwrap().unwrap();
    });
    // The last save is the save at the end of the run.
    let (_, ended) = saves.pop().unwrap();
    let last_s = trained_s[trained_s.len() - 1];
    assert_eq!(saves.len(), (last_s / SAVE_EVERY_S) as usize, "{last_s} s");
    let mut before_s = 0.0;
    for (at, saved) in &saves {
        let (due_s, now_s) = (before_s + SAVE_EVERY_S, trained_s[*at]);
        assert!(now_s >= due_s && trained_s[at - 1] < due_s, "saved at {now_s} s, due at {due_s} s");
        before_s = now_s;
        let mut run = run::restore(saved, host).unwrap();
        assert_eq!((run.progress().iteration as usize, run.progress().train_s), (*at, now_s));
        run.command(Command::Start).unwrap();
        while run.progress().iteration as usize + 1 < trained_s.len() {
            run.advance(0.0);
        }
        assert_eq!(run.digest(), run::restore(&ended, host).unwrap().digest(), "the resumed run ends with the same weights");
    }
}
