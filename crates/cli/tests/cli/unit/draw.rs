//! Tests of the drawn screen of a run.

use super::screen::screen_of;
use cli::internals::budget::Remaining;
use cli::internals::{Mode, Record, Screen, bounds, draw, labels};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use run::format::fitted;
use run::protocol::{Backend, Digest, Event, Mark, Progress, Row, RunState, Standing};

/// Returns the standing after the test of iteration `i`.
fn standing(progress: &Progress, i: u32) -> Standing {
    let (name, words) = ("average of 100 test episodes".into(), "learning".into());
    let (value, number) = (Some(f64::from(i) * 8.0), (i * 8).to_string());
    Standing { progress: progress.clone(), state: RunState::Learning, since: None, name, value, number, words }
}

/// Returns the screen of a partly trained run in which one knob was changed.
fn screen(mode: Mode, room: &str) -> Screen {
    let schema = run::room(room).unwrap().schema();
    let mut screen = screen_of(mode, room);
    let (isa, arithmetic) = ("avx2".to_string(), "fused".to_string());
    screen.apply(Record::Opened(Backend { isa, threads: 2, arithmetic, version: "1".into() }));
    let mut apply = |event| screen.apply(Record::Event(event));
    apply(Event::Running { running: true });
    for i in 1..=40u32 {
        let progress = Progress {
            iteration: i,
            counts: schema.counters.iter().map(|_| f64::from(i) * 65_536.0).collect(),
            train_s: f64::from(i) * 0.02,
        };
        let mut values = vec![Some(0.5); schema.row_len()];
        values[0] = Some(f64::from(i) * 10.0);
        let shares = [0.25, 0.125, 0.01, 0.015, 0.5, 0.05, 0.0, 0.0, 0.05];
        for (value, share) in values[schema.metrics.len()..].iter_mut().zip(shares) {
            *value = Some(share);
        }
        apply(Event::Metrics(Row { progress: progress.clone(), values }));
        if i % 10 == 0 {
            let values = vec![Some(f64::from(i) * 8.0); schema.tests.len()];
            apply(Event::Test(Row { progress: progress.clone(), values }));
            apply(Event::Standing(standing(&progress, i)));
        }
        if i == 20 {
            let (knob, from, to) = ("lr".into(), 0.0025.into(), 0.0032.into());
            apply(Event::Mark(Mark { progress, knob, from, to }));
        }
    }
    let (weights, arithmetic) = ("0123456789abcdef".into(), "fused".into());
    apply(Event::Digest(Digest { iteration: 32, weights, arithmetic }));
    screen
}

fn rows(screen: &Screen, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, screen)).unwrap();
    let cells: Vec<&str> = terminal.backend().buffer().content().iter().map(|c| c.symbol()).collect();
    cells.chunks(width.into()).map(|row| row.concat().trim_end().to_string()).collect()
}

fn dots(rows: &[String], columns: std::ops::Range<usize>) -> u32 {
    let all = rows.iter().flat_map(|r| r.chars().skip(columns.start).take(columns.len()));
    all.filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).map(|c| (c as u32 - 0x2800).count_ones()).sum()
}

#[test]
fn an_80x24_terminal_shows_all_of_control() {
    let rows = rows(&screen(Mode::Training, "control"), 80, 24);
    assert_eq!(rows[0], " hothouse  control  CartPole-v1  seed 1                  avx2  fused  2 threads");
    assert_eq!(rows[2], " average of 100 test episodes 320   learning");
    assert!(rows[3].starts_with(" return 400.0   time 0.80 s   steps 2.62 M"), "{}", rows[3]);
    assert!(rows[4].contains("lr"), "the name is above the mark: {}", rows[4]);
    assert!(rows[5].starts_with("   500 ") && rows[10].starts_with("     0 "), "{rows:#?}");
    assert!(rows[11].contains("2.62 M steps") && rows[11].contains("training return"), "{}", rows[11]);
    assert!(rows[12].starts_with(" time   policy 25%        world      gradient 50%"), "{}", rows[12]);
    assert!(rows[13].contains("> Learning rate ") && rows[13].contains('●'), "{}", rows[13]);
    assert!(rows[19].contains("0123456789abcdef at iteration 32"), "{rows:#?}");
    assert!(rows[22].starts_with(" space pause   q save, quit   ↑↓ knob   ←→ change"), "{}", rows[22]);
    assert!(rows[23].ends_with("? keys"), "{}", rows[23]);
    assert!(dots(&rows[5..11], 7..48) > 100, "the curve is drawn");
}

#[test]
fn a_100x30_terminal_shows_all_of_every_room() {
    for room in run::rooms() {
        let (schema, variant) = (room.schema(), room.variants().remove(0));
        let screen = screen(Mode::Training, schema.id);
        let rows = rows(&screen, 100, 30);
        let whole = rows.join("\n");
        assert!(rows[0].starts_with(&format!(" hothouse  {}  {}  seed 1", schema.id, variant.id)), "{}", rows[0]);
        let headline = schema.metrics.iter().find(|column| !column.brief.is_empty()).unwrap();
        assert_eq!(rows[2], " average of 100 test episodes 320   learning");
        assert!(rows[3].starts_with(&format!(" {} 400", headline.brief)), "{}", rows[3]);
        let goal = variant.goal.unwrap().column;
        let tests: Vec<_> = schema.tests.iter().filter(|column| !column.brief.is_empty() && column.name != goal).collect();
        assert!(tests.iter().all(|column| rows[3].contains(column.brief)), "{}", rows[3]);
        assert!(whole.contains(schema.counters[0].unit) && whole.contains("digest"), "{whole}");
        // The test sets seven nonzero shares, whose sum is 1; the first is 25%. In a room with fewer parts, the sum of the shares is
        // smaller, so the first part has a larger percentage.
        let part = format!("{} ", schema.parts[0].name);
        let after = whole.split(&part).skip(1).find_map(|text| text.get(..3)?.strip_suffix('%'));
        assert!(after.is_some_and(|share| share.parse::<u32>().unwrap() >= 25), "{whole}");
        assert!(dots(&rows[4..18], 7..50) > 50, "{whole}");
    }
}

#[test]
fn knob_names_and_all_keys_are_shown_at_any_width() {
    for room in run::rooms().iter().map(|room| room.schema().id) {
        let screen = screen(Mode::Training, room);
        let chosen = screen.live_knobs().nth(screen.chosen).unwrap();
        let term = chosen.label.split(':').next().unwrap();
        for width in [60, 80, 100, 120, 160] {
            let rows = rows(&screen, width, 30);
            let whole = rows.join("\n");
            assert!(whole.contains(&format!("> {}", fitted(term, 13).trim_end_matches('…'))), "{whole}");
            let keys = rows.iter().rev().take(3).rev().cloned().collect::<Vec<_>>().join("\n");
            for key in ["space pause", "q save, quit", "enter type", "r new run", "s step", "c chart", "d device"] {
                assert!(keys.contains(key), "{key} at {width} columns of:\n{keys}");
            }
        }
    }
}

#[test]
fn time_bar_is_proportional_to_the_shares() {
    let screen = screen(Mode::Training, "control");
    let mut terminal = Terminal::new(TestBackend::new(107, 30)).unwrap();
    terminal.draw(|frame| draw(frame, &screen)).unwrap();
    let buffer = terminal.backend().buffer();
    let at = |row: u16, column: u16| buffer.cell((column, row)).unwrap();
    let row = (0..30).find(|row| (1..5).map(|x| at(*row, x).symbol()).collect::<String>() == "time").unwrap();
    // At this width, the bar has 99 columns, so a column is about one percent of the time. Column 0 is a margin, columns 1 to 6 are the
    // label.
    let mut widths: Vec<(Color, u32)> = Vec::new();
    for x in 7..106 {
        match widths.last_mut() {
            Some((color, width)) if *color == at(row, x).bg => *width += 1,
            _ => widths.push((at(row, x).bg, 1)),
        }
    }
    let widths: Vec<u32> = widths.into_iter().map(|(_, width)| width).collect();
    assert_eq!(widths, [25, 12, 1, 2, 49, 5, 5]);
    let legend: String = (0..107).map(|x| at(row + 1, x).symbol()).collect();
    for words in ["policy 25%", "world 12%", "advantages", "gather 2%", "gradient 50%", "rest 5%"] {
        assert!(legend.contains(words), "{legend}");
    }
}

#[test]
fn curve_rises_with_the_returns() {
    let mut only_curve = screen(Mode::Training, "control");
    let run = only_curve.view.run.as_mut().unwrap();
    run.marks.clear();
    (run.tests, run.test) = Default::default();
    run.variant.as_mut().unwrap().goal = None;
    only_curve.picture = None;
    let rows = rows(&only_curve, 80, 24);
    // The curve has dots in the lowest rows on the left and in the upper rows on the right.
    assert!(dots(&rows[9..12], 7..14) > 3, "{rows:#?}");
    assert_eq!(dots(&rows[8..12], 66..79), 0, "{rows:#?}");
    assert!(dots(&rows[4..7], 66..79) > 3, "{rows:#?}");
}

#[test]
fn axes_end_at_round_numbers() {
    assert_eq!(bounds(8.0, 475.0, false), [0.0, 500.0]);
    assert_eq!(bounds(-195.0, -80.0, false), [-200.0, 0.0]);
    assert_eq!(bounds(-0.3, 0.4, false), [-0.4, 0.4]);
    assert_eq!(bounds(-3.2, -2.1, true), [-4.0, -2.0]);
    assert_eq!(bounds(f64::INFINITY, f64::NEG_INFINITY, false), [0.0, 1.0]);
    assert!(bounds(7.0, 7.0, false)[0] < bounds(7.0, 7.0, false)[1]);
}

#[test]
fn labels_distinguish_the_ends_of_an_axis() {
    let of = |bottom: f64, top: f64| labels([top, (top + bottom) / 2.0, bottom], false);
    assert_eq!(of(0.0, 500.0), ["500", "250", "0"]);
    assert_eq!(of(0.0, 1.0), ["1.0", "0.5", "0.0"]);
    assert_eq!(of(0.998, 1.0), ["1.000", "0.999", "0.998"]);
    assert_eq!(of(-0.4, 0.4), ["0.4", "0.0", "-0.4"]);
    assert_eq!(of(1.2345, 1.2346), ["1.23460", "1.23455", "1.23450"]);
    assert_eq!(of(0.0, 3e6), ["3.00 M", "1.50 M", "0"]);
    assert_eq!(of(1_000_000.0, 1_000_100.0), ["1000100", "1000050", "1000000"]);
    assert_eq!(of(0.0, 2e-9), ["2e-9", "1e-9", "0e0"]);
    assert_eq!(labels([-2.0, -3.0, -4.0], true), ["1e-2", "1e-3", "1e-4"]);
    assert_eq!(labels([-2.0, -2.5, -3.0], true), ["1e-2", "", "1e-3"]);
    // The three labels of an axis must differ.
    for scale in -12..12 {
        for (low, high) in [(0.0, 1.0), (0.99, 1.0), (-3.0, -2.9), (7.25, 7.26)] {
            let [bottom, top] = bounds(low * 10f64.powi(scale), high * 10f64.powi(scale), false);
            let [a, b, c] = of(bottom, top);
            assert!(a != b && b != c && a != c, "{a} {b} {c} of {bottom} to {top}");
        }
    }
}

#[test]
fn question_mark_lists_every_key() {
    for (mode, words) in [(Mode::Training, "Train one iteration"), (Mode::Watching, "Stop watching")] {
        let mut screen = screen(mode, "control");
        assert!(!rows(&screen, 80, 24).join("\n").contains(words));
        screen.key(ratatui::crossterm::event::KeyCode::Char('?').into());
        let shown = rows(&screen, 80, 24);
        let whole = shown.join("\n");
        assert!(whole.contains(words) && whole.contains("Close this list"), "{whole}");
        for key in shown.iter().rev().take(2).flat_map(|row| row.split("   ")).filter_map(|key| key.trim().split(' ').next()) {
            assert!(shown[3..20].iter().any(|row| row.contains(key.trim_matches(['↓', '→']))), "{key}: {whole}");
        }
        screen.key(ratatui::crossterm::event::KeyCode::Char('?').into());
        assert!(!rows(&screen, 80, 24).join("\n").contains(words));
    }
}

#[test]
fn first_chart_is_that_of_the_first_printed_column() {
    let first = |room| screen_of(Mode::Training, room).chart_name();
    let all = run::rooms().iter().map(|room| (room.schema().id, first(room.schema().id))).collect::<Vec<_>>();
    let expected = [("control", "return"), ("backgammon", "strength"), ("cube", "solved"), ("logic", "perfect"), ("words", "loss")];
    assert_eq!(all, expected);
}

#[test]
fn drawing_survives_any_size_and_number() {
    for room in run::rooms().iter().map(|room| room.schema().id) {
        let mut wild = screen(Mode::Training, room);
        let run = wild.view.run.as_mut().unwrap();
        let mut row = run.metrics.clone().unwrap();
        row.progress.counts[0] *= 2.0;
        let strange = [f64::NAN, f64::NEG_INFINITY, -1e300].map(Some).into_iter().cycle();
        row.values.iter_mut().zip(strange).for_each(|(value, strange)| *value = strange);
        row.values[0] = Some(-1e300);
        run.values.insert("lr".into(), f64::NAN.into());
        wild.apply(Record::Event(Event::Metrics(row)));
        let modes = [Mode::AskReset, Mode::Watching, Mode::Stopping, Mode::Typing("0.1".into())];
        for screen in [wild].into_iter().chain(modes.map(|mode| screen(mode, room))) {
            for width in (1..30).chain([39, 40, 41, 71, 72, 80, 133, 250]) {
                for height in (1..28).chain([40, 90]) {
                    assert_eq!(rows(&screen, width, height).len(), usize::from(height));
                }
            }
        }
    }
}

#[test]
fn remaining_budget_is_shown_beside_the_metrics() {
    let mut screen = screen(Mode::Training, "control");
    screen.apply(Record::Remaining(Remaining { done: 0.42, seconds: 187.0 }));
    let line = |screen: &Screen, width| rows(screen, width, 24).swap_remove(3);
    for width in [80, 120] {
        let line = line(&screen, width);
        assert!(line.starts_with(" return 400.0   time 0.80 s"), "{line}");
        assert!(line.ends_with("  42% done, about 3:07 left"), "{line}");
    }
    assert!(line(&screen, 50).starts_with(" return 400.0") && !line(&screen, 50).contains("left"));
    screen.apply(Record::Event(Event::Running { running: false }));
    assert!(line(&screen, 80).ends_with("  paused"));
}

#[test]
fn footer_lists_the_keys_of_each_mode() {
    let last = |mode| rows(&screen(mode, "control"), 80, 24).pop().unwrap();
    assert_eq!(last(Mode::Watching), " q quit   c chart   ? keys");
    assert_eq!(last(Mode::AskReset), " y new run   n cancel");
    assert_eq!(last(Mode::Stopping), " ctrl-c quit at once, without saving");
    assert_eq!(last(Mode::Typing("1".into())), " enter set   esc cancel");
    let mut paused = screen(Mode::Training, "control");
    paused.apply(Record::Event(Event::Running { running: false }));
    let rows = rows(&paused, 80, 24);
    assert!(rows[3].ends_with("paused") && rows[22].starts_with(" space resume"), "{rows:#?}");
}

#[test]
fn state_of_the_run_is_beside_the_leading_number() {
    let mut screen = screen(Mode::Training, "control");
    let Some(standing) = screen.view.run.as_ref().unwrap().standing.clone() else { panic!("the run has been tested") };
    let words = "solved at 852 thousand steps and still so".to_string();
    screen.apply(Record::Event(Event::Standing(Standing { state: RunState::StillSolved, words, ..standing })));
    assert_eq!(rows(&screen, 80, 24)[2], " average of 100 test episodes 320   solved at 852 thousand steps and still so");
    // A low screen has one row for all numbers, and a tiny one shows only the leading number.
    assert!(rows(&screen, 120, 10)[2].contains("and still so   return 400.0"), "{:?}", rows(&screen, 120, 10));
    assert_eq!(rows(&screen, 20, 4)[0], "320");
}
