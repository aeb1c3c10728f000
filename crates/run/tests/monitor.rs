//! The monitor, written and read as shells do it: what goes in comes out, whole and in its order,
//! however much there is of it and whoever reads when.

use proptest::prelude::*;
use run::monitor::{MAGIC, Memory, Reader, State, Told, WORDS, Writer, heap};
use run::protocol::{Digest, Evaluation, Event, Level, Mark, Metrics, Progress};
use run::{RunError, default_config, knob_list};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

fn progress(i: u32) -> Progress {
    Progress {
        iteration: i,
        env_steps: u64::from(i) * 65_536,
        episodes: u64::from(i) * 300 + 1,
        train_s: f64::from(i) / 64.0,
    }
}

/// Every number tells which iteration it belongs to, so that a mixture of two is found out.
fn metrics(i: u32) -> Metrics {
    let x = |column: u32| f64::from(i) + f64::from(column) / 64.0;
    Metrics {
        progress: progress(i),
        mean_return: (!i.is_multiple_of(3)).then(|| x(1)),
        mean_length: (!i.is_multiple_of(5)).then(|| x(2)),
        policy_loss: x(3),
        value_loss: x(4),
        entropy: x(5),
        approx_kl: x(6),
        clip_fraction: x(7),
        explained_variance: x(8),
        grad_norm: x(9),
        lr: x(10),
        steps_per_s: x(11),
        shares: std::array::from_fn(|i| x(12 + i as u32)),
    }
}

fn evaluation(i: u32) -> Evaluation {
    let mean_return = f64::from(i);
    Evaluation {
        progress: progress(i),
        episodes: 100,
        mean_return,
        min_return: -mean_return,
        max_return: mean_return + 1.0,
    }
}

fn mark(i: u32) -> Mark {
    let knobs = knob_list("CartPole-v1");
    let knob = knobs[i as usize % knobs.len()].name.into();
    Mark { progress: progress(i), knob, from: 1.0 / f64::from(i + 1), to: f64::from(i) }
}

fn event(kind: u8, i: u32) -> Event {
    match kind {
        0 => Event::Evaluation(evaluation(i)),
        1 => Event::Mark(mark(i)),
        2 => Event::Solved { progress: progress(i), threshold: 475.0 },
        3 => Event::Digest(Digest {
            iteration: i,
            weights: format!("{:016x}", u64::from(i) << 40),
            arithmetic: if i.is_multiple_of(2) { "fused" } else { "unfused" }.into(),
        }),
        4 => Event::Notice {
            level: Level::Warning,
            text: format!("\"Ünïcode\" ✓ of {i}."),
            next_step: "-".repeat(i as usize % 50),
        },
        5 => began(i, i % 7),
        _ => Event::Metrics(metrics(i)),
    }
}

/// A run that begins at iteration `i` with some history.
fn began(i: u32, rows: u32) -> Event {
    Event::Began {
        config: run::protocol::Config { seed: i, ..default_config() },
        environment: Box::new(run::environments().swap_remove(0)),
        knobs: BTreeMap::from([("lr".to_string(), 1e-3 * f64::from(i))]),
        history: (i..i + rows).map(metrics).collect(),
        marks: (i..i + rows / 2).map(mark).collect(),
        evaluations: (i..i + rows / 3).map(evaluation).collect(),
        progress: if rows > 0 { progress(i + rows - 1) } else { progress(i) },
    }
}

fn pair() -> (Writer, Arc<[AtomicU64]>) {
    let memory = heap();
    (Writer::new(Box::new(memory.clone()), "about").unwrap(), memory)
}

fn reader(memory: &Arc<[AtomicU64]>) -> Reader {
    Reader::open(Box::new(memory.clone())).unwrap()
}

fn events(told: Vec<Told>) -> Vec<Event> {
    let events = told.into_iter().filter_map(|told| match told {
        Told::Event(event) => Some(event),
        Told::Shell(_) => None,
    });
    events.filter(|event| !matches!(event, Event::Running { .. })).collect()
}

fn iterations<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<u32> {
    let mut all = Vec::new();
    for event in events {
        match event {
            Event::Began { history, .. } => all = history.iter().map(|m| m.progress.iteration).collect(),
            Event::Metrics(m) => all.push(m.progress.iteration),
            _ => {}
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_reader_that_keeps_up_is_told_what_the_writer_was(kinds in prop::collection::vec(0u8..12, 1..400)) {
        let (mut writer, memory) = pair();
        let mut reader = reader(&memory);
        let mut i = 0;
        for kind in std::iter::once(5).chain(kinds) {
            let event = event(kind, i);
            writer.event(&event);
            prop_assert_eq!(events(reader.poll()), [event]);
            i += 10;
        }
        prop_assert!(reader.poll().is_empty());
    }

    /// Whoever comes late or seldom is told less of the middle, but in order, from the first to the last.
    #[test]
    fn a_reader_that_falls_behind_misses_detail_and_never_the_ends(
        rows in prop::collection::vec(1u32..3000, 1..8),
    ) {
        let (mut writer, memory) = pair();
        writer.event(&began(0, 0));
        let (mut i, mut seldom, mut told) = (0, reader(&memory), Vec::new());
        for rows in rows {
            for _ in 0..rows {
                i += 1;
                writer.event(&Event::Metrics(metrics(i)));
            }
            let last = i;
            for got in [iterations(&{ told.extend(events(seldom.poll())); told.clone() }),
                        iterations(&events(reader(&memory).poll()))] {
                prop_assert!(got.windows(2).all(|w| w[0] < w[1]), "in order and once");
                prop_assert_eq!((got[0], *got.last().unwrap()), (1, last));
                let widest = got.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(1);
                prop_assert!(widest <= (last / 1024).next_power_of_two().max(1), "{widest} of {last}");
                let newest: Vec<u32> = (last.saturating_sub(512) + 1..=last).collect();
                prop_assert!(got.ends_with(&newest), "the newest are all there");
            }
        }
        for event in told {
            match event {
                Event::Metrics(m) => prop_assert_eq!(m, metrics(m.progress.iteration)),
                Event::Began { history, .. } => {
                    history.into_iter().for_each(|m| assert_eq!(m, metrics(m.progress.iteration)));
                }
                other => prop_assert!(false, "{other:?} was never told"),
            }
        }
    }
}

#[test]
fn whoever_attaches_later_is_told_the_run_with_its_history() {
    let (mut writer, memory) = pair();
    assert!(reader(&memory).poll().is_empty(), "nothing has begun");
    assert!(writer.say("before"));
    writer.event(&began(50, 6));
    writer.event(&Event::Running { running: true });
    for i in 60..70 {
        (0..=6).filter(|kind| *kind != 5).for_each(|kind| writer.event(&event(kind, i)));
    }
    assert!(writer.say("after"));
    let mut reader = reader(&memory);
    assert_eq!(reader.about(), "about");
    let told = reader.poll();
    assert_eq!(told[0], Told::Shell("before".into()), "in its order");
    let Told::Event(Event::Began { history, marks, evaluations, progress: at, config, .. }) = &told[1] else {
        panic!("{:?} is no beginning", told[1]);
    };
    assert_eq!(history, &(50..56).chain(60..70).map(metrics).collect::<Vec<_>>());
    assert_eq!(marks, &(50..53).chain(60..70).map(mark).collect::<Vec<_>>());
    assert_eq!(evaluations, &(50..52).chain(60..70).map(evaluation).collect::<Vec<_>>());
    assert_eq!((at.iteration, config.seed), (69, 50));
    let solved: Vec<_> = told.iter().filter(|t| matches!(t, Told::Event(Event::Solved { .. }))).collect();
    assert_eq!(solved.len(), 2, "the newest of what has no history");
    assert_eq!(
        told[told.len() - 2..],
        [Told::Shell("after".into()), Told::Event(Event::Running { running: true })]
    );
    writer.event(&Event::Running { running: false });
    writer.beat(&progress(70));
    assert_eq!(reader.poll(), [Told::Event(Event::Running { running: false })]);
    assert_eq!((reader.progress(), reader.heartbeat(), reader.state()), (progress(70), 1, State::Paused));
    drop(writer);
    assert_eq!((reader.state(), reader.poll()), (State::Finished, vec![]));
}

#[test]
fn the_time_of_training_is_counted_by_part() {
    let (mut writer, memory) = pair();
    let reader = reader(&memory);
    writer.event(&began(64, 2)); // up to iteration 65, at 65/64 s
    let mut tell = |i: u32, shares: [f64; 8]| writer.event(&Event::Metrics(Metrics { shares, ..metrics(i) }));
    tell(65 + 64, [0.5, 0.25, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0]);
    tell(65 + 192, [0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0]);
    assert_eq!(reader.parts_s(), [0.5, 1.25, 0.0, 0.0, 0.25, 0.0, 1.0, 0.0]);
    writer.event(&began(0, 0));
    assert_eq!(reader.parts_s(), [0.0; 8]);
}

#[test]
fn a_run_begun_anew_leaves_nothing_of_the_one_before() {
    let (mut writer, memory) = pair();
    let (mut early, mut late) = (reader(&memory), reader(&memory));
    writer.event(&began(0, 0));
    (1..9000).for_each(|i| writer.event(&Event::Metrics(metrics(i))));
    early.poll();
    (9000..9010).for_each(|i| writer.event(&Event::Metrics(metrics(i))));
    writer.event(&began(7, 0));
    writer.event(&Event::Metrics(metrics(8)));
    for reader in [&mut early, &mut late] {
        let told = events(reader.poll());
        assert_eq!(iterations(&told), [8]);
        assert!(matches!(&told[..], [Event::Began { .. }]), "{told:?}");
    }
}

#[test]
fn a_reader_in_the_midst_of_writing_sees_whole_records_only() {
    let (mut writer, memory) = pair();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|r| {
                let (memory, done) = (memory.clone(), &done);
                scope.spawn(move || {
                    let (mut reader, mut seen, mut last) = (reader(&memory), 0u32, 0);
                    loop {
                        let over = done.load(Relaxed);
                        for event in events(reader.poll()) {
                            match event {
                                Event::Metrics(m) => {
                                    assert_eq!(m, metrics(m.progress.iteration));
                                    assert!(m.progress.iteration > last, "in order");
                                    last = m.progress.iteration;
                                }
                                Event::Began { config, history, .. } => {
                                    last = config.seed;
                                    for m in history {
                                        assert_eq!(m, metrics(m.progress.iteration));
                                        assert!(m.progress.iteration >= last, "of this run, in order");
                                        last = m.progress.iteration;
                                    }
                                }
                                Event::Notice { text, .. } => assert_eq!(text, "x".repeat(text.len())),
                                other => panic!("{other:?} was never told"),
                            }
                            seen += 1;
                        }
                        if over {
                            return (seen, last);
                        }
                        if r == 0 {
                            std::thread::yield_now();
                        }
                    }
                })
            })
            .collect();
        let mut i = 0;
        for round in 0..40 {
            writer.event(&began(i, round % 5));
            for _ in 0..5000 {
                i += 1;
                writer.event(&Event::Metrics(metrics(i + round % 5)));
                if i % 64 == 0 {
                    let text = "x".repeat(i as usize % 999);
                    writer.event(&Event::Notice { level: Level::Info, text, next_step: String::new() });
                }
            }
            i += 10;
        }
        done.store(true, Relaxed);
        let newest = i - 10 + 39 % 5;
        for reader in readers {
            let (seen, last) = reader.join().unwrap();
            assert!(seen > 0);
            assert_eq!(last, newest, "everything that was written last is read");
        }
    });
}

#[test]
fn what_is_no_monitor_is_refused_with_a_way_out() {
    struct Cut(Arc<[AtomicU64]>, usize);
    impl Memory for Cut {
        fn words(&self) -> &[AtomicU64] {
            &self.0[..self.1]
        }
    }
    let said = |len: usize, words: &[(usize, u64)]| {
        let (_writer, memory) = pair();
        words.iter().for_each(|&(at, word)| memory[at].store(word, Relaxed));
        let error = Reader::open(Box::new(Cut(memory, len))).err().expect("refused");
        (error.to_string(), error)
    };
    assert!(matches!(said(WORDS, &[(0, MAGIC + 1)]), (_, RunError::NoMonitor)));
    assert!(matches!(said(WORDS, &[(0, MAGIC.swap_bytes())]), (_, RunError::NoMonitor)));
    assert!(matches!(said(0, &[]), (_, RunError::NoMonitor)));
    assert!(matches!(said(WORDS, &[(1, 2)]), (_, RunError::Future { found: 2, .. })));
    assert!(matches!(said(WORDS, &[(1, u64::MAX)]), (_, RunError::Future { .. })));
    assert!(matches!(said(WORDS, &[(1, 0)]), (_, RunError::NoSuchVersion { .. })));
    for len in [1, 2, 3, 100, WORDS / 2, WORDS - 1] {
        let (text, _) = said(len, &[]);
        assert!(text.contains("cut short") || len < 3, "{len}: {text}");
    }
    assert!(said(WORDS, &[(2, 1)]).0.contains("another build"));
    assert!(Writer::new(Box::new(Cut(heap(), WORDS - 1)), "").is_err());
    assert!(Writer::new(Box::new(heap()), &"x".repeat(100_000)).is_err());
}

#[test]
fn no_content_of_the_memory_makes_a_reader_panic() {
    let mut noise = 1u64;
    let mut random = move || {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        noise >> 11
    };
    for round in 0..300 {
        let (mut writer, memory) = pair();
        writer.event(&began(0, 5));
        (6..40).for_each(|i| writer.event(&event(6, i)));
        writer.say("words");
        for _ in 0..1 + round / 10 {
            // Past what is checked when it is opened; the header and what follows it more often than the rest.
            let at = 3 + random() as usize % if round % 2 == 0 { 60 } else { WORDS - 3 };
            let word = if random() % 2 == 0 { random() % 5000 } else { u64::MAX - random() % 9 };
            memory[at].store(word, Relaxed);
        }
        let mut reader = reader(&memory);
        (0..3).for_each(|_| drop((reader.poll(), reader.about(), reader.progress(), reader.heartbeat())));
    }
}

#[test]
fn words_that_are_too_long_are_left_out_whole() {
    let (mut writer, memory) = pair();
    writer.event(&began(0, 0));
    let mut reader = reader(&memory);
    reader.poll();
    assert!(!writer.say(&"x".repeat(5000)));
    assert!(writer.say(&"y".repeat(4096)));
    assert_eq!(reader.poll(), [Told::Shell("y".repeat(4096))]);
}

/// What `www/run/monitor.ts` makes of a record by the names of its columns is what the protocol says.
#[test]
fn a_page_finds_the_protocols_own_numbers_under_their_names() {
    fn flat(name: &str, value: &serde_json::Value, all: &mut Vec<(String, Option<f64>)>) {
        let inside = |key: &str| if name.is_empty() { key.to_string() } else { format!("{name}.{key}") };
        match value {
            serde_json::Value::Object(fields) => {
                fields.iter().for_each(|(key, value)| flat(&inside(key), value, all));
            }
            serde_json::Value::Array(items) => {
                items.iter().enumerate().for_each(|(i, value)| flat(&inside(&i.to_string()), value, all));
            }
            _ => all.push((name.to_string(), value.as_f64())),
        }
    }
    let (mut writer, memory) = pair();
    writer.event(&began(0, 0));
    let cursor = writer.cursor();
    writer.event(&Event::Metrics(metrics(15)));
    writer.event(&Event::Metrics(metrics(16)));
    writer.event(&Event::Evaluation(evaluation(16)));
    let layout = run::monitor::layout();
    assert_eq!((layout.words, memory[layout.epoch].load(Relaxed)), (memory.len(), cursor.epoch));
    for (track, ordinal, expected) in [
        (&layout.metrics, cursor.metrics, serde_json::to_value(metrics(15)).unwrap()),
        (&layout.metrics, cursor.metrics + 1, serde_json::to_value(metrics(16)).unwrap()),
        (&layout.evaluations, cursor.evaluations, serde_json::to_value(evaluation(16)).unwrap()),
    ] {
        assert!(memory[track.head].load(Relaxed) > ordinal);
        let slot = track.ring + track.record * (ordinal as usize % track.ring_records);
        assert_eq!(memory[slot].load(Relaxed), 2 * ordinal + 2);
        let columns = track.columns.iter().zip(&memory[slot + track.record_head..]).map(|(name, word)| {
            let number = f64::from_bits(word.load(Relaxed));
            match name.strip_suffix('?') {
                Some(name) => (name.to_string(), Some(number).filter(|x| !x.is_nan())),
                None => (name.to_string(), Some(number)),
            }
        });
        let mut columns: Vec<_> = columns.collect();
        let mut all = Vec::new();
        flat("", &expected, &mut all);
        columns.sort_by(|a, b| a.0.cmp(&b.0));
        all.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(columns, all);
    }
}

#[test]
fn every_environment_with_all_its_knobs_finds_room() {
    for environment in run::environments() {
        let knobs = knob_list(&environment.id);
        assert!(knobs.iter().all(|knob| knob.name.len() <= 32));
        // Digits enough for any value of a knob.
        let values: BTreeMap<String, f64> =
            knobs.iter().map(|knob| (knob.name.to_string(), 1.0 / 3.0)).collect();
        let began = Event::Began {
            config: run::protocol::Config {
                env: environment.id.clone(),
                knobs: values.clone(),
                ..default_config()
            },
            environment: Box::new(environment),
            knobs: values,
            history: Vec::new(),
            marks: Vec::new(),
            evaluations: Vec::new(),
            progress: progress(u32::MAX),
        };
        let (mut writer, memory) = pair();
        writer.event(&began);
        assert_eq!(events(reader(&memory).poll()), [began]);
    }
}
