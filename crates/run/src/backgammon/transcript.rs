//! Games as text in the Jellyfish match format (.mat), which GNU Backgammon and most other programs import. A line has one turn of each
//! player. A turn lists every step of its move. Point 25 is the bar, and point 0 is the place of borne-off checkers.
//!
//! The text contains no evaluation.

use super::protocol::Setup;
use super::record::{Action, Record};
use worlds::backgammon::Stakes;
use worlds::backgammon::notation::{Step, route};

/// Text column, counted from 0, in which the second player's turns begin. After a long turn of the first player, the second player's turn
/// begins farther to the right.
const COLUMN: usize = 33;

pub(crate) fn write(setup: &Setup, names: &[String; 2], earlier: u32, earlier_score: [u32; 2], records: &[&Record]) -> String {
    let names = names.each_ref().map(|name| plain(name));
    let mut text = format!(" {} point match\n", setup.length);
    let mut score = earlier_score;
    for (record, number) in records.iter().zip(earlier + 1..) {
        if let Stakes::Match(standing) = record.stakes {
            score = standing.score.map(u32::from);
        }
        text += &format!("\n Game {number}\n");
        text += &columns(&format!(" {} : {}", names[0], score[0]), &format!("{} : {}", names[1], score[1]));
        let mut entries = turns(record).into_iter().peekable();
        let mut number = 1;
        while entries.peek().is_some() {
            let left = entries.next_if(|(seat, _)| *seat == 0).map_or(String::new(), |(_, text)| text);
            let right = entries.next_if(|(seat, _)| *seat == 1).map_or(String::new(), |(_, text)| text);
            text += &columns(&format!("{number:>3}) {left}"), &right);
            number += 1;
        }
        if let Some(ending) = record.ending {
            score[ending.winner as usize] += ending.points;
            let over = setup.length > 0 && score[ending.winner as usize] >= setup.length.into();
            let points = if ending.points == 1 { "point" } else { "points" };
            let wins = format!("Wins {} {points}{}", ending.points, if over { " and the match" } else { "" });
            // The result is written in the winner's column.
            text += &if ending.winner as usize == 0 { format!("      {wins}\n") } else { columns("", &format!(" {wins}")) };
        }
    }
    text
}

/// Replaces characters that the format does not allow in a name, and cuts the name to 24 characters. A colon is not allowed, because it
/// ends a name.
fn plain(name: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_ascii_graphic() && c != ':' { c } else { '_' }).collect();
    name.chars().take(24).collect()
}

fn columns(left: &str, right: &str) -> String {
    if right.is_empty() {
        return format!("{}\n", left.trim_end());
    }
    // At least two spaces separate the columns.
    format!("{left:<width$}  {right}\n", width = COLUMN - 2)
}

/// Returns the seat and the text of each turn, in order. A turn is a move with its roll, or a cube action. A resignation is not a turn.
fn turns(record: &Record) -> Vec<(u8, String)> {
    let mut turns = Vec::new();
    record.replay(|before, action| {
        let text = match (action, before.dice()) {
            (Action::Moved(after), Some(roll)) => {
                let way = route(&before.board(), roll, &after).unwrap_or_default();
                format!("{}{}: {}", roll.high(), roll.low(), words(&way)).trim_end().to_string()
            }
            (Action::Doubled, _) => format!(" Doubles => {}", 2 * before.cube().value),
            (Action::Took, _) => " Takes".into(),
            (Action::Passed, _) => " Drops".into(),
            (Action::Rolled(_) | Action::Moved(_) | Action::Resigned { .. }, _) => return,
        };
        turns.push((action.seat(before), text));
    });
    turns
}

fn words(way: &[Step]) -> String {
    let step = |step: &Step| format!("{}/{}{}", step.from, step.to, if step.hit { "*" } else { "" });
    way.iter().map(step).collect::<Vec<_>>().join(" ")
}
