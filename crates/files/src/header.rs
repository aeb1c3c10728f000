//! Header of a checkpoint, which is a safetensors file with metadata of Hothouse.

use serde_json::Value;

/// Size in bytes of the number at the start of a safetensors file. This number is the size of the header, which follows.
pub const HEAD: usize = 8;
/// Maximum size of a header that readers of the safetensors format accept, in bytes.
pub const LONGEST_HEADER: u64 = 100_000_000;

/// Returns the size in bytes of all tensors in a checkpoint with this header; `None` if the header is from another program.
pub fn tensors_length(header: &Value) -> Option<u64> {
    header["__metadata__"]["hothouse"].as_str()?;
    let ends = header.as_object()?.values().filter_map(|tensor| tensor["data_offsets"][1].as_u64());
    Some(ends.max().unwrap_or(0))
}
