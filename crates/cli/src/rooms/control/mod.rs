//! Control's own verbs, options and picture in the terminal.

pub mod bench;
pub mod env;
pub mod picture;
pub mod solve;

use anyhow::Result;
use run::control::{Control, TEST_EPISODES};
use run::protocol::Row;
use run::{AnyRun, Host, Run};

/// Mean, least and greatest return of so many fresh episodes.
pub fn test(bytes: &[u8], episodes: Option<u32>, seed: u32, host: Host) -> Result<Row> {
    let mut run = Run::<Control>::restore(bytes, host)?;
    let progress = run.progress();
    Ok(Row { progress, values: run.room().evaluate(episodes.unwrap_or(TEST_EPISODES), seed) })
}
