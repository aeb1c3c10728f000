//! What a saved run of control holds: as tensors the weights by name, the optimiser's moments, the environments, the counters of
//! every random stream and the history of metrics; as text the config, the progress and the marks. It refuses to know how
//! they lie in a file, which is `container.rs`'s.

use crate::container::{self, HISTORY, Tensors};
use crate::error::RunError;
use crate::protocol::{Config, Evaluation, Mark, Metrics, PARTS, Progress};
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
    pub evaluations: Vec<Evaluation>,
    pub solved: bool,
    pub arithmetic: String,
}

pub(crate) fn encode(header: &Header, mut tensors: Tensors, history: &[Metrics]) -> Vec<u8> {
    let rows = Data::F64(history.iter().flat_map(row_from_metrics).collect());
    tensors.push((HISTORY.into(), vec![history.len(), COLUMNS], rows));
    container::pack(header, tensors)
}

pub(crate) fn decode(bytes: &[u8]) -> Result<(Header, Tensors, Vec<Metrics>), RunError> {
    let (header, mut tensors) = container::unpack(bytes, crate::ROOM)?;
    let mut history = Vec::new();
    if let Some(place) = tensors.iter().position(|(name, ..)| name == HISTORY) {
        let (_, shape, data) = tensors.swap_remove(place);
        let columns = shape.get(1).copied().unwrap_or(0);
        match data {
            Data::F64(rows) if columns >= OLD_COLUMNS => {
                history = rows.chunks_exact(columns).map(metrics_from_row).collect();
            }
            _ => return Err(RunError::Damaged { why: "its history has too few columns".into() }),
        }
    }
    Ok((header, tensors, history))
}

/// Metrics as one row of numbers; NaN stands for what was not known yet.
pub(crate) const COLUMNS: usize = 15 + PARTS.len();
/// Files from before the time was told by parts have the share of acting in the last one.
const OLD_COLUMNS: usize = 16;

pub(crate) fn row_from_metrics(m: &Metrics) -> [f64; COLUMNS] {
    let p = m.progress;
    let mut row = [0.0; COLUMNS];
    row[..15].copy_from_slice(&[
        f64::from(p.iteration),
        p.env_steps as f64,
        p.episodes as f64,
        p.train_s,
        m.mean_return.unwrap_or(f64::NAN),
        m.mean_length.unwrap_or(f64::NAN),
        m.policy_loss,
        m.value_loss,
        m.entropy,
        m.approx_kl,
        m.clip_fraction,
        m.explained_variance,
        m.grad_norm,
        m.lr,
        m.steps_per_s,
    ]);
    row[15..].copy_from_slice(&m.shares);
    row
}

pub(crate) fn metrics_from_row(row: &[f64]) -> Metrics {
    let known = |v: f64| (!v.is_nan()).then_some(v);
    let mut shares = [0.0; PARTS.len()];
    if row.len() > OLD_COLUMNS {
        // A file from before there was another part ends sooner.
        shares.iter_mut().zip(&row[15..]).for_each(|(share, &saved)| *share = saved);
    }
    Metrics {
        progress: Progress {
            iteration: row[0] as u32,
            env_steps: row[1] as u64,
            episodes: row[2] as u64,
            train_s: row[3],
        },
        mean_return: known(row[4]),
        mean_length: known(row[5]),
        policy_loss: row[6],
        value_loss: row[7],
        entropy: row[8],
        approx_kl: row[9],
        clip_fraction: row[10],
        explained_variance: row[11],
        grad_norm: row[12],
        lr: row[13],
        steps_per_s: row[14],
        shares,
    }
}
