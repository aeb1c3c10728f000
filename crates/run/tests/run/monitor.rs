//! Tests of the monitor. The tests write and read the monitor as shells do. A reader receives complete items in order, for any amount of
//! data, any time of reading and any columns.

use crate::common::rooms;
use proptest::prelude::*;
use run::monitor::{MAGIC, Memory, MonitorItem, Reader, State, Writer, heap, layout, words};
use run::protocol::{Began, Config, Confirmation, Digest, Event, KnobKind, Level, Mark, Progress, Row, RunState, Standing, Value};
use run::room::Schema;
use run::{AnyRoom, RunError, config_of};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Generates events of one room's runs.
#[derive(Clone, Copy)]
struct EventSource(&'static dyn AnyRoom);

fn sources() -> Vec<EventSource> {
    rooms().into_iter().map(EventSource).collect()
}

impl EventSource {
    fn schema(self) -> &'static Schema {
        self.0.schema()
    }

    fn progress(self, i: u32) -> Progress {
        let counts = (0..self.schema().counters.len() as u32).map(|c| f64::from(i * (300 + c) + c)).collect();
        Progress { iteration: i, counts, train_s: f64::from(i) / 64.0 }
    }

    /// Returns a row. Every value encodes the iteration, so a mixture of two rows is detected. Some values are unknown.
    fn row(self, i: u32, len: usize) -> Row {
        let value = |column: u32| {
            let known = column > 1 || !i.is_multiple_of(3 + 2 * column);
            known.then(|| f64::from(i) + f64::from(column) / 64.0)
        };
        Row { progress: self.progress(i), values: (0..len as u32).map(value).collect() }
    }

    fn metrics(self, i: u32) -> Row {
        self.row(i, self.schema().row_len())
    }

    fn test(self, i: u32) -> Row {
        self.row(i, self.schema().tests.len())
    }

    /// Returns a mark. Successive iterations change one knob after the other, so every kind of knob occurs.
    fn mark(self, i: u32) -> Mark {
        let knobs = self.0.knobs(&self.0.variants()[0].id);
        let knob = &knobs[i as usize % knobs.len()];
        let (from, to) = match knob.kind {
            KnobKind::Choice { .. } | KnobKind::Text { .. } => (Value::Text("none".into()), Value::Text(format!("'{i}' ✓"))),
            _ => (Value::Number(1.0 / f64::from(i + 1)), Value::Number(f64::from(i))),
        };
        Mark { progress: self.progress(i), knob: knob.name.into(), from, to }
    }

    fn event(self, kind: u8, i: u32) -> Event {
        match kind {
            0 => Event::Test(self.test(i)),
            1 => Event::Mark(self.mark(i)),
            2 => Event::Solved { progress: self.progress(i), goal: 475.0 },
            3 => Event::Digest(Digest {
                iteration: i,
                weights: format!("{:016x}", u64::from(i) << 40),
                arithmetic: ["fused", "unfused", "gpu", "mixed"][i as usize / 10 % 4].into(),
            }),
            4 => {
                Event::Notice { level: Level::Warning, text: format!("\"Ünïcode\" ✓ of {i}."), next_step: "-".repeat(i as usize % 50) }
            }
            5 => self.began(i, i % 7),
            6 => Event::Room { event: serde_json::json!({ "kind": "frozen", "minutes": i }), text: format!("Minute {i}.") },
            7 => Event::Confirmation(Confirmation {
                progress: self.progress(i),
                value: (!i.is_multiple_of(3)).then_some(f64::from(i) / 7.0),
                goal: 475.0,
                confirmed: i.is_multiple_of(2),
            }),
            8 => Event::Standing(Standing {
                progress: self.progress(i),
                state: RunState::LostAgain,
                since: Some(self.progress(i)),
                name: "points per game against pubeval".into(),
                value: Some(f64::from(i) / 7.0),
                number: format!("{i}"),
                words: format!("solved at 852 thousand steps, lost again at {i} steps"),
            }),
            _ => Event::Metrics(self.metrics(i)),
        }
    }

    /// Returns the event `Began` of a run with `rows` rows of history. The first row has iteration `i`.
    fn began(self, i: u32, rows: u32) -> Event {
        Event::Began(Box::new(Began {
            config: Config { seed: i, ..config_of(self.0) },
            knobs: BTreeMap::from([("lr".to_string(), Value::Number(1e-3 * f64::from(i)))]),
            history: (i..i + rows).map(|i| self.metrics(i)).collect(),
            marks: (i..i + rows / 2).map(|i| self.mark(i)).collect(),
            tests: (i..i + rows / 3).map(|i| self.test(i)).collect(),
            progress: if rows > 0 { self.progress(i + rows - 1) } else { self.progress(i) },
            solved: (rows > 4).then(|| self.progress(i)),
            attempts: rows,
            room: serde_json::json!({ "of": i }),
        }))
    }

    fn pair(self) -> (Writer, Arc<[AtomicU64]>) {
        let memory = heap(self.schema());
        (Writer::new(Box::new(memory.clone()), self.schema(), "about").unwrap(), memory)
    }
}

/// Returns the source of the room with the most columns.
fn widest() -> EventSource {
    sources().into_iter().max_by_key(|source| source.schema().row_len()).unwrap()
}

fn reader(memory: &Arc<[AtomicU64]>) -> Reader {
    Reader::open(Box::new(memory.clone())).unwrap()
}

fn events(received: Vec<MonitorItem>) -> Vec<Event> {
    let events = received.into_iter().filter_map(|received| match received {
        MonitorItem::Event(event) => Some(event),
        MonitorItem::Shell(_) => None,
    });
    events.filter(|event| !matches!(event, Event::Running { .. })).collect()
}

fn iterations<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<u32> {
    let mut all = Vec::new();
    for event in events {
        match event {
            Event::Began(began) => all = began.history.iter().map(|m| m.progress.iteration).collect(),
            Event::Metrics(m) => all.push(m.progress.iteration),
            _ => {}
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if testkit::all() { 64 } else { 16 }, ..ProptestConfig::default() })]

    #[test]
    fn reader_that_keeps_up_receives_every_event(kinds in prop::collection::vec(0u8..13, 1..400)) {
        for source in sources() {
            let (mut writer, memory) = source.pair();
            let mut reader = reader(&memory);
            let mut i = 0;
            for &kind in std::iter::once(&5).chain(&kinds) {
                let event = source.event(kind, i);
                writer.event(&event);
                prop_assert_eq!(events(reader.poll()), [event]);
                i += 10;
            }
            prop_assert!(reader.poll().is_empty());
        }
    }

    /// A late or slow reader receives the first and the last row, but only some of the rows between them. The rows are in order.
    #[test]
    fn slow_reader_misses_detail_but_not_the_ends(
        rows in prop::collection::vec(1u32..3000, 1..8),
    ) {
        let source = widest();
        let (mut writer, memory) = source.pair();
        writer.event(&source.began(0, 0));
        let (mut i, mut seldom, mut received) = (0, reader(&memory), Vec::new());
        for rows in rows {
            for _ in 0..rows {
                i += 1;
                writer.event(&Event::Metrics(source.metrics(i)));
            }
            let last = i;
            for got in [iterations(&{ received.extend(events(seldom.poll())); received.clone() }),
                        iterations(&events(reader(&memory).poll()))] {
                prop_assert!(got.windows(2).all(|w| w[0] < w[1]), "rows out of order or repeated");
                prop_assert_eq!((got[0], *got.last().unwrap()), (1, last));
                let widest = got.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(1);
                prop_assert!(widest <= (last / 1024).next_power_of_two().max(1), "{widest} of {last}");
                let newest: Vec<u32> = (last.saturating_sub(512) + 1..=last).collect();
                prop_assert!(got.ends_with(&newest), "the latest 512 rows are incomplete");
            }
        }
        for event in received {
            match event {
                Event::Metrics(m) => prop_assert_eq!(&m, &source.metrics(m.progress.iteration)),
                Event::Began(began) => {
                    for m in began.history {
                        prop_assert_eq!(&m, &source.metrics(m.progress.iteration));
                    }
                }
                other => prop_assert!(false, "{other:?} was never received"),
            }
        }
    }
}

#[test]
fn late_reader_receives_the_run_with_its_history() {
    for source in sources() {
        let (mut writer, memory) = source.pair();
        assert!(reader(&memory).poll().is_empty(), "items before the first event");
        assert!(writer.say("before"));
        writer.event(&source.began(50, 6));
        writer.event(&Event::Running { running: true });
        for i in 60..70 {
            (0..=9).filter(|kind| *kind != 5).for_each(|kind| writer.event(&source.event(kind, i)));
        }
        assert!(writer.say("after"));
        let mut reader = reader(&memory);
        assert_eq!(reader.about(), "about");
        let received = reader.poll();
        assert_eq!(received[0], MonitorItem::Shell("before".into()), "the shell's item is out of order");
        let MonitorItem::Event(Event::Began(began)) = &received[1] else { panic!("{:?} is not `Began`", received[1]) };
        let rows = |of: &dyn Fn(u32) -> Row, to: u32| (50..to).chain(60..70).map(of).collect::<Vec<_>>();
        assert_eq!(began.history, rows(&|i| source.metrics(i), 56));
        assert_eq!(began.tests, rows(&|i| source.test(i), 52));
        assert_eq!(began.marks, (50..53).chain(60..70).map(|i| source.mark(i)).collect::<Vec<_>>());
        assert_eq!((began.progress.iteration, began.config.seed), (69, 50));
        assert_eq!((&began.solved, &began.room), (&Some(source.progress(50)), &serde_json::json!({ "of": 50 })));
        let solved: Vec<_> = received.iter().filter(|t| matches!(t, MonitorItem::Event(Event::Solved { .. }))).collect();
        assert_eq!(solved.len(), 2, "`Began` has the first, the latest is an item of its own");
        assert_eq!(
            received[received.len() - 2..],
            [MonitorItem::Shell("after".into()), MonitorItem::Event(Event::Running { running: true })]
        );
        writer.event(&Event::Running { running: false });
        writer.beat(&source.progress(70));
        assert_eq!(reader.poll(), [MonitorItem::Event(Event::Running { running: false })]);
        assert_eq!((reader.progress(), reader.heartbeat(), reader.state()), (source.progress(70), 1, State::Paused));
        drop(writer);
        assert_eq!((reader.state(), reader.poll()), (State::Finished, vec![]));
    }
}

#[test]
fn training_time_is_counted_by_part() {
    for source in sources() {
        let schema = source.schema();
        let parts = schema.all_parts().count();
        let (mut writer, memory) = source.pair();
        let reader = reader(&memory);
        writer.event(&source.began(64, 2)); // the last row has iteration 65 and 65/64 s of training
        let mut send = |i: u32, shares: &[(usize, f64)]| {
            let mut row = source.metrics(i);
            row.values[schema.metrics.len()..].fill(Some(0.0));
            for (part, share) in shares {
                row.values[schema.metrics.len() + part] = Some(*share);
            }
            writer.event(&Event::Metrics(row));
        };
        // The last two parts of an iteration's time are the parts that all rooms have: tests and rest.
        send(65 + 64, &[(0, 0.5), (parts - 1, 0.25)]);
        send(65 + 192, &[(parts - 2, 0.5), (parts - 1, 0.5)]);
        let mut expected = vec![0.0; parts];
        expected[0] = 0.5;
        expected[parts - 2] += 1.0;
        expected[parts - 1] += 1.25;
        assert_eq!(reader.parts_s(), expected);
        writer.event(&source.began(0, 0));
        assert_eq!(reader.parts_s(), vec![0.0; parts]);
    }
}

#[test]
fn new_run_removes_the_previous_one() {
    for source in sources() {
        let (mut writer, memory) = source.pair();
        let (mut early, mut late) = (reader(&memory), reader(&memory));
        writer.event(&source.began(0, 0));
        (1..9000).for_each(|i| writer.event(&Event::Metrics(source.metrics(i))));
        early.poll();
        (9000..9010).for_each(|i| writer.event(&Event::Metrics(source.metrics(i))));
        writer.event(&source.began(7, 0));
        writer.event(&Event::Metrics(source.metrics(8)));
        for reader in [&mut early, &mut late] {
            let received = events(reader.poll());
            assert_eq!(iterations(&received), [8]);
            assert!(matches!(&received[..], [Event::Began { .. }]), "{received:?}");
        }
    }
}

#[test]
fn concurrent_readers_see_complete_records_only() {
    let source = widest();
    let (mut writer, memory) = source.pair();
    let done = AtomicBool::new(false);
    let rounds = if testkit::all() { 40 } else { 10 };
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
                                    assert_eq!(m, source.metrics(m.progress.iteration));
                                    assert!(m.progress.iteration > last, "in order");
                                    last = m.progress.iteration;
                                }
                                Event::Began(began) => {
                                    last = began.config.seed;
                                    for m in began.history {
                                        assert_eq!(m, source.metrics(m.progress.iteration));
                                        assert!(m.progress.iteration >= last, "rows of another run or out of order");
                                        last = m.progress.iteration;
                                    }
                                }
                                Event::Notice { text, .. } => assert_eq!(text, "x".repeat(text.len())),
                                other => panic!("{other:?} was never received"),
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
        for round in 0..rounds {
            writer.event(&source.began(i, round % 5));
            for _ in 0..5000 {
                i += 1;
                writer.event(&Event::Metrics(source.metrics(i + round % 5)));
                if i % 64 == 0 {
                    let text = "x".repeat(i as usize % 999);
                    writer.event(&Event::Notice { level: Level::Info, text, next_step: String::new() });
                }
            }
            i += 10;
        }
        done.store(true, Relaxed);
        let newest = i - 10 + (rounds - 1) % 5;
        for reader in readers {
            let (seen, last) = reader.join().unwrap();
            assert!(seen > 0);
            assert_eq!(last, newest, "the latest row was not read");
        }
    });
}

#[test]
fn invalid_monitor_memory_is_rejected() {
    struct Cut(Arc<[AtomicU64]>, usize);
    impl Memory for Cut {
        fn words(&self) -> &[AtomicU64] {
            &self.0[..self.1]
        }
    }
    for source in sources() {
        let schema = source.schema();
        let whole = words(schema);
        let said = |len: usize, words: &[(usize, u64)]| {
            let (_writer, memory) = source.pair();
            words.iter().for_each(|&(at, word)| memory[at].store(word, Relaxed));
            let error = Reader::open(Box::new(Cut(memory, len))).err().expect("the memory was accepted");
            (crate::common::clear(&error), error)
        };
        assert!(matches!(said(whole, &[(0, MAGIC + 1)]), (_, RunError::NoMonitor)));
        assert!(matches!(said(whole, &[(0, MAGIC.swap_bytes())]), (_, RunError::NoMonitor)));
        assert!(matches!(said(0, &[]), (_, RunError::NoMonitor)));
        assert!(matches!(said(whole, &[(1, 3)]), (_, RunError::Future { found: 3, .. })));
        assert!(matches!(said(whole, &[(1, u64::MAX)]), (_, RunError::Future { .. })));
        assert!(matches!(said(whole, &[(1, 0)]), (_, RunError::NoSuchVersion { .. })));
        for len in [1, 2, 3, 100, whole / 2, whole - 1] {
            let (text, _) = said(len, &[]);
            assert!(text.contains("cut short") || len < 12, "{len}: {text}");
        }
        assert!(said(whole, &[(2, 1)]).0.contains("another build"));
        // Words 8 to 11 of the header contain sizes.
        for at in 8..12 {
            for size in [0, 1, 40, 1024, 1025, 1 << 40, u64::MAX] {
                let (_writer, memory) = source.pair();
                if memory[at].load(Relaxed) == size {
                    continue;
                }
                memory[at].store(size, Relaxed);
                assert!(Reader::open(Box::new(memory)).is_err(), "word {at} says {size}");
            }
        }
        assert!(Writer::new(Box::new(Cut(heap(schema), whole - 1)), schema, "").is_err());
        assert!(Writer::new(Box::new(heap(schema)), schema, &"x".repeat(100_000)).is_err());
    }
}

#[test]
fn oversized_items_are_dropped_or_shortened() {
    let source = widest();
    let (mut writer, memory) = source.pair();
    writer.event(&source.began(0, 0));
    let mut reader = reader(&memory);
    reader.poll();
    assert!(!writer.say(&"x".repeat(5000)));
    assert!(writer.say(&"y".repeat(4096)));
    assert_eq!(reader.poll(), [MonitorItem::Shell("y".repeat(4096))]);
    // A long text in a mark is cut.
    let mark = Mark { to: Value::Text("ä".repeat(3000)), ..source.mark(3) };
    writer.event(&Event::Mark(mark.clone()));
    let shown = Mark { to: Value::Text("ä".repeat(40) + "…"), ..mark };
    assert_eq!(reader.poll(), [MonitorItem::Event(Event::Mark(shown))]);
    // If the room's value is too large, it is dropped, and the rest of `Began` is published.
    let Event::Began(mut began) = source.began(9, 3) else { unreachable!() };
    began.room = serde_json::json!("z".repeat(20_000));
    writer.event(&Event::Began(began.clone()));
    began.room = serde_json::Value::Null;
    assert_eq!(events(reader.poll()), [Event::Began(began)]);
    // The shell's description may have 2048 words of 8 bytes. A longer description is rejected.
    let about = |bytes: usize| Writer::new(Box::new(heap(source.schema())), source.schema(), &"a".repeat(bytes)).map(drop);
    assert!(about(16_384).is_ok() && matches!(about(16_385), Err(RunError::Monitor { .. })));
}

/// Checks the offsets that `www/run/monitor.ts` uses.
#[test]
fn layout_gives_the_positions_of_numbers() {
    for source in sources() {
        let (mut writer, memory) = source.pair();
        writer.event(&source.began(0, 0));
        let cursor = writer.cursor();
        let (first, second, test) = (source.metrics(15), source.metrics(16), source.test(16));
        writer.event(&Event::Metrics(first.clone()));
        writer.event(&Event::Metrics(second.clone()));
        writer.event(&Event::Test(test.clone()));
        let layout = layout(source.schema());
        assert_eq!((layout.words, memory[layout.epoch].load(Relaxed)), (memory.len(), cursor.epoch));
        let number = |at: usize| f64::from_bits(memory[at].load(Relaxed));
        for (track, ordinal, row) in [
            (&layout.metrics, cursor.metrics, &first),
            (&layout.metrics, cursor.metrics + 1, &second),
            (&layout.tests, cursor.tests, &test),
        ] {
            assert!(memory[track.head].load(Relaxed) > ordinal);
            let slot = track.ring + track.record * (ordinal as usize % track.ring_records);
            assert_eq!(memory[slot].load(Relaxed), 2 * ordinal + 2);
            let found: Vec<f64> = (slot + track.record_head..slot + track.record).map(number).collect();
            assert_eq!(found.len(), 2 + track.counters + track.values);
            assert_eq!((found[0], found[1]), (f64::from(row.progress.iteration), row.progress.train_s));
            assert_eq!(found[2..2 + track.counters], row.progress.counts);
            let values: Vec<_> = found[2 + track.counters..].iter().map(|&x| Some(x).filter(|x| !x.is_nan())).collect();
            assert_eq!(values, row.values);
        }
        writer.beat(&source.progress(17));
        let progress: Vec<f64> = (layout.progress..).take(2 + layout.metrics.counters).map(number).collect();
        assert_eq!((progress[0], &progress[2..]), (17.0, &source.progress(17).counts[..]));
    }
}

#[test]
fn every_variant_with_all_knobs_fits() {
    for source in sources() {
        for variant in source.0.variants() {
            let knobs = source.0.knobs(&variant.id);
            assert!(knobs.iter().all(|knob| knob.name.len() <= 32));
            // Numbers have as many digits as any knob needs, and texts have the maximum length.
            let longest = |kind: KnobKind| match kind {
                KnobKind::Text { most } => Value::Text("x".repeat(most as usize)),
                KnobKind::Choice { options } => Value::Text(options[0].name.into()),
                _ => Value::Number(1.0 / 3.0),
            };
            let values: BTreeMap<String, Value> = knobs.iter().map(|knob| (knob.name.to_string(), longest(knob.kind))).collect();
            let Event::Began(mut began) = source.began(7, 0) else { unreachable!() };
            began.config = Config { variant: variant.id.to_string(), knobs: values.clone(), ..config_of(source.0) };
            (began.knobs, began.attempts) = (values, u32::MAX);
            (began.progress, began.solved) = (source.progress(u32::MAX / 1000), Some(source.progress(7)));
            let (mut writer, memory) = source.pair();
            writer.event(&Event::Began(began.clone()));
            assert_eq!(events(reader(&memory).poll()), [Event::Began(began)]);
        }
    }
}
