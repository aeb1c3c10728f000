//! How learners are saved: of each group of weights or moments a tensor a parameter, by a prefix and its name.

use super::LearnerError;
use crate::{Data, Find};
use graph::Table;

/// A tensor by name, with its shape.
pub(super) type Saved = (String, Vec<usize>, Data);

pub(super) fn save<'a>(
    table: &Table,
    groups: impl IntoIterator<Item = (&'static str, &'a [f32])>,
) -> Vec<Saved> {
    let of_group = |(prefix, values): (&str, &'a [f32])| {
        let tensor = |spec: &graph::ParamSpec| {
            let values = Data::F32(values[spec.range()].to_vec());
            (format!("{prefix}{}", spec.name), spec.file_shape().to_vec(), values)
        };
        table.specs().iter().map(tensor).collect::<Vec<_>>()
    };
    groups.into_iter().flat_map(of_group).collect()
}

/// The same groups, as they were saved.
pub(super) fn load<'a>(
    find: &Find,
    table: &Table,
    groups: impl IntoIterator<Item = (&'static str, &'a mut [f32])>,
) -> Result<(), LearnerError> {
    for (prefix, values) in groups {
        for spec in table.specs() {
            let (name, to) = (format!("{prefix}{}", spec.name), &mut values[spec.range()]);
            match find(&name) {
                Some((shape, Data::F32(found))) if shape == spec.file_shape() && found.len() == to.len() => {
                    if !found.iter().all(|x| x.is_finite()) {
                        return Err(LearnerError::BadValue { name });
                    }
                    to.copy_from_slice(found);
                }
                _ => return Err(LearnerError::Missing { name }),
            }
        }
    }
    Ok(())
}

pub(super) fn missing(name: &str) -> LearnerError {
    LearnerError::Missing { name: name.into() }
}

pub(super) fn bad(name: &str) -> LearnerError {
    LearnerError::BadValue { name: name.into() }
}

/// The counters of a learner, `N` of them.
pub(super) fn counters<const N: usize>(find: &Find) -> Result<[u64; N], LearnerError> {
    match find("counters") {
        Some((_, Data::U64(counters))) => counters[..].try_into().map_err(|_| missing("counters")),
        _ => Err(missing("counters")),
    }
}
