//! Test environment with masks: rooms on a ring. Doors lead from a room to the next two rooms and to the room before. A choice of a room
//! to which no door leads from the agent's room is forbidden. A forbidden choice ends the episode with a negative reward. The agent must
//! visit one goal after another. The rules can raise an error at a chosen step. The kind is created at run time, because the kind counts
//! the forbidden choices.

use math::{PANEL, Rng};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use worlds::control::vector::{LENGTH_SHIFT, TERMINATED, TRUNCATED};
use worlds::control::{Actions, InvalidState, Kind, Spec, Step64, Text, Vector, World64, WorldError, WorldFault};

pub const ROOMS: usize = 6;
const FEATURES: usize = 2 * ROOMS;
const LIMIT: u32 = 32;
/// Reward of a forbidden choice.
const FINE: f32 = -10.0;
const STREAM: u32 = 0x526F_6F6D;

/// Step in which the rules raise an error. The field `step` counts from 0.
#[derive(Clone, Copy)]
pub struct Trap {
    pub env: u32,
    pub episode: u32,
    pub step: u32,
}

/// Returns a kind of rooms with the id `id`. `forbidden` counts the forbidden choices in all environments of this kind.
pub fn kind(id: &str, forbidden: &Arc<AtomicU32>, trap: Option<Trap>) -> Kind {
    let names = |what: &str| -> Vec<Text> { (0..ROOMS).map(|i| format!("{what} {i}").into()).collect() };
    let spec = Spec {
        id: id.to_string().into(),
        summary: Cow::Borrowed("visit one room after another"),
        actions: Actions::Choices(ROOMS as u32),
        choices: names("go to room").into(),
        state: worlds::texts!["room", "goal"],
        observation: [names("is in room"), names("goal is room")].concat().into(),
        step_limit: LIMIT,
        solved_at: 20.0,
        returns: [FINE.into(), 24.0],
    };
    let (own, counter) = (spec.clone(), forbidden.clone());
    let many = move |_, seed, first, count: usize| {
        let lanes = count.next_multiple_of(PANEL);
        let mut rooms = Rooms {
            id: own.id.clone(),
            count,
            seed,
            first,
            trap,
            fault: None,
            forbidden: counter.clone(),
            at: vec![At::default(); lanes],
            shown: vec![0.0; lanes * FEATURES],
            masks: vec![0.0; lanes * ROOMS],
        };
        rooms.reset(seed, first);
        Box::new(rooms) as Box<dyn Vector>
    };
    let one = spec.clone();
    let twin = move || Box::new(Walk { spec: one.clone(), state: [0.0, 1.0], steps: 0, seed: 0 }) as Box<dyn World64>;
    Kind { masked: true, ..Kind::new(spec, Arc::new(twin), Arc::new(many)) }
}

/// Returns true if a door leads from room `place` to room `to`.
pub fn is_permitted(place: usize, to: usize) -> bool {
    matches!((to + ROOMS - place) % ROOMS, 1 | 2 | 5)
}

/// Room and goal of an environment, the number of steps in its episode, and the number of its earlier episodes.
#[derive(Clone, Copy, Default)]
struct At {
    place: usize,
    goal: usize,
    steps: u32,
    episodes: u32,
}

impl At {
    /// Starts an episode of the environment `env`.
    fn first(seed: u32, env: u32, episodes: u32) -> At {
        let place = drawn(seed, env, episodes, u32::MAX) % ROOMS;
        let mut at = At { place, goal: place, steps: 0, episodes };
        at.draw_goal(seed, env);
        at
    }

    /// Chooses another room as the goal.
    fn draw_goal(&mut self, seed: u32, env: u32) {
        self.goal = (self.place + 1 + drawn(seed, env, self.episodes, self.steps) % (ROOMS - 1)) % ROOMS;
    }

    /// Moves to the room `to`. Returns the reward, and true if the episode terminates.
    fn go(&mut self, to: usize, seed: u32, env: u32) -> (f32, bool) {
        self.steps += 1;
        if !is_permitted(self.place, to) {
            return (FINE, true);
        }
        self.place = to;
        if self.place != self.goal {
            return (0.0, false);
        }
        self.draw_goal(seed, env);
        (1.0, false)
    }
}

fn drawn(seed: u32, env: u32, episode: u32, step: u32) -> usize {
    Rng::new(seed, STREAM).block([env, episode, step, 0])[0] as usize
}

struct Rooms {
    id: Text,
    count: usize,
    seed: u32,
    first: u32,
    trap: Option<Trap>,
    fault: Option<WorldFault>,
    forbidden: Arc<AtomicU32>,
    at: Vec<At>,
    shown: Vec<f32>,
    masks: Vec<f32>,
}

impl Rooms {
    fn env(&self, lane: usize) -> u32 {
        self.first.wrapping_add(lane as u32)
    }

    /// Writes the observation and the mask of a lane.
    fn show(&mut self, lane: usize) {
        write_shown(&mut self.shown, lane, self.at[lane]);
        for to in 0..ROOMS {
            let permitted = is_permitted(self.at[lane].place, to);
            self.masks[(lane / PANEL * ROOMS + to) * PANEL + lane % PANEL] = f32::from(u8::from(permitted));
        }
    }

    fn place(&mut self, lane: usize, episodes: u32) {
        self.at[lane] = At::first(self.seed, self.env(lane), episodes);
        self.show(lane);
    }
}

fn write_shown(to: &mut [f32], lane: usize, at: At) {
    for i in 0..FEATURES {
        let is_set = i == at.place || i == ROOMS + at.goal;
        to[(lane / PANEL * FEATURES + i) * PANEL + lane % PANEL] = f32::from(u8::from(is_set));
    }
}

impl Vector for Rooms {
    fn count(&self) -> usize {
        self.count
    }
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.at.len() * (size_of::<At>() + 4 * (FEATURES + ROOMS))
    }
    fn observations(&self) -> &[f32] {
        &self.shown
    }
    fn masks(&self) -> &[f32] {
        &self.masks
    }
    fn reset(&mut self, seed: u32, first: u32) {
        (self.seed, self.first, self.fault) = (seed, first, None);
        (0..self.at.len()).for_each(|lane| self.place(lane, 0));
    }
    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        for lane in 0..self.at.len() {
            let (env, mut at) = (self.env(lane), self.at[lane]);
            (rewards[lane], ended[lane]) = (0.0, 0);
            write_shown(reached, lane, at);
            if self.trap.is_some_and(|trap| (trap.env, trap.episode, trap.step) == (env, at.episodes, at.steps)) {
                let message = "the index 6 is beyond the list of length 6".to_string();
                let fault = WorldFault { env, episode: at.episodes, step: at.steps + 1, line: Some(7), message };
                self.fault.get_or_insert(fault);
                continue;
            }
            let to = actions[lane] as usize;
            if lane < self.count && !is_permitted(at.place, to) {
                self.forbidden.fetch_add(1, Ordering::Relaxed);
            }
            let (reward, terminated) = at.go(to, self.seed, env);
            rewards[lane] = reward;
            write_shown(reached, lane, at);
            self.at[lane] = at;
            let flags = (u32::from(terminated) * TERMINATED) | (u32::from(at.steps == LIMIT) * TRUNCATED);
            if flags != 0 {
                ended[lane] = flags | (at.steps << LENGTH_SHIFT);
                self.place(lane, at.episodes + 1);
            }
            self.show(lane);
        }
    }
    fn fault(&self) -> Option<WorldFault> {
        self.fault.clone()
    }
    fn begin(&mut self, env: usize) {
        self.place(env, self.at[env].episodes + 1);
    }
    fn state_len(&self) -> usize {
        2
    }
    fn environment(&self, env: usize, state: &mut [f32]) -> (u32, u32) {
        let At { place, goal, steps, episodes } = self.at[env];
        state.copy_from_slice(&[place as f32, goal as f32]);
        (steps, episodes)
    }
    fn set_environment(&mut self, env: usize, state: &[f32], steps: u32, episodes: u32) -> Result<(), InvalidState> {
        let room = |x: f32| (x.fract() == 0.0 && (0.0..ROOMS as f32).contains(&x)).then_some(x as usize);
        match state {
            &[place, goal] if env < self.count && steps < LIMIT => {
                if let (Some(place), Some(goal)) = (room(place), room(goal)) {
                    self.at[env] = At { place, goal, steps, episodes };
                    self.show(env);
                    return Ok(());
                }
            }
            _ => {}
        }
        Err(InvalidState { env: self.first as usize + env, id: self.id.clone() })
    }
}

/// A single environment of the rooms.
struct Walk {
    spec: Spec,
    state: [f64; 2],
    steps: u32,
    seed: u32,
}

impl World64 for Walk {
    fn spec(&self) -> &Spec {
        &self.spec
    }
    fn state(&self) -> &[f64] {
        &self.state
    }
    fn observation(&self) -> Vec<f64> {
        let [place, goal] = self.state.map(|x| x as usize);
        (0..FEATURES).map(|i| f64::from(u8::from(i == place || i == ROOMS + goal))).collect()
    }
    fn permitted(&self) -> Vec<bool> {
        (0..ROOMS).map(|to| is_permitted(self.state[0] as usize, to)).collect()
    }
    fn reset(&mut self, seed: u32) {
        let at = At::first(seed, 0, 0);
        (self.state, self.steps, self.seed) = ([at.place as f64, at.goal as f64], 0, seed);
    }
    fn set_state(&mut self, new: &[f64], elapsed: u32) -> Result<(), WorldError> {
        let state = new.try_into();
        self.state = state.map_err(|_| WorldError::StateLength { id: self.spec.id.clone(), state: self.spec.state.clone() })?;
        self.steps = elapsed;
        Ok(())
    }
    fn advance(&mut self, action: &[f64], _: [f64; 2]) -> Step64 {
        let [place, goal] = self.state.map(|x| x as usize);
        let mut at = At { place, goal, steps: self.steps, episodes: 0 };
        let (reward, terminated) = at.go(action[0] as usize, self.seed, 0);
        (self.state, self.steps) = ([at.place as f64, at.goal as f64], at.steps);
        Step64 { reward: reward.into(), terminated, truncated: at.steps == LIMIT }
    }
}
