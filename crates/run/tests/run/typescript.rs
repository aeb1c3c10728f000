//! Generates the protocol in TypeScript: `www/run/protocol.ts` from `src/protocol.rs`, and one file per room in `www/rooms`.
//!
//! The committed files must match the Rust types. `UPDATE=1 cargo test -p run --features typescript` writes them again.

use run::monitor::{Cursor, Layout, TrackLayout};
use run::protocol::*;
use run::room::TypeName;
use run::snake_case;
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

fn head(what: &str, source: &str) -> String {
    format!(
        "// {what}\n\
         // Generated from crates/run/src/{source} by a test; change it there, then run\n\
         // UPDATE=1 cargo test -p run --features typescript\n\n"
    )
}

/// Returns the interface that maps each question of a room to the type of its answer.
fn answers(all: &[(&str, TypeName)]) -> String {
    let style = Style::default();
    let lines: String = all.iter().map(|(name, answer)| format!("  {}: {};\n", snake_case(name), answer(&style))).collect();
    format!("export interface Answers {{\n{lines}}}\n\n")
}

/// Removes blanks at the ends of lines. If a comment has only one line of text, joins `/**`, the text and `*/` in one line.
fn tidy(out: &str) -> String {
    let lines: Vec<&str> = out.trim_end().lines().map(str::trim_end).collect();
    let mut tidied = String::new();
    let mut rest = &lines[..];
    while let [line, after @ ..] = rest {
        if let ["/**", words, " */", below @ ..] = rest {
            writeln!(tidied, "/** {} */", words.trim_start_matches(" * ")).unwrap();
            rest = below;
        } else {
            writeln!(tidied, "{line}").unwrap();
            rest = after;
        }
    }
    tidied
}

fn of_every_room() -> String {
    let mut out = head("Types that the page and a run of any room exchange.", "{protocol,monitor}.rs");
    declare_all!(
        out:
        Config Change Shared Dataset DataInfo Value Knob KnobKind Named Column Rate TimePart RoomInfo Variant Problem Goal
        Command Event Confirmation Standing RunState Began Level Progress Row Mark
        Digest Device DeviceWish SweepSpec SweepCell Operation Question TensorView Histogram NetworkView LayerView Backend
        Layout TrackLayout Cursor
    );
    out += &answers(ANSWERS);
    tidy(&out)
}

fn of_control() -> String {
    use run::control::protocol::*;
    let mut out = head("Questions and answers of the control room.", "control/protocol.rs");
    declare_all!(
        out:
        Question Environment KeyAction Axis Frame Touch Stage Body Drawn Crowd Tile Preview Round Picture PlanView PlanNode
    );
    out += &answers(ANSWERS);
    tidy(&out)
}

fn of_backgammon() -> String {
    use run::backgammon::protocol::*;
    let mut out = head("Questions, answers and events of the backgammon room.", "backgammon/protocol.rs");
    out += "import type { Progress } from \"../../run/protocol\";\n\n";
    declare_all!(
        out:
        Question RoomEvent Frozen PlayerKind AnalysisRequest Analysis Position Candidate Step Outlook Unfold Branch Setup Engine Act Session
        Phase AllowedActs Reply EngineAct Ending EndedBy Played Review Verdict Standing Draft Depth CubeOutlook CubeReview CubeAct
        Moment Judged
    );
    out += &answers(ANSWERS);
    writeln!(out, "/** Maximum number of evaluations per decision. */").unwrap();
    writeln!(out, "export const MOST_EVALS = {MOST_EVALS};\n").unwrap();
    writeln!(out, "/** Minutes of training after which a frozen copy of the agent is kept. */").unwrap();
    writeln!(out, "export const FREEZE_MINUTES = {FREEZE_MINUTES:?} as const;").unwrap();
    tidy(&out)
}

fn of_cube() -> String {
    use run::cube::protocol::*;
    let mut out = head("Questions, answers and events of the cube room.", "cube/protocol.rs");
    declare_all!(
        out:
        Question RoomEvent Puzzle Gives StateView ActionView Scrambled SolveMethod SearchKind SolveView Failure Solution Inside
        CurriculumDepth ReplayView TransitionView
    );
    out += &answers(ANSWERS);
    tidy(&out)
}

fn of_logic() -> String {
    use run::logic::protocol::*;
    let mut out = head("Questions and answers of the logic room.", "logic/protocol.rs");
    declare_all!(
        out:
        Question Experiment Shows Picture AutomatonView PopulationView MemberView MemberState GatesView Start Damage GridView
        CircuitView GateView ValuesView Format ExportView BigView
    );
    out += &answers(ANSWERS);
    tidy(&out)
}

fn of_words() -> String {
    use run::words::protocol::*;
    let mut out = head("Questions, answers and events of the words room.", "words/protocol.rs");
    declare_all!(
        out:
        Question RoomEvent Preset TokenizerKind Preparing PreparingPart AboutView ModelView TensorView CorpusView Sample TokenView ReadView
        NextView AttentionView Sampling GenerationView Generated Ended
    );
    out += &answers(ANSWERS);
    tidy(&out)
}

fn committed(name: &str, fresh: &str, source: &str) {
    let path = format!("{}/../../www/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, fresh).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(committed == fresh, "www/{name} does not match {source}; next: UPDATE=1 cargo test -p run --features typescript");
}

#[test]
fn typescript_protocol_matches_the_rust_types() {
    committed("run/protocol.ts", &of_every_room(), "src/protocol.rs");
    committed("rooms/control/protocol.ts", &of_control(), "src/control/protocol.rs");
    committed("rooms/backgammon/protocol.ts", &of_backgammon(), "src/backgammon/protocol.rs");
    committed("rooms/cube/protocol.ts", &of_cube(), "src/cube/protocol.rs");
    committed("rooms/logic/protocol.ts", &of_logic(), "src/logic/protocol.rs");
    committed("rooms/words/protocol.ts", &of_words(), "src/words/protocol.rs");
}
