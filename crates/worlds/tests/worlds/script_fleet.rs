//! Test fixture: the templates, and environments of a file with the results of the last step.

use math::Isa;
use worlds::control::Vector;
use worlds::control::WorldFault;
use worlds::control::script::{Fleet, World, compile};

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../src/control/script/templates/", $name, ".py")))),*]
    };
}

/// Name and text of every template.
pub const TEMPLATES: [(&str, &str); 13] = templates![
    "breakout",
    "cartpole",
    "catch",
    "double_pendulum",
    "flappy",
    "maze",
    "mountain_car",
    "pong",
    "predator",
    "racer",
    "rocket",
    "snake",
    "taxi",
];

/// Returns the random programs about lists of tests/golden/script_lists.py. The compiler may refuse some of them.
#[cfg(not(target_arch = "wasm32"))] // its callers run natively only
pub fn programs_about_lists() -> Vec<String> {
    let text = include_str!("../../../../tests/golden/script_lists.txt");
    let (common, rest) = text.split_once("\n= \n").unwrap();
    rest.split("\n= \n").map(|program| format!("{common}{program}")).collect()
}

pub fn compiled(text: &str) -> World {
    compile(text).unwrap_or_else(|problems| panic!("{text}\n{problems:#?}"))
}

/// Returns a file with the given bodies of `reset` and `step`. `more` follows them, and must contain the method `observe`. If the body
/// of `step` does not read its action, which is an error, a line at its end reads the action.
#[cfg(not(target_arch = "wasm32"))] // its callers run natively only
pub fn file(reset: &str, step: &str, more: &str) -> String {
    let indented = |body: &str| body.lines().map(|line| format!("        {line}\n")).collect::<String>();
    let action = if step.contains("action") { "" } else { "action" };
    let (reset, step) = (indented(reset), indented(step) + &indented(action));
    format!("class World:\n    actions = 3\n    def reset(self):\n{reset}    def step(self, action):\n{step}{more}")
}

/// Method `observe` for [`file`], which returns the attributes `x` and `y`.
#[cfg(not(target_arch = "wasm32"))] // its callers run natively only
pub const OBSERVE: &str = "    def observe(self):\n        return [self.x, self.y]\n";

pub struct Worlds {
    pub fleet: Fleet,
    pub actions: Vec<f32>,
    pub rewards: Vec<f32>,
    pub ended: Vec<u32>,
    pub panels: Vec<f32>,
    features: usize,
}

impl Worlds {
    pub fn new(world: &World, isa: Isa, seed: u32, first: u32, count: usize) -> Worlds {
        let fleet = world.fleet(isa, seed, first, count);
        let lanes = count.div_ceil(32) * 32;
        let (len, features) = (world.action_len(), world.observation_len());
        let panels = vec![0.0; lanes * features];
        Worlds { fleet, actions: vec![0.0; lanes * len], rewards: vec![0.0; lanes], ended: vec![0; lanes], panels, features }
    }

    pub fn step(&mut self) {
        self.fleet.step(&self.actions, &mut self.panels, &mut self.rewards, &mut self.ended);
    }

    #[cfg(not(target_arch = "wasm32"))] // its caller runs natively only
    pub fn step_except(&mut self, held: &[u32]) {
        self.fleet.step_except(held, &self.actions, &mut self.panels, &mut self.rewards, &mut self.ended);
    }

    /// Sets the action of an environment.
    pub fn act(&mut self, env: usize, action: &[f32]) {
        let len = action.len();
        for (k, x) in action.iter().enumerate() {
            self.actions[(env / 32 * len + k) * 32 + env % 32] = *x;
        }
    }

    /// Draws random actions for all environments. `first` is the number of environment 0. An action depends on the number of the
    /// environment and on `turn`.
    #[cfg(not(target_arch = "wasm32"))] // its callers run natively only
    pub fn act_randomly(&mut self, first: u32, turn: u32) {
        let world = self.fleet.world().clone();
        let rng = math::Rng::new(9, 9);
        for env in 0..self.fleet.count() {
            let numbers: Vec<f32> = (0..world.action_len())
                .map(|k| {
                    let unit = math::rng::uniform_from_word(rng.block([first + env as u32, turn, k as u32, 0])[0]);
                    world.choices().map_or(2.4 * unit - 1.2, |count| (unit * count as f32).floor())
                })
                .collect();
            self.act(env, &numbers);
        }
    }

    fn of(&self, panels: &[f32], features: usize, env: usize) -> Vec<f32> {
        (0..features).map(|i| panels[(env / 32 * features + i) * 32 + env % 32]).collect()
    }

    pub fn shown(&self, env: usize) -> Vec<f32> {
        self.of(self.fleet.observations(), self.features, env)
    }

    pub fn reached(&self, env: usize) -> Vec<f32> {
        self.of(&self.panels, self.features, env)
    }

    pub fn permitted(&self, env: usize) -> Vec<f32> {
        self.of(self.fleet.masks(), self.fleet.world().mask_len(), env)
    }

    /// Returns the saved state of an environment, the number of steps in its episode, and the number of its earlier episodes.
    pub fn saved(&self, env: usize) -> (Vec<f32>, u32, u32) {
        let mut state = vec![0.0; self.fleet.state_len()];
        let (steps, episodes) = self.fleet.environment(env, &mut state);
        (state, steps, episodes)
    }

    /// Returns the elements of all attributes of an environment, in the order of the attributes' names.
    pub fn attributes(&self, env: usize) -> Vec<f64> {
        let names: Vec<String> = self.fleet.world().attributes.iter().map(|attribute| attribute.name.clone()).collect();
        names.iter().flat_map(|name| self.fleet.attribute(env, name).unwrap()).collect()
    }

    /// Sets the elements of all attributes of an environment, in the order of the attributes' names. Also sets the number of steps in its
    /// episode and the number of its earlier episodes.
    pub fn set(&mut self, env: usize, numbers: &[f64], steps: u32, episodes: u32) {
        let mut state = Vec::new();
        let mut numbers = numbers.iter();
        for attribute in self.fleet.world().attributes.clone() {
            for _ in 0..attribute.len {
                let x = *numbers.next().expect("a number for each element");
                if attribute.ty == worlds::control::script::Type::Int {
                    state.extend([(x as i32 >> 16) as f32, (x as i32 & 0xFFFF) as f32]);
                } else {
                    state.push(x as f32);
                }
            }
        }
        self.fleet.set_environment(env, &state, steps, episodes).unwrap();
    }

    pub fn fault(&self) -> Option<WorldFault> {
        self.fleet.fault()
    }
}
