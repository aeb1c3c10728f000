//! What a saved run of backgammon holds: the learner's parts, the agents kept as they were and the history of metrics as tensors; as
//! text the config, the progress, the marks, the judgements and the table. It refuses to know how they lie in a file, which is
//! `container.rs`'s.

use super::protocol::{Frozen, Judged, Mark, Metrics, PARTS, Progress};
use super::{ROOM, table};
use crate::container::{self, HISTORY, Tensors};
use crate::error::RunError;
use crate::protocol::Config;
use learn::Data;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the file says beside its tensors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// Format of the file; a later one is refused.
    pub version: u32,
    pub config: Config,
    /// Values in force, which live changes may have moved away from the config's.
    pub knobs: BTreeMap<String, f64>,
    pub progress: Progress,
    pub marks: Vec<Mark>,
    pub judged: Vec<Judged>,
    pub frozen: Vec<Frozen>,
    pub arithmetic: String,
    pub table: Option<table::Kept>,
}

/// The tensor of an agent that is kept as it was.
pub(crate) fn frozen_name(minutes: u32) -> String {
    format!("frozen.{minutes}")
}

pub(crate) fn encode(header: &Header, mut tensors: Tensors, history: &[Metrics]) -> Vec<u8> {
    let rows = Data::F64(history.iter().flat_map(row_from_metrics).collect());
    tensors.push((HISTORY.into(), vec![history.len(), COLUMNS], rows));
    container::pack(header, tensors)
}

pub(crate) fn decode(bytes: &[u8]) -> Result<(Header, Tensors, Vec<Metrics>), RunError> {
    let (header, mut tensors) = container::unpack(bytes, ROOM)?;
    let mut history = Vec::new();
    if let Some(place) = tensors.iter().position(|(name, ..)| name == HISTORY) {
        match tensors.swap_remove(place) {
            (_, shape, Data::F64(rows)) if shape.get(1) == Some(&COLUMNS) => {
                history = rows.as_chunks::<COLUMNS>().0.iter().map(metrics_from_row).collect();
            }
            (_, shape, Data::F64(rows)) if shape.get(1) == Some(&BEFORE_DEVICES) => {
                history = rows.as_chunks::<BEFORE_DEVICES>().0.iter().map(row_before_devices).collect();
            }
            _ => return Err(RunError::Damaged { why: "its history has other columns".into() }),
        }
    }
    Ok((header, tensors, history))
}

const NUMBERS: usize = 14;
const COLUMNS: usize = NUMBERS + PARTS.len();
/// Of saves from before a round's time had a part called device, which came before the last.
const BEFORE_DEVICES: usize = COLUMNS - 1;

fn row_before_devices(row: &[f64; BEFORE_DEVICES]) -> Metrics {
    let mut now = [0.0; COLUMNS];
    now[..BEFORE_DEVICES - 1].copy_from_slice(&row[..BEFORE_DEVICES - 1]);
    now[COLUMNS - 1] = row[BEFORE_DEVICES - 1];
    metrics_from_row(&now)
}

fn row_from_metrics(m: &Metrics) -> [f64; COLUMNS] {
    let p = m.progress;
    let mut row = [0.0; COLUMNS];
    row[..NUMBERS].copy_from_slice(&[
        p.rounds.into(),
        p.games as f64,
        p.moves as f64,
        p.evaluations as f64,
        p.updates as f64,
        p.train_s,
        m.loss,
        m.grad_norm,
        m.lr,
        m.games_per_min,
        m.evals_per_s,
        m.mean_length,
        m.gammons,
        m.backgammons,
    ]);
    row[NUMBERS..].copy_from_slice(&m.shares);
    row
}

fn metrics_from_row(row: &[f64; COLUMNS]) -> Metrics {
    let mut shares = [0.0; PARTS.len()];
    shares.copy_from_slice(&row[NUMBERS..]);
    Metrics {
        progress: Progress {
            rounds: row[0] as u32,
            games: row[1] as u64,
            moves: row[2] as u64,
            evaluations: row[3] as u64,
            updates: row[4] as u64,
            train_s: row[5],
        },
        loss: row[6],
        grad_norm: row[7],
        lr: row[8],
        games_per_min: row[9],
        evals_per_s: row[10],
        mean_length: row[11],
        gammons: row[12],
        backgammons: row[13],
        shares,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::{Parlour, default_config, protocol::Command, protocol::Event};
    use math::Isa;

    /// A run of some rounds, and what is told when a file of it is opened.
    fn rounds() -> Parlour {
        let knobs = [("hidden", 16.0), ("games", 8.0), ("batch", 64.0)].map(|(k, v)| (k.to_string(), v));
        let config = Config { knobs: BTreeMap::from(knobs), ..default_config() };
        let mut parlour = Parlour::new(config, Isa::best()).unwrap();
        parlour.lend_clock(|| 0.0);
        parlour.command(Command::Start).unwrap();
        let mut now_s = 0.0;
        while parlour.progress().rounds < 3 {
            now_s += 0.01;
            parlour.advance(now_s);
        }
        parlour
    }

    fn history(parlour: &mut Parlour) -> Vec<Metrics> {
        match parlour.events().swap_remove(0) {
            Event::Began { history, .. } => history,
            other => panic!("expected the run to begin, got {other:?}"),
        }
    }

    #[test]
    fn saves_from_before_devices_are_read() {
        let mut run = rounds();
        let bytes = run.save();
        let now = history(&mut Parlour::restore(&bytes, Isa::best()).unwrap());
        assert!(now.len() == 3 && now.iter().all(|m| m.shares[PARTS.len() - 1] > 0.0), "{now:?}");

        let (header, mut tensors, _) = decode(&bytes).unwrap();
        let (Header { config, .. }, with_history) = container::unpack::<Header>(&bytes, ROOM).unwrap();
        assert_eq!(config, header.config);
        let (name, _, rows) = with_history.into_iter().find(|(name, ..)| name == HISTORY).unwrap();
        let Data::F64(rows) = rows else { panic!("a history is of numbers") };
        let device = COLUMNS - 2;
        let before: Vec<f64> = rows
            .chunks_exact(COLUMNS)
            .flat_map(|row| row.iter().enumerate().filter(|&(column, _)| column != device))
            .map(|(_, &x)| x)
            .collect();
        tensors.push((name, vec![3, BEFORE_DEVICES], Data::F64(before)));
        let old = container::pack(&header, tensors);
        let mut restored = Parlour::restore(&old, Isa::best()).unwrap();
        assert_eq!(history(&mut restored), now, "nothing was ever spent on a device");
        assert_eq!(restored.digest(), run.digest());
        assert_eq!(restored.save(), bytes, "and it is saved as runs are now");
    }
}
