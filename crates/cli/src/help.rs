//! The complete command grammar and the help of the knobs. A knob is a setting of a run. Each room declares its commands and knobs.

use crate::args::{BUDGETS, Cli, EXAMPLES};
use crate::format::wrapped;
use crate::rooms;
use crate::verbs::sweep;
use clap::{Command, CommandFactory};
use run::AnyRoom;
use run::protocol::{Knob, KnobKind};

const WIDTH: usize = 90;

pub fn grammar() -> Command {
    let knobs = knob_help();
    let [examples, sweep_examples] = rooms::examples();
    let sweep_help = format!("Examples:\n{sweep_examples}\n{}", sweep::HELP);
    let long_sweep_help = format!("{sweep_help}\n\n{knobs}");
    let grammar = Cli::command()
        .after_help(format!("{EXAMPLES}\n{examples}\n{BUDGETS}"))
        .mut_subcommand("train", |train| {
            // The help of `train` itself lists the knobs, so this text does not refer to `hothouse train --help`.
            let set = "Set a knob, as in --set lr=0.003; repeat for more. All knobs are listed below";
            train.mut_arg("set", |arg| arg.long_help(set)).after_long_help(format!("{}\n{knobs}", room_list()))
        })
        .mut_subcommand("sweep", |verb| verb.after_help(sweep_help).after_long_help(long_sweep_help));
    rooms::extend(grammar)
}

/// Lists the rooms, their variants, and the unit that `--steps` counts in each room.
fn room_list() -> String {
    let mut text = String::from("Rooms and their variants, for --variant:\n");
    for room in run::rooms() {
        let schema = room.schema();
        let variants: Vec<_> = room.variants().iter().map(|variant| variant.id.clone()).collect();
        let line = format!("{}: {}. --steps counts {}", schema.id, variants.join(", "), schema.counters[0].unit);
        for (i, line) in wrapped(&line, WIDTH).into_iter().enumerate() {
            text += &format!("{}{line}\n", if i == 0 { "  " } else { "      " });
        }
    }
    text
}

/// Lists all knobs of each room's first variant. For every other variant, lists only the knobs that have another default or that the first
/// variant lacks.
fn knob_help() -> String {
    let mut text = String::from("Knobs, for --set (* can change during a run).\n");
    run::rooms().into_iter().for_each(|room| text += &knobs_of(room));
    text
}

fn knobs_of(room: &dyn AnyRoom) -> String {
    let (schema, variants) = (room.schema(), room.variants());
    let base = room.knobs(&variants[0].id);
    let mut text = format!("\n{}, with the defaults of {}:\n", schema.title, variants[0].id);
    base.iter().for_each(|knob| text += &knob_words(knob));
    for variant in &variants[1..] {
        let knobs = room.knobs(&variant.id);
        let (known, new): (Vec<_>, Vec<_>) = knobs.iter().partition(|knob| base.iter().any(|b| b.name == knob.name && b.kind == knob.kind));
        let other = known.into_iter().filter(|knob| base.iter().any(|usual| usual.name == knob.name && usual.default != knob.default));
        let other: Vec<_> = other.map(|knob| format!("{}={}", knob.name, knob.default)).collect();
        text += &format!("\n  {} differs in:\n", variant.id);
        for line in wrapped(&other.join(" "), WIDTH) {
            text += &format!("      {line}\n");
        }
        new.into_iter().for_each(|knob| text += &knob_words(knob));
    }
    text
}

fn knob_words(knob: &Knob) -> String {
    let range = match knob.kind {
        KnobKind::Float { min, max, .. } => format!("{min} to {max}"),
        KnobKind::Int { min, max, .. } => format!("{min} to {max}, whole"),
        KnobKind::Bool => "on or off".into(),
        KnobKind::Choice { options } => options.iter().map(|option| option.name).collect::<Vec<_>>().join(", "),
        KnobKind::Text { most } => format!("text of up to {most} bytes"),
    };
    let mark = if knob.live { "*" } else { "" };
    let unit = if knob.unit.is_empty() { String::new() } else { format!(" {}", knob.unit) };
    let mut text = format!("\n  {}{mark}  {range}{unit}, default {}\n", knob.name, shown_default(knob));
    for line in wrapped(&format!("{}. {}", knob.label, knob.help), WIDTH) {
        text += &format!("      {line}\n");
    }
    text
}

fn shown_default(knob: &Knob) -> String {
    match knob.default.to_string() {
        text if text.is_empty() => "none".into(),
        text => text,
    }
}
