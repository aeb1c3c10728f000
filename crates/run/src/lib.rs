//! The one boundary between an experiment and its shells: commands in, events and frames out.

pub mod protocol;

/// Configs and permalinks of a later format are refused, with a way out.
pub const CONFIG_VERSION: u32 = 1;
/// Iterations between two digests of the weights.
pub const DIGEST_EVERY: u32 = 16;
