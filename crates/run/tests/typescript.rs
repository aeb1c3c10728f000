//! The protocol as the page sees it: `www/run/protocol.ts`, rendered from `src/protocol.rs`, and the room of backgammon's
//! beside it.
//!
//! The committed files must equal what the types say now; `UPDATE=1 cargo test -p run --features
//! typescript` writes them anew.
#![cfg(feature = "typescript")]

use run::monitor::{Cursor, Layout, TrackLayout};
use run::protocol::*;
use std::fmt::Write;
use ts_rs::{Config as Style, TS};

fn declare<T: TS>(style: &Style, out: &mut String) {
    if let Some(docs) = T::docs() {
        writeln!(out, "{}", docs.trim_end()).unwrap();
    }
    writeln!(out, "export {}\n", T::decl(style)).unwrap();
}

macro_rules! declare_all {
    ($out:ident: $($name:ty)*) => {
        let style = Style::default();
        $(declare::<$name>(&style, &mut $out);)*
    };
}

fn tidy(out: &str) -> String {
    out.trim_end().lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

fn of_control() -> String {
    let mut out = String::from(
        "// Everything that crosses the boundary between the page and an experiment.\n\
         // Generated from crates/run/src/{protocol,monitor}.rs by a test; change it there, then run\n\
         // UPDATE=1 cargo test -p run --features typescript\n\n",
    );
    declare_all!(
        out:
        Config Knob KnobKind Command Event Level Progress Metrics Mark Evaluation Digest
        Device DeviceWish Environment Axis Frame Touch Stage Body Round Picture SweepSpec SweepCell
        PlanView PlanNode Backend Layout TrackLayout Cursor
    );
    writeln!(out, "/** Where the time of an iteration goes, in the order of Metrics.shares. */").unwrap();
    writeln!(out, "export const PARTS = {PARTS:?} as const;").unwrap();
    tidy(&out)
}

fn of_backgammon() -> String {
    use run::backgammon::protocol::*;
    let mut out = String::from(
        "// Everything that crosses the boundary between the page and the room of backgammon.\n\
         // Generated from crates/run/src/backgammon/protocol.rs by a test; change it there, then run\n\
         // UPDATE=1 cargo test -p run --features typescript\n\n\
         import type { Config, Device, DeviceWish, Digest, Level } from \"../protocol\";\n\n",
    );
    declare_all!(
        out:
        Command Event Learner Progress Metrics Mark Judged Score Frozen Who Inquiry Analysis Position Candidate Step
        Outlook Unfold Branch Setup Engine Act Table Phase May Reply Did Ending How Played Review Verdict
    );
    writeln!(out, "/** Where the time of a round goes, in the order of Metrics.shares. */").unwrap();
    writeln!(out, "export const PARTS = {PARTS:?} as const;\n").unwrap();
    writeln!(out, "/** Evaluations a decision that may be asked for at most. */").unwrap();
    writeln!(out, "export const MOST_EVALS = {MOST_EVALS};\n").unwrap();
    writeln!(out, "/** Minutes of training after which the agent is kept as it is. */").unwrap();
    writeln!(out, "export const FREEZE_MINUTES = {FREEZE_MINUTES:?} as const;").unwrap();
    tidy(&out)
}

fn committed(name: &str, fresh: &str, source: &str) {
    let path = format!("{}/../../www/run/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, fresh).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == fresh,
        "www/run/{name} is not what {source} says; next: UPDATE=1 cargo test -p run --features typescript"
    );
}

#[test]
fn the_page_has_these_types() {
    committed("protocol.ts", &of_control(), "src/protocol.rs");
    committed("backgammon/protocol.ts", &of_backgammon(), "src/backgammon/protocol.rs");
}
