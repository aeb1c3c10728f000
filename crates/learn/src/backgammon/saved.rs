//! Parts of what a learner saved, or shares with others, by name.

use crate::state::{bad, missing};
use crate::{Data, Find, SavedError};

fn values<'a, T>(find: &Find<'a>, name: &str, of: fn(&Data) -> Option<&Vec<T>>) -> Result<&'a [T], SavedError> {
    find(name).and_then(|(_, data)| of(data)).map(Vec::as_slice).ok_or_else(|| missing(name))
}

/// All of them finite.
pub(super) fn floats<'a>(find: &Find<'a>, name: &str) -> Result<&'a [f32], SavedError> {
    let all = values(find, name, |data| if let Data::F32(values) = data { Some(values) } else { None })?;
    if all.iter().all(|x| x.is_finite()) { Ok(all) } else { Err(bad(name)) }
}

/// `len` of them.
pub(super) fn floats_of<'a>(find: &Find<'a>, name: &str, len: usize) -> Result<&'a [f32], SavedError> {
    if find(name).is_some_and(|(_, data)| data.len() == len) { floats(find, name) } else { Err(missing(name)) }
}

pub(super) fn words<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u32], SavedError> {
    values(find, name, |data| if let Data::U32(values) = data { Some(values) } else { None })
}

pub(super) fn numbers<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u64], SavedError> {
    values(find, name, |data| if let Data::U64(values) = data { Some(values) } else { None })
}

pub(super) fn bytes<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u8], SavedError> {
    values(find, name, |data| if let Data::U8(values) = data { Some(values) } else { None })
}
