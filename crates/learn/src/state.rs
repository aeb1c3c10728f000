//! Checkpoint contents of a learner: named arrays.

use graph::Table;

/// Contents of one array of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    U8(Vec<u8>),
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::F32(values) => values.len(),
            Data::F64(values) => values.len(),
            Data::U32(values) => values.len(),
            Data::U64(values) => values.len(),
            Data::U8(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn bytes(&self) -> usize {
        let each = match self {
            Data::U8(_) => 1,
            Data::F32(_) | Data::U32(_) => 4,
            Data::F64(_) | Data::U64(_) => 8,
        };
        each * self.len()
    }

    /// Returns true if no value is NaN or infinite. A learner cannot be restored from an array with such a value.
    pub fn is_finite(&self) -> bool {
        match self {
            Data::F32(values) => values.iter().all(|x| x.is_finite()),
            Data::F64(values) => values.iter().all(|x| x.is_finite()),
            Data::U32(_) | Data::U64(_) | Data::U8(_) => true,
        }
    }
}

/// Function that returns the shape and the contents of the array with a given name, or `None` if the checkpoint has no such array.
pub type Find<'a> = dyn Fn(&str) -> Option<(&'a [usize], &'a Data)> + 'a;

/// Name, shape and contents of each array of a checkpoint.
pub type Parts = Vec<(String, Vec<usize>, Data)>;

/// Returns the shape and the contents of the array called `name`. A closure around this function is a [`Find`].
pub fn part<'a>(parts: &'a Parts, name: &str) -> Option<(&'a [usize], &'a Data)> {
    parts.iter().find(|(known, ..)| known == name).map(|(_, shape, data)| (shape.as_slice(), data))
}

/// A parameter tensor of a learner, for display.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<'a> {
    pub name: String,
    pub shape: Vec<usize>,
    pub weights: &'a [f32],
    /// Adam's first moment, which is an average of the recent gradients. Empty if the learner does not use Adam.
    pub gradients: &'a [f32],
}

/// Returns a tensor for each parameter of `table`. `m` is Adam's first moment.
pub(crate) fn tensors<'a>(table: &Table, weights: &'a [f32], m: &'a [f32]) -> Vec<Tensor<'a>> {
    let tensor = |spec: &graph::ParamSpec| Tensor {
        name: spec.name.to_string(),
        shape: spec.file_shape().to_vec(),
        weights: &weights[spec.range()],
        gradients: &m[spec.range()],
    };
    table.specs().iter().map(tensor).collect()
}

/// Name, shape and contents of one array.
pub(crate) type Saved = (String, Vec<usize>, Data);

/// Returns the arrays of a checkpoint: one array for each group and each parameter of `table`. A group is a pair (prefix, values). The
/// values are the weights or the Adam moments of all parameters. The name of an array is the prefix followed by the parameter's name.
pub(crate) fn save<'a>(table: &Table, groups: impl IntoIterator<Item = (&'static str, &'a [f32])>) -> Vec<Saved> {
    let of_group = |(prefix, values): (&str, &'a [f32])| {
        let tensor = |spec: &graph::ParamSpec| {
            let values = Data::F32(values[spec.range()].to_vec());
            (format!("{prefix}{}", spec.name), spec.file_shape().to_vec(), values)
        };
        table.specs().iter().map(tensor).collect::<Vec<_>>()
    };
    groups.into_iter().flat_map(of_group).collect()
}

/// Invalid or missing array in a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    #[error("the checkpoint lacks {name} with the expected type and shape; load one saved with the same settings")]
    Missing { name: String },
    #[error("{name} in the checkpoint contains an invalid value; load an earlier checkpoint")]
    BadValue { name: String },
}

pub(crate) fn missing(name: &str) -> SavedError {
    SavedError::Missing { name: name.into() }
}

pub(crate) fn bad(name: &str) -> SavedError {
    SavedError::BadValue { name: name.into() }
}

/// Returns the elements of the array called `name`. `of` selects the element type; an array of another type is reported as missing.
fn values<'a, T>(find: &Find<'a>, name: &str, of: fn(&Data) -> Option<&Vec<T>>) -> Result<&'a [T], SavedError> {
    find(name).and_then(|(_, data)| of(data)).map(Vec::as_slice).ok_or_else(|| missing(name))
}

/// Returns the f32 array called `name`. Returns an error if the array is missing or contains a value that is not finite.
pub(crate) fn floats<'a>(find: &Find<'a>, name: &str) -> Result<&'a [f32], SavedError> {
    let all = values(find, name, |data| if let Data::F32(values) = data { Some(values) } else { None })?;
    if all.iter().all(|x| x.is_finite()) { Ok(all) } else { Err(bad(name)) }
}

/// Returns the array as [`floats`] does. An array that does not have exactly `len` values is reported as missing.
pub(crate) fn floats_of<'a>(find: &Find<'a>, name: &str, len: usize) -> Result<&'a [f32], SavedError> {
    if find(name).is_some_and(|(_, data)| data.len() == len) { floats(find, name) } else { Err(missing(name)) }
}

/// Returns the array as [`floats`] does. An array of another shape than `shape` is reported as missing.
pub(crate) fn floats_in<'a>(find: &Find<'a>, name: &str, shape: &[usize]) -> Result<&'a [f32], SavedError> {
    match find(name) {
        Some((found, _)) if found == shape => floats_of(find, name, shape.iter().product()),
        _ => Err(missing(name)),
    }
}

pub(crate) fn words<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u32], SavedError> {
    values(find, name, |data| if let Data::U32(values) = data { Some(values) } else { None })
}

pub(crate) fn numbers<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u64], SavedError> {
    values(find, name, |data| if let Data::U64(values) = data { Some(values) } else { None })
}

pub(crate) fn bytes<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u8], SavedError> {
    values(find, name, |data| if let Data::U8(values) = data { Some(values) } else { None })
}

/// Returns the `N` counters that the array called `name` contains. An array of another length is reported as missing.
pub(crate) fn counters<const N: usize>(find: &Find, name: &str) -> Result<[u64; N], SavedError> {
    numbers(find, name)?.try_into().map_err(|_| missing(name))
}

/// Maximum number of multiply-adds in an uninterruptible piece of work. A piece of this size takes about two seconds on a typical CPU. A
/// run stops, pauses and saves only between two pieces.
pub const LONGEST: f64 = 5e10;

/// Name of the array that holds the partial sums of an unfinished iteration.
const PARTIAL: &str = "iteration";

/// Creates the array with the partial sums of an unfinished iteration. The first value must be the number of completed steps. A checkpoint
/// made between two iterations lacks this array.
pub(crate) fn save_partial(values: impl Into<Vec<f64>>) -> Saved {
    let values = values.into();
    (PARTIAL.into(), vec![values.len()], Data::F64(values))
}

/// Returns the values that [`save_partial`] saved, or `None` if the checkpoint was made between two iterations.
pub(crate) fn partial<const N: usize>(find: &Find) -> Result<Option<[f64; N]>, SavedError> {
    let Some((_, data)) = find(PARTIAL) else { return Ok(None) };
    let Data::F64(values) = data else { return Err(missing(PARTIAL)) };
    let values: [f64; N] = values[..].try_into().map_err(|_| missing(PARTIAL))?;
    let sound = values.iter().all(|x| x.is_finite()) && values[0] >= 0.0 && values[0] <= f64::from(u32::MAX);
    if sound { Ok(Some(values)) } else { Err(bad(PARTIAL)) }
}

/// Copies the arrays that [`save`] created into the values of the groups. The groups must have the same prefixes as in [`save`].
pub(crate) fn load<'a>(
    find: &Find,
    table: &Table,
    groups: impl IntoIterator<Item = (&'static str, &'a mut [f32])>,
) -> Result<(), SavedError> {
    for (prefix, values) in groups {
        for spec in table.specs() {
            let name = format!("{prefix}{}", spec.name);
            values[spec.range()].copy_from_slice(floats_in(find, &name, spec.file_shape())?);
        }
    }
    Ok(())
}
