//! Checkpoints of a learner at a boundary, and restoring from them.

use super::accelerator::IterationOutput;
use super::actor::Actor;
use super::normalizer::Moments;
use super::offloaded::Offloaded;
use super::rollout::LANES;
use super::stats::{Episode, RECENT};
use super::{Ppo, PpoConfig, PpoError, Progress};
use crate::state::{bad, counters, floats_in, load, missing, save, words};
use crate::{Data, Find, Parts};
use graph::Optimizer;
use math::Isa;
use worlds::control::Kind;

impl Ppo {
    /// Returns the complete state at a boundary, as arrays of a checkpoint.
    pub(super) fn saved(&self) -> Parts {
        let envs = self.config.envs;
        let mut parts = save(self.params.table(), [("", self.params.values())]);
        let mut part = |name: &str, shape: &[usize], data| parts.push((name.into(), shape.to_vec(), data));
        let Optimizer { m, v, steps } = &self.optimizer;
        part("adam.m", &[m.len()], Data::F32(m.to_vec()));
        part("adam.v", &[v.len()], Data::F32(v.to_vec()));
        part("adam.steps", &[1], Data::U64(vec![*steps]));

        let width = self.acting.actors[0].world.state_len();
        let mut states = vec![0.0; envs * width];
        let (mut steps, mut episodes) = (Vec::new(), Vec::new());
        let offloaded = self.away.offloaded.as_ref().and_then(Offloaded::newest);
        if let Some(output) = offloaded {
            states.copy_from_slice(&output.states);
            (steps, episodes) = (output.steps.clone(), output.episodes.clone());
        } else {
            for (env, state) in states.chunks_exact_mut(width).enumerate() {
                let clock = self.acting.actors[env / LANES].world.environment(env % LANES, state);
                steps.push(clock.0);
                episodes.push(clock.1);
            }
        }
        part("environments.state", &[envs, width], Data::F32(states));
        part("environments.steps", &[envs], Data::U32(steps));
        part("environments.episodes", &[envs], Data::U32(episodes));
        let lanes = |there: fn(&IterationOutput) -> &[f32], here: fn(&Actor) -> &[f32]| match offloaded {
            Some(output) => Data::F32(there(output).to_vec()),
            None => Data::F32((0..envs).map(|env| here(&self.acting.actors[env / LANES])[env % LANES]).collect()),
        };
        part("environments.returns", &[envs], lanes(|there| &there.episode_returns, |actor| &actor.episode_returns));
        if self.config.normalize_reward {
            let sums = lanes(|there| &there.discounted_returns, |actor| &actor.discounted_returns);
            part("environments.discounted", &[envs], sums);
            part("moments.reward", &[3], Data::F64(numbers(&self.scaling.returns).to_vec()));
        }
        if let Some(normalizer) = &self.scaling.observations {
            let all = normalizer.moments.iter().flat_map(numbers).collect();
            part("moments.observation", &[normalizer.moments.len(), 3], Data::F64(all));
        }
        part("recent.returns", &[RECENT], Data::F32(self.recent.0.iter().map(|e| e.total).collect()));
        part("recent.lengths", &[RECENT], Data::U32(self.recent.0.iter().map(|e| e.length).collect()));
        let Progress { iterations, env_steps, episodes } = self.progress;
        part("progress", &[4], Data::U64(vec![iterations, env_steps, episodes, self.annealed_from]));
        parts
    }

    /// Restores a learner from its [`parts`](crate::Learner::parts). The settings and the seed must be those of the saved learner. Training
    /// then continues bit-identically.
    pub fn restore<'a>(kind: &Kind, config: PpoConfig, seed: u32, isa: Isa, find: &Find<'a>) -> Result<Self, PpoError> {
        let missing = |name: &str| PpoError::from(missing(name));
        // Checks before allocation that the checkpoint has as many environments as the settings.
        let named = |name: &str, len| find(name).is_some_and(|(_, data)| data.len() == len);
        if !named("environments.steps", config.envs) {
            return Err(missing("environments.steps"));
        }
        let mut ppo = Self::new(kind, config, seed, isa)?;
        let bad = |name: &str| PpoError::from(bad(name));
        let floats = |name: &str, shape: &[usize]| floats_in(find, name, shape);
        let moments = |name: &str, shape: &[usize]| match find(name) {
            Some((found, Data::F64(values))) if found == shape && values.len() == shape.iter().product::<usize>() => {
                let all: Vec<_> = values.as_chunks::<3>().0.iter().map(|&x| moments_from(x)).collect();
                let sound = |m: &Moments| m.count >= 0.0 && m.mean.is_finite() && m.squares >= 0.0;
                let finite = |m: &Moments| m.count.is_finite() && m.squares.is_finite();
                if all.iter().all(|m| sound(m) && finite(m)) { Ok(all) } else { Err(bad(name)) }
            }
            _ => Err(missing(name)),
        };
        let words = |name: &str, len: usize| words(find, name).ok().filter(|words| words.len() == len).ok_or_else(|| missing(name));

        let table = ppo.params.table().clone();
        load(find, &table, [("", ppo.params.values_mut())])?;
        let len = ppo.params.values().len();
        let (m, v) = (floats("adam.m", &[len])?, floats("adam.v", &[len])?);
        ppo.optimizer.m.copy_from_slice(m);
        ppo.optimizer.v.copy_from_slice(v);
        ppo.optimizer.steps = counters::<1>(find, "adam.steps")?[0];

        let envs = ppo.config.envs;
        let width = ppo.acting.actors[0].world.state_len();
        let states = floats("environments.state", &[envs, width])?;
        let steps = words("environments.steps", envs)?;
        let episodes = words("environments.episodes", envs)?;
        for (env, state) in states.chunks_exact(width).enumerate() {
            let world = &mut ppo.acting.actors[env / LANES].world;
            world.set_environment(env % LANES, state, steps[env], episodes[env])?;
        }
        for (env, &total) in floats("environments.returns", &[envs])?.iter().enumerate() {
            ppo.acting.actors[env / LANES].episode_returns[env % LANES] = total;
        }
        if ppo.config.normalize_reward {
            for (env, &sum) in floats("environments.discounted", &[envs])?.iter().enumerate() {
                ppo.acting.actors[env / LANES].discounted_returns[env % LANES] = sum;
            }
            ppo.scaling.returns = moments("moments.reward", &[3])?[0];
        }
        if let Some(normalizer) = &mut ppo.scaling.observations {
            normalizer.moments = moments("moments.observation", &[normalizer.moments.len(), 3])?;
        }
        let lengths = words("recent.lengths", RECENT)?;
        if lengths.iter().any(|&length| length > kind.spec.step_limit) {
            return Err(bad("recent.lengths"));
        }
        let returns = floats("recent.returns", &[RECENT])?;
        for ((episode, &length), &total) in ppo.recent.0.iter_mut().zip(lengths).zip(returns) {
            *episode = Episode { total, length };
        }
        let [iterations, env_steps, episodes, annealed_from] = counters(find, "progress")?;
        let per_iteration = (envs * ppo.config.rollout_steps) as u64;
        if iterations.checked_mul(per_iteration) != Some(env_steps) || episodes > env_steps || annealed_from > env_steps {
            return Err(bad("progress"));
        }
        ppo.annealed_from = annealed_from;
        ppo.progress = Progress { iterations, env_steps, episodes };
        ppo.publish_weights();
        Ok(ppo)
    }
}

fn numbers(moments: &Moments) -> [f64; 3] {
    [moments.count, moments.mean, moments.squares]
}

fn moments_from([count, mean, squares]: [f64; 3]) -> Moments {
    Moments { count, mean, squares }
}
