//! Parts of what a learner saved, or shares with others, by name.

use crate::state::Unusable;
use crate::{Data, Find};

pub(super) fn missing(name: &str) -> Unusable {
    Unusable::Missing { name: name.into() }
}

pub(super) fn bad(name: &str) -> Unusable {
    Unusable::BadValue { name: name.into() }
}

fn values<'a, T>(find: &Find<'a>, name: &str, of: fn(&Data) -> Option<&Vec<T>>) -> Result<&'a [T], Unusable> {
    find(name).and_then(|(_, data)| of(data)).map(Vec::as_slice).ok_or_else(|| missing(name))
}

/// All of them finite.
pub(super) fn floats<'a>(find: &Find<'a>, name: &str) -> Result<&'a [f32], Unusable> {
    let all = values(find, name, |data| if let Data::F32(values) = data { Some(values) } else { None })?;
    if all.iter().all(|x| x.is_finite()) { Ok(all) } else { Err(bad(name)) }
}

/// `len` of them.
pub(super) fn floats_of<'a>(find: &Find<'a>, name: &str, len: usize) -> Result<&'a [f32], Unusable> {
    if find(name).is_some_and(|(_, data)| data.len() == len) { floats(find, name) } else { Err(missing(name)) }
}

pub(super) fn words<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u32], Unusable> {
    values(find, name, |data| if let Data::U32(values) = data { Some(values) } else { None })
}

pub(super) fn numbers<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u64], Unusable> {
    values(find, name, |data| if let Data::U64(values) = data { Some(values) } else { None })
}

pub(super) fn bytes<'a>(find: &Find<'a>, name: &str) -> Result<&'a [u8], Unusable> {
    values(find, name, |data| if let Data::U8(values) = data { Some(values) } else { None })
}

/// `N` numbers.
pub(super) fn counters<const N: usize>(find: &Find, name: &str) -> Result<[u64; N], Unusable> {
    numbers(find, name)?.try_into().map_err(|_| missing(name))
}
