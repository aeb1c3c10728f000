//! Players for analysis and games: the current agent, earlier copies of it, and baselines.

use super::protocol::{Engine, Frozen, MOST_EVALS, PlayerKind};
use crate::RunError;
use learn::backgammon::baselines::{Linear, Random};
use learn::backgammon::{Player, SelfTaught};

/// Maximum number of cached players.
const CACHED_PLAYERS: usize = 6;

/// A copy of the agent from earlier in training.
pub struct FrozenAgent {
    pub frozen: Frozen,
    pub weights: Vec<f32>,
}

/// A cached player. For the current agent, `rounds` is the number of training iterations after which the agent's weights were copied. For
/// other players, `rounds` is 0.
pub struct CachedPlayer {
    engine: Engine,
    rounds: u64,
    player: Box<dyn Player>,
}

/// Creates players on request and caches them.
pub struct PlayerPool<'a> {
    pub learner: &'a dyn SelfTaught,
    pub frozen_agents: &'a [FrozenAgent],
    pub player_cache: &'a mut Vec<CachedPlayer>,
}

impl PlayerPool<'_> {
    pub fn player(&mut self, engine: Engine) -> Result<&mut dyn Player, RunError> {
        if engine.evals > MOST_EVALS {
            return Err(RunError::refused(format!("{} evaluations are too many", engine.evals), format!("Choose at most {MOST_EVALS}")));
        }
        let learner = self.learner;
        let rounds = if engine.who == PlayerKind::Now { learner.progress().iterations } else { 0 };
        let at = self.player_cache.iter().position(|cached| (cached.engine, cached.rounds) == (engine, rounds));
        let cached = match at {
            Some(at) => self.player_cache.remove(at),
            None => {
                let evals = engine.evals.max(1);
                let player: Box<dyn Player> = match engine.who {
                    PlayerKind::Now => learner.player(evals),
                    PlayerKind::Frozen { minutes } => {
                        let agent = self.frozen_agents.iter().find(|agent| agent.frozen.minutes == minutes);
                        let agent = agent.ok_or_else(|| self.not_frozen(minutes))?;
                        learner.player_with(&agent.weights, evals)
                    }
                    PlayerKind::Random => Box::new(Random::new(engine.evals)),
                    PlayerKind::Linear => Box::new(Linear::new()),
                };
                self.player_cache.retain(|cached| cached.engine != engine);
                CachedPlayer { engine, rounds, player }
            }
        };
        // The most recently used player is last, so the first player is dropped.
        if self.player_cache.len() >= CACHED_PLAYERS {
            self.player_cache.remove(0);
        }
        self.player_cache.push(cached);
        let last = self.player_cache.last_mut().expect("it was just put there");
        Ok(&mut *last.player)
    }

    /// Returns the name that a session shows for the player; an error if the player cannot be created.
    pub fn name(&mut self, engine: Engine) -> Result<String, RunError> {
        let name = match engine.who {
            PlayerKind::Now => "agent".into(),
            PlayerKind::Frozen { minutes } => format!("agent at {minutes} min"),
            PlayerKind::Random | PlayerKind::Linear => return Ok(self.player(engine)?.name()),
        };
        self.player(engine)?;
        Ok(name)
    }

    fn not_frozen(&self, minutes: u32) -> RunError {
        let have: Vec<String> = self.frozen_agents.iter().map(|agent| agent.frozen.minutes.to_string()).collect();
        let next = match have.is_empty() {
            true => "Train for longer, or choose the current agent".into(),
            false => format!("Choose from {}, or the current agent", have.join(", ")),
        };
        RunError::refused(format!("this run has no copy of the agent from minute {minutes}"), next)
    }
}
