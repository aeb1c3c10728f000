//! Creates players from their names on the command line.

use anyhow::{Context, Result, bail};
use run::Host;
use run::backgammon::baselines::{Linear, Random};
use run::backgammon::{Player, player_from_checkpoint};
use std::path::Path;

/// Creates a baseline player, or the agent of a checkpoint file. The agent uses `evals` evaluations per move.
pub fn player(name: &str, evals: u32, seed: u32, host: Host) -> Result<Box<dyn Player>> {
    match name {
        "random" => Ok(Box::new(Random::new(seed))),
        "linear" => Ok(Box::new(Linear::new())),
        file => {
            let path = Path::new(file);
            if !path.exists() {
                bail!("there is no player or file '{file}'. Name a checkpoint, linear or random");
            }
            let bytes = files::read_checkpoint(path)?;
            player_from_checkpoint(&bytes, evals, host).with_context(|| format!("cannot use {file}"))
        }
    }
}
