//! What a learner saves of itself: arrays by name.

use graph::Table;

/// A part of a checkpoint.
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

    /// Whether all of its numbers are: a restored learner begins with no others.
    pub fn is_finite(&self) -> bool {
        match self {
            Data::F32(values) => values.iter().all(|x| x.is_finite()),
            Data::F64(values) => values.iter().all(|x| x.is_finite()),
            Data::U32(_) | Data::U64(_) | Data::U8(_) => true,
        }
    }
}

/// Shape and contents of a part of a checkpoint, by name.
pub type Find<'a> = dyn Fn(&str) -> Option<(&'a [usize], &'a Data)> + 'a;

/// Shapes and contents of parts by name.
pub type Parts = Vec<(String, Vec<usize>, Data)>;

/// The part of a name, for a [`Find`].
pub fn part<'a>(parts: &'a Parts, name: &str) -> Option<(&'a [usize], &'a Data)> {
    parts.iter().find(|(known, ..)| known == name).map(|(_, shape, data)| (shape.as_slice(), data))
}

/// A tensor by name, with its shape.
pub(crate) type Saved = (String, Vec<usize>, Data);

/// Of each group of weights or moments a tensor a parameter, by a prefix and its name.
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

/// A part of a checkpoint that is not what it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SavedError {
    #[error("the checkpoint has no {name} of the right kind and shape; load one saved with the same settings")]
    Missing { name: String },
    #[error("{name} of the checkpoint holds a value that cannot be; load an earlier checkpoint")]
    BadValue { name: String },
}

pub(crate) fn missing(name: &str) -> SavedError {
    SavedError::Missing { name: name.into() }
}

pub(crate) fn bad(name: &str) -> SavedError {
    SavedError::BadValue { name: name.into() }
}

/// The part of this name, where its numbers are of this type.
fn values<'a, T>(find: &Find<'a>, name: &str, of: fn(&Data) -> Option<&Vec<T>>) -> Result<&'a [T], SavedError> {
    find(name).and_then(|(_, data)| of(data)).map(Vec::as_slice).ok_or_else(|| missing(name))
}

/// All of them finite.
pub(crate) fn floats<'a>(find: &Find<'a>, name: &str) -> Result<&'a [f32], SavedError> {
    let all = values(find, name, |data| if let Data::F32(values) = data { Some(values) } else { None })?;
    if all.iter().all(|x| x.is_finite()) { Ok(all) } else { Err(bad(name)) }
}

/// `len` of them.
pub(crate) fn floats_of<'a>(find: &Find<'a>, name: &str, len: usize) -> Result<&'a [f32], SavedError> {
    if find(name).is_some_and(|(_, data)| data.len() == len) { floats(find, name) } else { Err(missing(name)) }
}

/// In this shape.
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

/// `N` counters of a learner.
pub(crate) fn counters<const N: usize>(find: &Find, name: &str) -> Result<[u64; N], SavedError> {
    numbers(find, name)?.try_into().map_err(|_| missing(name))
}

/// Multiply-adds of one piece of work that nothing can interrupt, at most: a run is stopped, paused and saved between two pieces, within
/// two seconds.
pub(crate) const LONGEST: f64 = 5e10;

/// What an iteration that was not over had come to.
const PARTIAL: &str = "iteration";

/// The steps of such an iteration, and sums over them. Where it has none, nothing is saved.
pub(crate) fn save_partial(values: impl Into<Vec<f64>>) -> Saved {
    let values = values.into();
    (PARTIAL.into(), vec![values.len()], Data::F64(values))
}

/// The same, as it was saved; nothing between two iterations.
pub(crate) fn partial<const N: usize>(find: &Find) -> Result<Option<[f64; N]>, SavedError> {
    let Some((_, data)) = find(PARTIAL) else { return Ok(None) };
    let Data::F64(values) = data else { return Err(missing(PARTIAL)) };
    let values: [f64; N] = values[..].try_into().map_err(|_| missing(PARTIAL))?;
    let sound = values.iter().all(|x| x.is_finite()) && values[0] >= 0.0 && values[0] <= f64::from(u32::MAX);
    if sound { Ok(Some(values)) } else { Err(bad(PARTIAL)) }
}

/// The same groups, as they were saved.
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
