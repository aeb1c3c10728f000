//! Compares every setting of every room with tests/golden/settings.txt. The meaning of links without knobs and of published digests depends
//! on the defaults, so a changed default must be visible in that file. `SETTINGS=write cargo test --release -p run --test run settings`
//! writes the file again.

use run::AnyRoom;
use run::protocol::{Knob, KnobKind};
use std::collections::BTreeMap;
use std::fmt::Write;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/settings.txt");

fn kind(kind: KnobKind) -> String {
    let scale = |log: bool| if log { " logarithmic" } else { "" };
    match kind {
        KnobKind::Float { min, max, log } => format!("number {min} to {max}{}", scale(log)),
        KnobKind::Int { min, max, log } => format!("whole {min} to {max}{}", scale(log)),
        KnobKind::Bool => "switch".into(),
        KnobKind::Choice { options } => options.iter().map(|option| option.name).collect::<Vec<_>>().join("|"),
        KnobKind::Text { most } => format!("text of {most} bytes"),
    }
}

fn line(Knob { name, kind: of, default, live, .. }: &Knob) -> String {
    format!("{name} = {:?}, {}{}", default.to_string(), kind(*of), if *live { ", live" } else { "" })
}

/// Writes a room's settings to `text`: one line for each variant, then one line for each distinct knob with the variants that have this
/// knob.
fn describe(room: &dyn AnyRoom, text: &mut String) {
    let schema = room.schema();
    let variants = room.variants();
    writeln!(text, "{}", schema.id).unwrap();
    for variant in &variants {
        let goal = variant.goal.map(|goal| format!(", solved at {} {}", goal.column, goal.at)).unwrap_or_default();
        writeln!(text, "  {}: a sweep ends after {}{goal}", variant.id, variant.sweep_budget).unwrap();
    }
    let mut having: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for variant in &variants {
        for knob in room.knobs(&variant.id) {
            having.entry(line(&knob)).or_default().push(&variant.id);
        }
    }
    for (line, ids) in having {
        let ids = if ids.len() == variants.len() { "all".into() } else { ids.join(" ") };
        writeln!(text, "    {line}: {ids}").unwrap();
    }
}

#[test]
fn settings_match_the_golden_file() {
    let mut text = String::new();
    for room in run::rooms().into_iter().filter(|room| room.schema().id != "bandit") {
        describe(room, &mut text);
    }
    if std::env::var("SETTINGS").is_ok_and(|mode| mode == "write") {
        std::fs::write(PATH, &text).unwrap();
    }
    let golden = std::fs::read_to_string(PATH).unwrap_or_default();
    for (now, then) in text.lines().zip(golden.lines()) {
        assert_eq!(now, then, "a setting changed: see the head of this file");
    }
    assert_eq!(text, golden, "settings.txt has more or fewer lines: see the head of this file");
}
