//! The protocol as the page sees it: `www/run/protocol.ts`, rendered from `src/protocol.rs`.
//!
//! The committed file must equal what the types say now; `UPDATE=1 cargo test -p run --features
//! typescript` writes it anew.
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

fn render() -> String {
    let style = Style::default();
    let mut out = String::from(
        "// Everything that crosses the boundary between the page and an experiment.\n\
         // Generated from crates/run/src/{protocol,monitor}.rs by a test; change it there, then run\n\
         // UPDATE=1 cargo test -p run --features typescript\n\n",
    );
    macro_rules! declare_all {
        ($($name:ty)*) => { $(declare::<$name>(&style, &mut out);)* };
    }
    declare_all!(
        Config Knob KnobKind Command Event Level Progress Metrics Mark Evaluation Digest
        Device DeviceWish Environment Axis Frame Touch Stage Body Round Picture SweepSpec SweepCell
        PlanView PlanNode Backend Layout TrackLayout Cursor
    );
    writeln!(out, "/** Where the time of an iteration goes, in the order of Metrics.shares. */").unwrap();
    writeln!(out, "export const PARTS = {PARTS:?} as const;").unwrap();
    out.trim_end().lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

#[test]
fn the_page_has_these_types() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../www/run/protocol.ts");
    let fresh = render();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, &fresh).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == fresh,
        "www/run/protocol.ts is not what src/protocol.rs says; next: UPDATE=1 cargo test -p run --features typescript"
    );
}
