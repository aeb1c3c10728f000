//! One file holds a whole run: a safetensors file whose tensors are the weights by name, the
//! optimiser's moments, the environments and the counters of every random stream, and whose
//! metadata is the config, the progress and the marks. Any safetensors reader can open it.
//!
//! It refuses to guess: a file that is foreign, damaged or newer is named as such.

use crate::error::RunError;
use crate::protocol::{Config, Evaluation, Mark, Metrics, PARTS, Progress};
use crate::{check_version, digest};
use learn::Data;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// The key under which everything but the tensors stands.
const KEY: &str = "hothouse";
/// The last field of that text: a hash over what stands before it and all tensors' names and bytes.
const CHECKSUM: &str = r#","checksum":"#;
const HISTORY: &str = "run.history";

pub(crate) type Tensors = Vec<(String, Vec<usize>, Data)>;

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
    let rows: Vec<f64> = history.iter().flat_map(row_from_metrics).collect();
    let history_bytes: Vec<u8> = rows.iter().flat_map(|v| v.to_le_bytes()).collect();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    let mut parts: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = tensors
        .into_iter()
        .map(|(name, shape, data)| {
            let (dtype, bytes) = bytes_from_data(&data);
            (name, dtype, shape, bytes)
        })
        .collect();
    parts.push((HISTORY.into(), Dtype::F64, vec![history.len(), COLUMNS], history_bytes));
    let mut text = serde_json::to_string(header).expect("a header is plain data");
    text.pop(); // its closing brace, which comes after the checksum
    let sum = checksum(&text, parts.iter().map(|(name, _, _, bytes)| (name.as_str(), bytes.as_slice())));
    let views = parts.iter().map(|(name, dtype, shape, bytes)| {
        let view = TensorView::new(*dtype, shape.clone(), bytes).expect("shape and bytes agree");
        (name.as_str(), view)
    });
    text += &format!("{CHECKSUM}\"{sum}\"}}");
    serialize(views, Some(HashMap::from([(KEY.to_string(), text)]))).expect("names are distinct")
}

pub(crate) fn decode(bytes: &[u8]) -> Result<(Header, Tensors, Vec<Metrics>), RunError> {
    let damaged = |why: String| RunError::Damaged { why };
    let foreign = |why: &str| RunError::Foreign { why: why.into() };
    let looks_like_safetensors = bytes.get(8) == Some(&b'{');
    let file = SafeTensors::deserialize(bytes).map_err(|e| {
        if looks_like_safetensors { damaged(e.to_string()) } else { foreign("not a safetensors file") }
    })?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| damaged(e.to_string()))?;
    let text = metadata.metadata().as_ref().and_then(|m| m.get(KEY));
    let text = text.ok_or_else(|| foreign("a safetensors file without Hothouse's metadata"))?;
    // The version is read by itself: a newer header may have a shape that this one cannot parse.
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let Version { version } = serde_json::from_str(text).map_err(|e| damaged(e.to_string()))?;
    check_version(version)?;
    let header: Header = serde_json::from_str(text).map_err(|e| damaged(e.to_string()))?;

    let mut all = file.tensors();
    all.sort_by(|a, b| (a.0 == HISTORY, &a.0).cmp(&(b.0 == HISTORY, &b.0)));
    let (stated, sum) = text.rsplit_once(CHECKSUM).unwrap_or((text, ""));
    let found = checksum(stated, all.iter().map(|(name, view)| (name.as_str(), view.data())));
    if sum.trim_matches(['"', '}']) != found {
        return Err(damaged("its checksum does not match".into()));
    }
    let mut history = Vec::new();
    let mut tensors = Vec::with_capacity(all.len());
    for (name, view) in all {
        if name == HISTORY {
            let values: Vec<f64> =
                view.data().chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
            let columns = view.shape().get(1).copied().unwrap_or(0);
            if columns < OLD_COLUMNS {
                return Err(damaged("its history has too few columns".into()));
            }
            history = values.chunks_exact(columns).map(metrics_from_row).collect();
        } else {
            let data = data_from_view(&view).ok_or_else(|| damaged(format!("{name} has an unknown type")))?;
            tensors.push((name, view.shape().to_vec(), data));
        }
    }
    Ok((header, tensors, history))
}

fn checksum<'a>(text: &str, parts: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut hash = digest::Fnv::new();
    hash.write(text.as_bytes());
    for (name, bytes) in parts {
        hash.write(name.as_bytes());
        hash.write(bytes);
    }
    hash.hex()
}

fn bytes_from_data(data: &Data) -> (Dtype, Vec<u8>) {
    match data {
        Data::F32(v) => (Dtype::F32, v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::F64(v) => (Dtype::F64, v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::U32(v) => (Dtype::U32, v.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::U64(v) => (Dtype::U64, v.iter().flat_map(|x| x.to_le_bytes()).collect()),
    }
}

fn data_from_view(view: &TensorView) -> Option<Data> {
    let words = || view.data().chunks_exact(4).map(|b| b.try_into().unwrap());
    let longs = || view.data().chunks_exact(8).map(|b| b.try_into().unwrap());
    Some(match view.dtype() {
        Dtype::F32 => Data::F32(words().map(f32::from_le_bytes).collect()),
        Dtype::U32 => Data::U32(words().map(u32::from_le_bytes).collect()),
        Dtype::U64 => Data::U64(longs().map(u64::from_le_bytes).collect()),
        Dtype::F64 => Data::F64(longs().map(f64::from_le_bytes).collect()),
        _ => return None,
    })
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
