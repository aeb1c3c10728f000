//! The monitor, written and read as shells do it: what goes in comes out, whole and in its order, however much there is of it,
//! whoever reads when, and whatever the room's columns are.

use crate::common::rooms;
use proptest::prelude::*;
use run::monitor::{MAGIC, Memory, MonitorItem, Reader, State, Writer, heap, layout, words};
use run::protocol::{Began, Config, Confirmation, Digest, Event, KnobKind, Level, Mark, Progress, Row, Value};
use run::room::Schema;
use run::{AnyRoom, RunError, config_of};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

/// Makes events of one room's runs.
#[derive(Clone, Copy)]
struct Teller(&'static dyn AnyRoom);

fn tellers() -> Vec<Teller> {
    rooms().into_iter().map(Teller).collect()
}

impl Teller {
    fn schema(self) -> &'static Schema {
        self.0.schema()
    }

    fn progress(self, i: u32) -> Progress {
        let counts = (0..self.schema().counters.len() as u32).map(|c| f64::from(i * (300 + c) + c)).collect();
        Progress { iteration: i, counts, train_s: f64::from(i) / 64.0 }
    }

    /// Every number tells which iteration it belongs to, so that a mixture of two is found out; some are not known.
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

    /// Of knobs of each kind.
    fn mark(self, i: u32) -> Mark {
        let knobs = self.0.knobs(self.0.variants()[0].id);
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
            _ => Event::Metrics(self.metrics(i)),
        }
    }

    /// A run that begins at iteration `i` with some history.
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

/// The room with the most columns.
fn widest() -> Teller {
    tellers().into_iter().max_by_key(|teller| teller.schema().row_len()).unwrap()
}

fn reader(memory: &Arc<[AtomicU64]>) -> Reader {
    Reader::open(Box::new(memory.clone())).unwrap()
}

fn events(told: Vec<MonitorItem>) -> Vec<Event> {
    let events = told.into_iter().filter_map(|told| match told {
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
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_reader_that_keeps_up_is_told_what_the_writer_was(kinds in prop::collection::vec(0u8..12, 1..400)) {
        for teller in tellers() {
            let (mut writer, memory) = teller.pair();
            let mut reader = reader(&memory);
            let mut i = 0;
            for &kind in std::iter::once(&5).chain(&kinds) {
                let event = teller.event(kind, i);
                writer.event(&event);
                prop_assert_eq!(events(reader.poll()), [event]);
                i += 10;
            }
            prop_assert!(reader.poll().is_empty());
        }
    }

    /// Whoever comes late or seldom is told less of the middle, but in order, from the first to the last.
    #[test]
    fn a_reader_that_falls_behind_misses_detail_and_never_the_ends(
        rows in prop::collection::vec(1u32..3000, 1..8),
    ) {
        let teller = widest();
        let (mut writer, memory) = teller.pair();
        writer.event(&teller.began(0, 0));
        let (mut i, mut seldom, mut told) = (0, reader(&memory), Vec::new());
        for rows in rows {
            for _ in 0..rows {
                i += 1;
                writer.event(&Event::Metrics(teller.metrics(i)));
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
                Event::Metrics(m) => prop_assert_eq!(&m, &teller.metrics(m.progress.iteration)),
                Event::Began(began) => {
                    for m in began.history {
                        prop_assert_eq!(&m, &teller.metrics(m.progress.iteration));
                    }
                }
                other => prop_assert!(false, "{other:?} was never told"),
            }
        }
    }
}

#[test]
fn whoever_attaches_later_is_told_the_run_with_its_history() {
    for teller in tellers() {
        let (mut writer, memory) = teller.pair();
        assert!(reader(&memory).poll().is_empty(), "nothing has begun");
        assert!(writer.say("before"));
        writer.event(&teller.began(50, 6));
        writer.event(&Event::Running { running: true });
        for i in 60..70 {
            (0..=8).filter(|kind| *kind != 5).for_each(|kind| writer.event(&teller.event(kind, i)));
        }
        assert!(writer.say("after"));
        let mut reader = reader(&memory);
        assert_eq!(reader.about(), "about");
        let told = reader.poll();
        assert_eq!(told[0], MonitorItem::Shell("before".into()), "in its order");
        let MonitorItem::Event(Event::Began(began)) = &told[1] else { panic!("{:?} is no beginning", told[1]) };
        let rows = |of: &dyn Fn(u32) -> Row, to: u32| (50..to).chain(60..70).map(of).collect::<Vec<_>>();
        assert_eq!(began.history, rows(&|i| teller.metrics(i), 56));
        assert_eq!(began.tests, rows(&|i| teller.test(i), 52));
        assert_eq!(began.marks, (50..53).chain(60..70).map(|i| teller.mark(i)).collect::<Vec<_>>());
        assert_eq!((began.progress.iteration, began.config.seed), (69, 50));
        assert_eq!((&began.solved, &began.room), (&Some(teller.progress(50)), &serde_json::json!({ "of": 50 })));
        let solved: Vec<_> = told.iter().filter(|t| matches!(t, MonitorItem::Event(Event::Solved { .. }))).collect();
        assert_eq!(solved.len(), 2, "the newest of what has no history");
        assert_eq!(told[told.len() - 2..], [MonitorItem::Shell("after".into()), MonitorItem::Event(Event::Running { running: true })]);
        writer.event(&Event::Running { running: false });
        writer.beat(&teller.progress(70));
        assert_eq!(reader.poll(), [MonitorItem::Event(Event::Running { running: false })]);
        assert_eq!((reader.progress(), reader.heartbeat(), reader.state()), (teller.progress(70), 1, State::Paused));
        drop(writer);
        assert_eq!((reader.state(), reader.poll()), (State::Finished, vec![]));
    }
}

#[test]
fn the_time_of_training_is_counted_by_part() {
    for teller in tellers() {
        let schema = teller.schema();
        let parts = schema.all_parts().count();
        let (mut writer, memory) = teller.pair();
        let reader = reader(&memory);
        writer.event(&teller.began(64, 2)); // up to iteration 65, at 65/64 s
        let mut tell = |i: u32, shares: &[(usize, f64)]| {
            let mut row = teller.metrics(i);
            row.values[schema.metrics.len()..].fill(Some(0.0));
            for (part, share) in shares {
                row.values[schema.metrics.len() + part] = Some(*share);
            }
            writer.event(&Event::Metrics(row));
        };
        // The last two are common to all rooms: tests and rest.
        tell(65 + 64, &[(0, 0.5), (parts - 1, 0.25)]);
        tell(65 + 192, &[(parts - 2, 0.5), (parts - 1, 0.5)]);
        let mut expected = vec![0.0; parts];
        expected[0] = 0.5;
        expected[parts - 2] += 1.0;
        expected[parts - 1] += 1.25;
        assert_eq!(reader.parts_s(), expected);
        writer.event(&teller.began(0, 0));
        assert_eq!(reader.parts_s(), vec![0.0; parts]);
    }
}

#[test]
fn a_run_begun_anew_leaves_nothing_of_the_one_before() {
    for teller in tellers() {
        let (mut writer, memory) = teller.pair();
        let (mut early, mut late) = (reader(&memory), reader(&memory));
        writer.event(&teller.began(0, 0));
        (1..9000).for_each(|i| writer.event(&Event::Metrics(teller.metrics(i))));
        early.poll();
        (9000..9010).for_each(|i| writer.event(&Event::Metrics(teller.metrics(i))));
        writer.event(&teller.began(7, 0));
        writer.event(&Event::Metrics(teller.metrics(8)));
        for reader in [&mut early, &mut late] {
            let told = events(reader.poll());
            assert_eq!(iterations(&told), [8]);
            assert!(matches!(&told[..], [Event::Began { .. }]), "{told:?}");
        }
    }
}

#[test]
fn a_reader_in_the_midst_of_writing_sees_whole_records_only() {
    let teller = widest();
    let (mut writer, memory) = teller.pair();
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
                                    assert_eq!(m, teller.metrics(m.progress.iteration));
                                    assert!(m.progress.iteration > last, "in order");
                                    last = m.progress.iteration;
                                }
                                Event::Began(began) => {
                                    last = began.config.seed;
                                    for m in began.history {
                                        assert_eq!(m, teller.metrics(m.progress.iteration));
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
            writer.event(&teller.began(i, round % 5));
            for _ in 0..5000 {
                i += 1;
                writer.event(&Event::Metrics(teller.metrics(i + round % 5)));
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
    for teller in tellers() {
        let schema = teller.schema();
        let whole = words(schema);
        let said = |len: usize, words: &[(usize, u64)]| {
            let (_writer, memory) = teller.pair();
            words.iter().for_each(|&(at, word)| memory[at].store(word, Relaxed));
            let error = Reader::open(Box::new(Cut(memory, len))).err().expect("refused");
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
        // Sizes are words 8 to 11.
        for at in 8..12 {
            for size in [0, 1, 40, 1024, 1025, 1 << 40, u64::MAX] {
                let (_writer, memory) = teller.pair();
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
fn words_that_are_too_long_are_left_out_whole() {
    let teller = widest();
    let (mut writer, memory) = teller.pair();
    writer.event(&teller.began(0, 0));
    let mut reader = reader(&memory);
    reader.poll();
    assert!(!writer.say(&"x".repeat(5000)));
    assert!(writer.say(&"y".repeat(4096)));
    assert_eq!(reader.poll(), [MonitorItem::Shell("y".repeat(4096))]);
    // Of a mark with a long text there is the beginning.
    let mark = Mark { to: Value::Text("ä".repeat(3000)), ..teller.mark(3) };
    writer.event(&Event::Mark(mark.clone()));
    let shown = Mark { to: Value::Text("ä".repeat(40) + "…"), ..mark };
    assert_eq!(reader.poll(), [MonitorItem::Event(Event::Mark(shown))]);
    // What a room tells of itself and is too long is left out, and the run is told.
    let Event::Began(mut began) = teller.began(9, 3) else { unreachable!() };
    began.room = serde_json::json!("z".repeat(20_000));
    writer.event(&Event::Began(began.clone()));
    began.room = serde_json::Value::Null;
    assert_eq!(events(reader.poll()), [Event::Began(began)]);
    // What a shell tells of itself has room for 2048 words of 8 bytes, or is refused.
    let about = |bytes: usize| Writer::new(Box::new(heap(teller.schema())), teller.schema(), &"a".repeat(bytes)).map(drop);
    assert!(about(16_384).is_ok() && matches!(about(16_385), Err(RunError::Monitor { .. })));
}

/// Where `www/run/monitor.ts` looks for a record there are its numbers.
#[test]
fn a_page_finds_the_numbers_where_the_layout_says() {
    for teller in tellers() {
        let (mut writer, memory) = teller.pair();
        writer.event(&teller.began(0, 0));
        let cursor = writer.cursor();
        let (first, second, test) = (teller.metrics(15), teller.metrics(16), teller.test(16));
        writer.event(&Event::Metrics(first.clone()));
        writer.event(&Event::Metrics(second.clone()));
        writer.event(&Event::Test(test.clone()));
        let layout = layout(teller.schema());
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
        writer.beat(&teller.progress(17));
        let progress: Vec<f64> = (layout.progress..).take(2 + layout.metrics.counters).map(number).collect();
        assert_eq!((progress[0], &progress[2..]), (17.0, &teller.progress(17).counts[..]));
    }
}

#[test]
fn every_variant_with_all_its_knobs_finds_room() {
    for teller in tellers() {
        for variant in teller.0.variants() {
            let knobs = teller.0.knobs(variant.id);
            assert!(knobs.iter().all(|knob| knob.name.len() <= 32));
            // Digits enough for any value of a knob, and the longest texts.
            let longest = |kind: KnobKind| match kind {
                KnobKind::Text { most } => Value::Text("x".repeat(most as usize)),
                KnobKind::Choice { options } => Value::Text(options[0].name.into()),
                _ => Value::Number(1.0 / 3.0),
            };
            let values: BTreeMap<String, Value> = knobs.iter().map(|knob| (knob.name.to_string(), longest(knob.kind))).collect();
            let Event::Began(mut began) = teller.began(7, 0) else { unreachable!() };
            began.config = Config { variant: variant.id.into(), knobs: values.clone(), ..config_of(teller.0) };
            (began.knobs, began.attempts) = (values, u32::MAX);
            (began.progress, began.solved) = (teller.progress(u32::MAX / 1000), Some(teller.progress(7)));
            let (mut writer, memory) = teller.pair();
            writer.event(&Event::Began(began.clone()));
            assert_eq!(events(reader(&memory).poll()), [Event::Began(began)]);
        }
    }
}
