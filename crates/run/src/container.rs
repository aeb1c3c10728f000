//! File format for the runs of all rooms: a safetensors file, which any safetensors reader can open. The metadata of the file contain, as
//! text, all data other than tensors. A checksum covers the tensors and the text. Messages between a shared run and its workers have the
//! same format, with a faster checksum.
//!
//! Each of these files gives a different error: a foreign file, a damaged file, a file of another version, and a file of another room.

use crate::digest;
use crate::error::RunError;
use crate::json;
use crate::protocol::Dataset;
use crate::version::check_version;
use learn::Data;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Metadata key of the header text.
const KEY: &str = "hothouse";
/// Key of the checksum, the last field of the header text. The checksum is a hash over the text before the field and over the names and
/// bytes of all tensors.
const CHECKSUM: &str = r#","checksum":"#;
/// Name of the tensor with the history of metrics rows. The checksum covers this tensor last.
pub(crate) const HISTORY: &str = "run.history";
/// Name of the tensor with the user data.
pub(crate) const DATA: &str = "run.data";

/// Tensors of a checkpoint, or of a message to or from a worker, each with its name, its shape and its contents.
pub type Tensors = learn::Parts;

/// Kind of checksum of a file or a message.
#[derive(Clone, Copy)]
pub(crate) enum Sum {
    /// FNV-1a hash over each byte, for files.
    Bytes,
    /// Hash over 64-bit words, for messages. The hash may differ between versions, because only the same version of the program reads a
    /// message.
    Whole,
}

/// Part of the header that is parsed before the room is known.
#[derive(Deserialize)]
struct Beginning {
    config: BeginningConfig,
}

#[derive(Deserialize)]
struct BeginningConfig {
    room: String,
    /// Empty in a message of a shared run, which contains no variant.
    #[serde(default)]
    variant: String,
    data: Option<Dataset>,
}

/// Compares tensor names for the order in which the checksum covers the tensors: by name, but with the history last.
fn order(a: &str, b: &str) -> std::cmp::Ordering {
    (a == HISTORY, a).cmp(&(b == HISTORY, b))
}

/// Packs a header and tensors into bytes. The header must be an object with the fields `version` and `config`.
pub(crate) fn pack<H: Serialize>(header: &H, mut tensors: Tensors, sum: Sum) -> Vec<u8> {
    tensors.sort_by(|a, b| order(&a.0, &b.0));
    let parts: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = tensors
        .into_iter()
        .map(|(name, shape, data)| {
            let (dtype, bytes) = bytes_from_data(data);
            (name, dtype, shape, bytes)
        })
        .collect();
    let mut text = serde_json::to_string(header).expect("a header is plain data");
    text.pop(); // the closing brace, which the checksum precedes
    let sum = checksum(&text, parts.iter().map(|(name, _, _, bytes)| (name.as_str(), bytes.as_slice())), sum);
    let views = parts.iter().map(|(name, dtype, shape, bytes)| {
        let view = TensorView::new(*dtype, shape.clone(), bytes).expect("shape and bytes agree");
        (name.as_str(), view)
    });
    text += &format!("{CHECKSUM}\"{sum}\"}}");
    serialize(views, Some(HashMap::from([(KEY.to_string(), text)]))).expect("names are distinct")
}

/// Returns the header's text and the tensors. A file of a room other than `room` is an error.
pub(crate) fn unpack(bytes: &[u8], room: &str, sum: Sum) -> Result<(String, Tensors), RunError> {
    let damaged = |why: String| RunError::Damaged { why };
    let (all, text) = checked(bytes, sum)?;
    let found = beginning(&text)?.room;
    if found != room {
        return Err(RunError::OtherRoom { found, here: room.into() });
    }
    let mut tensors = Vec::with_capacity(all.len());
    for (name, view) in all {
        let data = data_from_view(&view).ok_or_else(|| damaged(format!("{name} has an unknown type")))?;
        tensors.push((name, view.shape().to_vec(), data));
    }
    Ok((text, tensors))
}

/// Room and variant of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Origin {
    pub room: String,
    pub variant: String,
}

/// Verifies the checksum of a checkpoint and returns its room and variant.
pub fn origin(bytes: &[u8]) -> Result<Origin, RunError> {
    let BeginningConfig { room, variant, .. } = beginning(&checked(bytes, Sum::Bytes)?.1)?;
    Ok(Origin { room, variant })
}

/// Returns the name of the room that the header contains. Does not verify the checksum.
pub(crate) fn stated_room_of(bytes: &[u8]) -> Result<String, RunError> {
    Ok(beginning(&open(bytes)?.1)?.room)
}

/// Returns the description of the user data that the caller must provide; `None` if the checkpoint contains the user data or needs none.
pub fn data_wanted(bytes: &[u8]) -> Result<Option<Dataset>, RunError> {
    let (tensors, text) = checked(bytes, Sum::Bytes)?;
    let inside = tensors.iter().any(|(name, _)| name == DATA);
    Ok(beginning(&text)?.data.filter(|_| !inside))
}

/// Named tensors in the order of the checksum, and the header's text.
type Opened<'a> = (Vec<(String, TensorView<'a>)>, String);

/// Parses a file and verifies its checksum.
fn checked(bytes: &[u8], sum: Sum) -> Result<Opened<'_>, RunError> {
    let (all, text) = open(bytes)?;
    let (stated, found) = text.rsplit_once(CHECKSUM).unwrap_or((&text, ""));
    let here = checksum(stated, all.iter().map(|(name, view)| (name.as_str(), view.data())), sum);
    if found.trim_matches(['"', '}']) != here {
        return Err(RunError::damaged("its checksum does not match"));
    }
    Ok((all, text))
}

fn open(bytes: &[u8]) -> Result<Opened<'_>, RunError> {
    let damaged = |why: String| RunError::Damaged { why };
    let foreign = |why: &str| RunError::Foreign { why: why.into() };
    let looks_like_safetensors = bytes.get(8) == Some(&b'{');
    let file = SafeTensors::deserialize(bytes)
        .map_err(|e| if looks_like_safetensors { damaged(e.to_string()) } else { foreign("not a safetensors file") })?;
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| damaged(e.to_string()))?;
    let text = metadata.metadata().as_ref().and_then(|m| m.get(KEY)).cloned();
    let text = text.ok_or_else(|| foreign("a safetensors file without Hothouse's metadata"))?;
    // The version is parsed separately, because a newer header may have another structure.
    #[derive(Deserialize)]
    struct Version {
        version: u32,
    }
    let Version { version } = json::read(&text).map_err(|e| damaged(e.to_string()))?;
    check_version(version)?;
    let mut all = file.tensors();
    all.sort_by(|a, b| order(&a.0, &b.0));
    Ok((all, text))
}

fn beginning(text: &str) -> Result<BeginningConfig, RunError> {
    let Beginning { config } = json::read(text).map_err(RunError::damaged)?;
    Ok(config)
}

fn checksum<'a>(text: &str, parts: impl Iterator<Item = (&'a str, &'a [u8])>, sum: Sum) -> String {
    let parts = parts.flat_map(|(name, bytes)| [name.as_bytes(), bytes]);
    let all = [text.as_bytes()].into_iter().chain(parts);
    match sum {
        Sum::Bytes => {
            let mut hash = digest::Fnv::new();
            all.for_each(|bytes| hash.write(bytes));
            hash.hex()
        }
        Sum::Whole => digest::of_words(all),
    }
}

fn bytes_from_data(data: Data) -> (Dtype, Vec<u8>) {
    match data {
        Data::F32(v) => (Dtype::F32, little(&v, f32::to_le_bytes)),
        Data::F64(v) => (Dtype::F64, little(&v, f64::to_le_bytes)),
        Data::U32(v) => (Dtype::U32, little(&v, u32::to_le_bytes)),
        Data::U64(v) => (Dtype::U64, little(&v, u64::to_le_bytes)),
        Data::U8(v) => (Dtype::U8, v),
    }
}

/// Converts numbers to little-endian bytes. A single preallocated buffer makes the conversion fast.
fn little<T: Copy, const N: usize>(values: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    let mut all = vec![0; N * values.len()];
    all.as_chunks_mut().0.iter_mut().zip(values).for_each(|(to, &value)| *to = to_bytes(value));
    all
}

fn data_from_view(view: &TensorView) -> Option<Data> {
    let words = || view.data().chunks_exact(4).map(|b| b.try_into().unwrap());
    let longs = || view.data().chunks_exact(8).map(|b| b.try_into().unwrap());
    Some(match view.dtype() {
        Dtype::F32 => Data::F32(words().map(f32::from_le_bytes).collect()),
        Dtype::U32 => Data::U32(words().map(u32::from_le_bytes).collect()),
        Dtype::U64 => Data::U64(longs().map(u64::from_le_bytes).collect()),
        Dtype::F64 => Data::F64(longs().map(f64::from_le_bytes).collect()),
        Dtype::U8 => Data::U8(view.data().to_vec()),
        _ => return None,
    })
}
