//! The single environment that the page shows large. The current policy acts in this environment in real time. A user can push the
//! environment or take control of it. The environment does not affect training. While the user is in control, the agent plays a second
//! environment from the same state; the two episodes are a round.

use super::protocol::{Body, Drawn, Round, Stage as View, Touch};
use super::shown::Shown;
use learn::control::Ppo;
use math::rng::Rng;
use std::collections::VecDeque;
use worlds::control::{Actions, FailedState, Kind, Shape, Spec, World64};

/// Time in seconds for which a finished episode stays on display.
pub(super) const REST_S: f64 = 0.8;
/// Maximum real time in seconds that one call simulates. A longer time, for example after a pause of the browser tab, is cut to this
/// maximum.
const MAX_GAP_S: f64 = 0.1;
/// Maximum number of stored rounds.
const ROUNDS: usize = 20;
/// Maximum force of the user in newtons. It is three times the force of an agent's action in CartPole.
const MAX_FORCE: f64 = 30.0;
/// Maximum number of stored observations.
const RECENT: usize = 64;
/// Random stream of the displayed episodes. Training uses other streams, so the display does not change training.
const STREAM: u32 = 0x57a6_e000;

pub(crate) struct Stage {
    kind: Kind,
    /// Display time of a step, in seconds.
    step_s: f64,
    player: Player,
    /// Second environment, in which the agent plays while the user is in control; `None` while the agent is in control.
    rival: Option<Player>,
    /// Latest observations of `player`, the oldest first.
    recent: VecDeque<Vec<f64>>,
    rng: Rng,
    episodes: u32,
    owed_s: f64,
    rest_s: f64,
    rounds: Vec<Round>,
    best: Option<f64>,
    /// Value of [`Touch::handovers`] in the latest touch.
    handovers: u32,
    /// Value of [`Touch::singles`] in the latest touch.
    singles: u32,
    /// State in which training failed. Later episodes begin in this state. `None` if training did not fail or the state is unknown.
    failed: Option<FailedState>,
}

/// One environment with its state for the page.
pub(super) struct Player {
    world: Box<dyn World64>,
    pub(super) body: Body,
}

impl Player {
    pub(super) fn new(mut world: Box<dyn World64>, seed: u32, failed: Option<&FailedState>) -> Self {
        world.reset(seed);
        let steps = match failed {
            Some(failed) if world.set_failed(failed).is_ok() => failed.steps(),
            _ => 0,
        };
        let action = vec![0.0; world.spec().actions.numbers()];
        let state = world.state().to_vec();
        let observation = world.observation();
        let body = Body { before: state.clone(), state, observation, action, steps, ..Body::default() };
        let mut player = Self { body, world };
        player.look();
        player
    }

    /// Stores in `body` the picture of the current state, and the error of the latest step or of the drawing.
    fn look(&mut self) {
        let fault = self.world.fault();
        let (shapes, failed) = match self.world.draw() {
            Ok(shapes) => (shapes, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        self.body.shapes = shapes.into_iter().map(drawn).collect();
        self.body.fault = fault.or(failed).map(|fault| fault.to_string());
    }

    /// Returns one flag per choice, true if the choice is permitted. The list is empty if all choices are always permitted.
    pub(super) fn permitted(&self) -> Vec<bool> {
        self.world.permitted()
    }

    pub(super) fn step(&mut self, action: Vec<f64>, forces: [f64; 2]) {
        if self.body.over {
            return;
        }
        self.body.before.copy_from_slice(&self.body.state);
        let step = self.world.advance(&action, forces);
        self.body.state.copy_from_slice(self.world.state());
        self.body.observation = self.world.observation();
        self.body.action = action;
        self.body.steps += 1;
        self.body.total += step.reward;
        self.body.terminated = step.terminated;
        // An error of the rules ends the episode too.
        self.body.over = step.terminated || step.truncated || self.world.fault().is_some();
        self.look();
    }
}

impl Stage {
    pub fn new(kind: &Kind, seed: u32) -> Self {
        let mut stage = Self {
            kind: kind.clone(),
            step_s: Shown::of(&kind.spec).step_s,
            player: Player::new((kind.twin)(), 0, None),
            rival: None,
            recent: VecDeque::new(),
            rng: Rng::new(seed, STREAM),
            episodes: 0,
            owed_s: 0.0,
            rest_s: 0.0,
            rounds: Vec::new(),
            best: None,
            handovers: 0,
            singles: 0,
            failed: None,
        };
        stage.begin(false);
        stage
    }

    /// Begins an episode. If the user is in control (`driven`), the agent gets a second environment with the same first state.
    fn begin(&mut self, driven: bool) {
        let [seed, ..] = self.rng.block([self.episodes, 0, 0, 0]);
        self.episodes = self.episodes.wrapping_add(1);
        let player = || Player::new((self.kind.twin)(), seed, self.failed.as_ref());
        (self.player, self.rival) = (player(), driven.then(player));
        self.rest_s = REST_S;
        self.owed_s = 0.0;
        self.note_observation();
    }

    fn note_observation(&mut self) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(self.player.body.observation.clone());
    }

    pub fn touch(&mut self, ppo: &mut Ppo, touch: Touch) -> View {
        let dt_s = gap_s(touch.dt_s);
        let newtons = |f: f64| if f.is_finite() { f.clamp(-MAX_FORCE, MAX_FORCE) } else { 0.0 };
        let forces = [newtons(touch.cart_force), newtons(touch.tip_force)];
        let failed = ppo.failed();
        let changed = failed != self.failed;
        self.failed = failed;
        if changed || touch.drive.is_some() != self.rival.is_some() || touch.handovers != self.handovers {
            self.begin(touch.drive.is_some());
        }
        let single = touch.singles != self.singles;
        (self.handovers, self.singles) = (touch.handovers, touch.singles);
        // Time stops in a failed state until the user takes control or requests a single step.
        let stopped = self.failed.is_some() && touch.drive.is_none();
        if self.over() {
            self.rest_s -= if stopped { 0.0 } else { dt_s };
            if self.rest_s <= 0.0 || (stopped && single) {
                self.begin(touch.drive.is_some());
            }
        } else if stopped {
            self.owed_s = if single { self.step_s } else { 0.0 };
        } else {
            self.owed_s += dt_s;
        }
        let step_s = self.step_s;
        let mut policy = vec![0.0; ppo.policy_len()];
        while self.owed_s >= step_s && !self.over() {
            self.owed_s -= step_s;
            match (&mut self.rival, &touch.drive) {
                (Some(rival), Some(action)) => {
                    let own = agents_action(ppo, rival, &mut policy);
                    rival.step(own, [0.0; 2]);
                    self.player.step(allowed(&self.kind.spec, action), forces);
                }
                _ => {
                    let action = agents_action(ppo, &self.player, &mut policy);
                    self.player.step(action, forces);
                }
            }
            self.note_observation();
            if self.over() {
                self.owed_s = 0.0;
                self.note_end();
            }
        }
        let value = predict(ppo, &self.player, &mut policy);
        View {
            player: self.player.body.clone(),
            rival: self.rival.as_ref().map(|rival| rival.body.clone()),
            rounds: self.rounds.clone(),
            odds: policy.into_iter().map(f64::from).collect(),
            value: f64::from(value),
            best: self.best,
            ahead: (self.owed_s / step_s).clamp(0.0, 1.0),
            handovers: self.handovers,
            failed: self.failed.as_ref().map(|failed| failed.fault.to_string()),
        }
    }

    /// Returns the observation in the environment of the player in control, who is the user or the agent.
    pub fn observation(&self) -> &[f64] {
        &self.player.body.observation
    }

    /// Returns at most [`RECENT`] observations of this environment, the oldest first. There is at least one.
    pub fn recent(&self) -> impl Iterator<Item = &[f64]> {
        self.recent.iter().map(Vec::as_slice)
    }

    /// Returns true if the episode of `player` and, if there is a `rival`, the rival's episode have ended.
    fn over(&self) -> bool {
        self.player.body.over && self.rival.as_ref().is_none_or(|rival| rival.body.over)
    }

    fn note_end(&mut self) {
        let agent = match &self.rival {
            Some(rival) => {
                self.rounds.push(Round { yours: self.player.body.total, agents: rival.body.total });
                self.rounds.drain(..self.rounds.len().saturating_sub(ROUNDS));
                rival
            }
            None => &self.player,
        };
        self.best = Some(self.best.map_or(agent.body.total, |best| best.max(agent.body.total)));
    }
}

/// Limits the real time that one call simulates.
pub(super) fn gap_s(dt_s: f64) -> f64 {
    if dt_s.is_finite() { dt_s.clamp(0.0, MAX_GAP_S) } else { 0.0 }
}

pub(super) fn drawn(Shape { kind, numbers, text, colour }: Shape) -> Drawn {
    Drawn { kind: kind.into(), numbers: numbers.into_iter().map(f64::from).collect(), text, colour }
}

/// Computes the policy's output for the state of `player`, limited to the permitted choices, and writes it to `policy`. Returns the
/// critic's value of this state.
fn predict(ppo: &mut Ppo, Player { world, body }: &Player, policy: &mut [f32]) -> f32 {
    let observation: Vec<f32> = body.observation.iter().map(|&x| x as f32).collect();
    let mut value = [0.0];
    ppo.predict(&observation, policy, &mut value);
    ppo.restrict(policy, &world.permitted());
    value[0]
}

fn agents_action(ppo: &mut Ppo, player: &Player, policy: &mut [f32]) -> Vec<f64> {
    predict(ppo, player, policy);
    ppo.greedy(policy)
}

/// Limits the numbers of the user's input to the range of the actions, and rounds a choice to a whole number. A choice that is forbidden in
/// the current state is not changed. A missing number, NaN or infinity counts as 0.
fn allowed(spec: &Spec, action: &[f64]) -> Vec<f64> {
    let legal = |i| {
        let number = action.get(i).copied().filter(|number: &f64| number.is_finite()).unwrap_or(0.0);
        match spec.actions {
            Actions::Choices(count) => number.round().clamp(0.0, f64::from(count.max(1)) - 1.0),
            Actions::Box { low, high, .. } => number.clamp(low, high),
        }
    };
    (0..spec.actions.numbers()).map(legal).collect()
}
