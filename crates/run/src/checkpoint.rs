//! Content of a saved run: tensors and a text. The tensors are the arrays of the learner and of the room, the history of metrics rows, and
//! user data of at most `DATA_KEPT` bytes. The text contains the config, the progress, the marks (live changes of knobs), the results of
//! tests, and the room's other data (`Room::notes`). `container.rs` defines the file format.
//!
//! Rows are stored with the names of their columns, so that files with missing or obsolete columns can be read.

use crate::RunError;
use crate::container::{self, DATA, HISTORY, Sum, Tensors};
use crate::json;
use crate::protocol::{Config, Dataset, Knobs, Mark, Progress, Row, Value};
use crate::schema::Schema;
use learn::Data;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Content of the file besides its tensors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// Format version of the file. A file with another version is refused.
    pub version: u32,
    pub config: Config,
    /// Current value of every knob. After a live change, a knob's value differs from the value in `config`.
    pub knobs: Knobs,
    pub progress: Progress,
    pub marks: Vec<Mark>,
    pub tests: Vec<Row>,
    /// True if a test was in progress when the run was saved. The restored run repeats the test.
    pub testing: bool,
    /// True if the test in progress was a confirmation ([`crate::protocol::Goal`]).
    #[serde(default)]
    pub confirming: bool,
    pub solved: Option<Progress>,
    /// Number of failed confirmations; `None` in a file from a version without confirmations.
    #[serde(default)]
    pub attempts: Option<u32>,
    pub arithmetic: String,
    /// Value of [`crate::room::Room::notes`].
    pub room: Json,
}

/// Maximum size in bytes of user data that a checkpoint contains. Larger user data must be provided again when the run is restored.
pub(crate) const DATA_KEPT: usize = 16 << 20;

/// Maximum length in bytes of a text value in a mark (a live change of a knob). No knob accepts a longer text.
const MARK_BYTES: usize = 4096;

/// Names of the columns of all rows in this file.
#[derive(Serialize, Deserialize)]
struct Names {
    counters: Vec<String>,
    history: Vec<String>,
    tests: Vec<String>,
}

#[derive(Serialize)]
struct Stored {
    #[serde(flatten)]
    header: Header,
    names: Names,
}

/// The names of a [`Stored`], parsed separately from the header.
#[derive(Deserialize)]
struct Named {
    names: Names,
}

/// Names of a history row's columns before the counters.
const HEAD: [&str; 2] = ["iteration", "train_s"];

fn history_names(schema: &Schema) -> Vec<&'static str> {
    let counters = schema.counters.iter().map(|c| c.name);
    let metrics = schema.metrics.iter().map(|c| c.name);
    HEAD.into_iter().chain(counters).chain(metrics).chain(schema.all_parts().map(|part| part.name)).collect()
}

/// Header and tensors of a saved run. The tensors are those of the learner, of the room and of the history.
pub(crate) type Snapshot = (Header, Tensors);

pub(crate) fn encode((header, mut tensors): Snapshot, schema: &Schema) -> Vec<u8> {
    let owned = |names: Vec<&str>| names.into_iter().map(String::from).collect::<Vec<_>>();
    let names = Names {
        counters: owned(schema.counters.iter().map(|c| c.name).collect()),
        history: owned(history_names(schema)),
        tests: owned(schema.tests.iter().map(|c| c.name).collect()),
    };
    if let Some(content) = header.config.data.as_ref().and_then(|data| data.content.as_ref())
        && content.len() <= DATA_KEPT
    {
        tensors.push((DATA.into(), vec![content.len()], Data::U8(content.to_vec())));
    }
    container::pack(&Stored { header, names }, tensors, Sum::Bytes)
}

pub(crate) fn history(rows: &[Row], schema: &Schema) -> (String, Vec<usize>, Data) {
    let all = Data::F64(rows.iter().flat_map(numbers).collect());
    (HISTORY.into(), vec![rows.len(), history_names(schema).len()], all)
}

/// Converts a row to numbers, in the order of [`history_names`]. NaN represents an unknown value.
pub(crate) fn numbers(row: &Row) -> Vec<f64> {
    let Progress { iteration, counts, train_s } = &row.progress;
    let values = row.values.iter().map(|value| value.unwrap_or(f64::NAN));
    [f64::from(*iteration), *train_s].into_iter().chain(counts.iter().copied()).chain(values).collect()
}

/// Converts numbers back to a row with `counters` counters; the inverse of [`numbers`].
pub(crate) fn row(numbers: &[f64], counters: usize) -> Row {
    let (head, values) = numbers.split_at(HEAD.len() + counters);
    Row {
        progress: Progress { iteration: head[0] as u32, train_s: head[1], counts: head[HEAD.len()..].to_vec() },
        values: values.iter().map(|&value| (!value.is_nan()).then_some(value)).collect(),
    }
}

pub(crate) fn decode(bytes: &[u8], schema: &Schema) -> Result<(Header, Tensors, Vec<Row>), RunError> {
    let (text, mut tensors) = container::unpack(bytes, schema.id, Sum::Bytes)?;
    let stored: Json = json::read(&text).map_err(RunError::damaged)?;
    let Named { names } = serde_json::from_value(stored.clone()).map_err(RunError::damaged)?;
    let mut header: Header = serde_json::from_value(stored).map_err(RunError::damaged)?;
    let mut take = |which: &str| tensors.iter().position(|(name, ..)| name == which).map(|at| tensors.swap_remove(at));
    let (history, content) = (take(HISTORY), take(DATA));
    match (&mut header.config.data, content) {
        (_, None) => {}
        (Some(data), Some((_, _, Data::U8(content)))) => {
            data.fill(Some(&Dataset::new("", content)));
            if data.content.is_none() {
                return Err(RunError::damaged("its data does not match its hash"));
            }
        }
        _ => return Err(RunError::damaged("it has data without a description")),
    }
    if !header.marks.iter().all(could_be) {
        return Err(RunError::damaged("a mark has an invalid knob"));
    }
    let counters: Vec<&str> = schema.counters.iter().map(|c| c.name).collect();
    let tests: Vec<&str> = schema.tests.iter().map(|c| c.name).collect();
    let ordered = |progress: &mut Progress| {
        progress.counts = picked(&progress.counts, &names.counters, &counters, 0.0);
    };
    ordered(&mut header.progress);
    header.solved.iter_mut().for_each(ordered);
    header.marks.iter_mut().for_each(|mark| ordered(&mut mark.progress));
    for row in &mut header.tests {
        ordered(&mut row.progress);
        row.values = picked(&row.values, &names.tests, &tests, None);
    }
    let rows = match history {
        None => Vec::new(),
        Some((_, shape, Data::F64(all))) if shape.get(1) == Some(&names.history.len()) => {
            let wanted = history_names(schema);
            // A share of time that is missing in the file becomes 0, because the run spent no time on that part of an iteration.
            let first_share = HEAD.len() + counters.len() + schema.metrics.len();
            all.chunks_exact(names.history.len().max(1))
                .map(|found| {
                    let mut numbers = picked(found, &names.history, &wanted, f64::NAN);
                    numbers[first_share..].iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = 0.0);
                    row(&numbers, counters.len())
                })
                .collect()
        }
        Some(_) => return Err(RunError::damaged("its history does not match its column names")),
    };
    Ok((header, tensors, rows))
}

/// Returns true if the mark has a well-formed knob name and short values. The knob itself may no longer exist.
fn could_be(mark: &Mark) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let short = |value: &Value| !matches!(value, Value::Text(text) if text.len() > MARK_BYTES);
    mark.knob.len() <= 64 && mark.knob.chars().all(word) && short(&mark.from) && short(&mark.to)
}

/// Returns a value for each name in `want`. `have` contains the names of `numbers`, in the same order. For a name without a number, the
/// value is `missing`.
fn picked<T: Copy>(numbers: &[T], have: &[String], want: &[&str], missing: T) -> Vec<T> {
    let at = |name: &&str| have.iter().position(|found| found == name);
    want.iter().map(|name| at(name).and_then(|at| numbers.get(at)).copied().unwrap_or(missing)).collect()
}
