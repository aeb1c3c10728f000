//! LunarLander-v3 as in Gymnasium (discrete actions, gravity 10 m/s², no wind): land a craft on two sprung legs between the flags. One
//! generic implementation serves both the scalar f64 reference and the vectorized f32 version.
//!
//! This file contains the rules. The module `rigid` computes the motion of the bodies. In every step, the position of the engines has a
//! small random offset. The state of the reference contains the offset of the next step and the seed of later offsets. A step therefore
//! depends only on the state, the action and the number of the step.
//!
//! An episode *terminates* with the reward -100 if the hull touches the ground, or if the craft leaves the picture at the left or right
//! side. An episode *terminates* with the reward 100 if all bodies are at rest. An episode is *truncated* at 1000 steps.

use super::kind::{Kernels, Kind, Make};
use super::many::place;
use super::rigid::{
    self, BENDS, BODIES, Body, Effort, HINGES, Hinge, PIECE, Rig, Scene, Solid, Step, TOUCHES, Touch, Turn, V2, mass_of, v2,
};
use super::sweeps::{Real, System, sweep_many};
use super::vector::{InvalidState, LENGTH_SHIFT, TERMINATED, TRUNCATED, Vector};
use super::world::{Actions, Moment, Single, Spec, Text, Twin};
use crate::{named, texts};
use math::{Isa, PANEL, Rng, rng};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// Width of the visible part of the world, m.
pub const WIDTH: f64 = 20.0;
/// Height of the visible part of the world, m.
pub const HEIGHT: f64 = 40.0 / 3.0;
/// Height of the landing pad, m.
pub const PAD_HEIGHT: f64 = HEIGHT / 4.0;
pub const STEP_S: f64 = 0.02;
/// Gravitational acceleration, m/s².
pub const GRAVITY: f64 = 10.0;
/// Maximum number of steps of an episode.
pub const STEP_LIMIT: u32 = 1000;
/// Bound of each component of the random force in the first step of an episode, N.
pub const FIRST_FORCE: f64 = 1000.0;
/// Outline of the hull relative to the craft's origin, anticlockwise, m.
pub const HULL: [[f64; 2]; 6] = [
    [17.0 / 30.0, -10.0 / 30.0],
    [17.0 / 30.0, 0.0],
    [14.0 / 30.0, 17.0 / 30.0],
    [-14.0 / 30.0, 17.0 / 30.0],
    [-17.0 / 30.0, 0.0],
    [-17.0 / 30.0, -10.0 / 30.0],
];
/// Outline of a leg relative to its centre, anticlockwise, m.
pub const LEG: [[f64; 2]; 4] = [[-2.0 / 30.0, -8.0 / 30.0], [2.0 / 30.0, -8.0 / 30.0], [2.0 / 30.0, 8.0 / 30.0], [-2.0 / 30.0, 8.0 / 30.0]];
/// Density of the hull, kg/m².
const HULL_DENSITY: f64 = 5.0;
/// Density of a leg, kg/m².
const LEG_DENSITY: f64 = 1.0;
/// Friction of the hull on the ground: the geometric mean of the hull's coefficient, 0.1, and the ground's, 0.1.
const HULL_FRICTION: f64 = 0.1;
/// Friction of a leg on the ground: the geometric mean of the leg's coefficient, 0.2, and the ground's, 0.1.
const LEG_FRICTION: f64 = 0.141_421_356_237_309_5;
/// Horizontal distance from a leg's centre to its hinge at the craft's origin, m.
const LEG_AWAY: f64 = 20.0 / 30.0;
/// Vertical distance from a leg's centre to its hinge, m.
const LEG_UP: f64 = 18.0 / 30.0;
/// Absolute value of the hinge angle of a leg that is turned fully inwards, rad.
const LEG_IN: f64 = 0.4;
/// Absolute value of the hinge angle of a leg that is turned fully outwards, rad.
const LEG_OUT: f64 = 0.9;
/// Speed of the motor that turns a leg inwards, rad/s.
const LEG_SPEED: f64 = 0.3;
/// Maximum torque of a leg's motor, N·m.
const LEG_TORQUE: f64 = 40.0;
/// Absolute value of the initial angle of a leg from upright, rad. At this angle of the leg, the hinge angle is 0.
const LEG_LEAN: f64 = 0.05;
/// Impulse of the main engine, divided by the distance of the engine from the craft's origin, N·s/m.
const MAIN_POWER: f64 = 13.0;
/// Amount by which firing the main engine reduces the reward of a step.
const MAIN_PRICE: f64 = 0.3;
/// Impulse of a side engine, divided by the distance of the engine from the craft's vertical axis, N·s/m.
const SIDE_POWER: f64 = 0.6;
/// Amount by which firing a side engine reduces the reward of a step.
const SIDE_PRICE: f64 = 0.03;
/// Distance of the main engine below the craft's origin, m.
const MAIN_BELOW: f64 = 4.0 / 30.0;
/// Horizontal distance of a side engine from the craft's origin, m.
const SIDE_AWAY: f64 = 12.0 / 30.0;
/// Height of the side engines above the craft's origin, m, for the x coordinate of the engines in the world. For the y coordinate,
/// Gymnasium uses another height, [`SIDE_ABOVE`].
const SIDE_ALONG: f64 = 17.0 / 30.0;
/// Height of the side engines above the craft's origin, m, for the y coordinate of the engines in the world.
const SIDE_ABOVE: f64 = 14.0 / 30.0;
/// Maximum absolute value of the random numbers from which the offset of an engine's position is computed, m.
pub const SCATTER: f64 = 1.0 / 30.0;

/// Names of the numbers in a state of the reference, with their units.
#[rustfmt::skip]
const STATE_NAMES: Cow<'static, [Text]> = texts![
    "craft x (m)", "craft y (m)", "craft angle (rad)", "craft velocity x (m/s)", "craft velocity y (m/s)", "craft spin (rad/s)",
    "leg 1 x (m)", "leg 1 y (m)", "leg 1 angle (rad)", "leg 1 velocity x (m/s)", "leg 1 velocity y (m/s)", "leg 1 spin (rad/s)",
    "leg 2 x (m)", "leg 2 y (m)", "leg 2 angle (rad)", "leg 2 velocity x (m/s)", "leg 2 velocity y (m/s)", "leg 2 spin (rad/s)",
    "hinge 1 push x (N s)", "hinge 1 push y (N s)", "hinge 1 stop (N m s)", "hinge 1 motor (N m s)",
    "hinge 2 push x (N s)", "hinge 2 push y (N s)", "hinge 2 stop (N m s)", "hinge 2 motor (N m s)",
    "leg 1 contact", "leg 2 contact", "steps at rest", "shaping", "main engine", "side engine",
    "ground 0 (m)", "ground 1 (m)", "ground 2 (m)", "ground 3 (m)", "ground 4 (m)", "ground 5 (m)",
    "ground 6 (m)", "ground 7 (m)", "ground 8 (m)", "ground 9 (m)", "ground 10 (m)",
    "leg 1 touch 1 piece", "leg 1 touch 1 feature 1", "leg 1 touch 1 feature 2", "leg 1 touch 1 normal 1 (N s)",
    "leg 1 touch 1 normal 2 (N s)", "leg 1 touch 1 friction 1 (N s)", "leg 1 touch 1 friction 2 (N s)",
    "leg 1 touch 2 piece", "leg 1 touch 2 feature 1", "leg 1 touch 2 feature 2", "leg 1 touch 2 normal 1 (N s)",
    "leg 1 touch 2 normal 2 (N s)", "leg 1 touch 2 friction 1 (N s)", "leg 1 touch 2 friction 2 (N s)",
    "leg 2 touch 1 piece", "leg 2 touch 1 feature 1", "leg 2 touch 1 feature 2", "leg 2 touch 1 normal 1 (N s)",
    "leg 2 touch 1 normal 2 (N s)", "leg 2 touch 1 friction 1 (N s)", "leg 2 touch 1 friction 2 (N s)",
    "leg 2 touch 2 piece", "leg 2 touch 2 feature 1", "leg 2 touch 2 feature 2", "leg 2 touch 2 normal 1 (N s)",
    "leg 2 touch 2 normal 2 (N s)", "leg 2 touch 2 friction 1 (N s)", "leg 2 touch 2 friction 2 (N s)",
    "next scatter 1 (m)", "next scatter 2 (m)", "scatter seed",
];

static SPEC: Spec = Spec {
    id: Cow::Borrowed("LunarLander-v3"),
    summary: Cow::Borrowed("set a craft down between the flags, on its legs and gently"),
    actions: Actions::Choices(4),
    choices: texts!["nothing", "left engine", "main engine", "right engine"],
    state: STATE_NAMES,
    observation: texts![
        "horizontal position",
        "height",
        "horizontal velocity",
        "vertical velocity",
        "angle (rad)",
        "angular velocity",
        "leg 1 contact",
        "leg 2 contact",
    ],
    step_limit: STEP_LIMIT,
    solved_at: 200.0,
    returns: [-400.0, 300.0],
};

pub(super) fn kind() -> Kind {
    let many: Make = Arc::new(|isa, seed, first, count| Box::new(LunarLanders::new(isa, seed, first, count)));
    Kind {
        steps: 3e6,
        kernels: Some(Kernels {
            text: Cow::Borrowed(include_str!("lunar_lander.wgsl")),
            repeated: &[("BEND", BENDS), ("PIECE", BENDS - 1)],
            constants,
            key,
            episode_mask: u32::MAX,
            explain: None,
        }),
        ..Kind::new(SPEC.clone(), Arc::new(|| Box::new(LunarLander64::new(0))), many)
    }
}

pub const OBSERVATION: usize = 8;
/// Number of values in the state of a craft.
pub const STATE: usize = 71;
/// Number of values in a state of the reference: the state of a craft, two random offsets, and the seed of the offsets.
const TWIN_STATE: usize = STATE + 3;
/// Index of the first ground height in a state. The points of the ground are `PIECE` metres apart.
pub const GROUND: usize = 32;

/// Returns the action that Gymnasium's example pilot takes for an observation. The pilot leans towards the pad, hovers at a height
/// proportional to the horizontal distance from the pad, and brakes once a leg touches the ground.
pub fn heuristic<R: Real>(seen: [R; OBSERVATION]) -> u32 {
    let [x, y, across, up, angle, spin, leg_1, leg_2] = seen;
    let half = R::of(0.5);
    let lean = (x * half + across).within(R::of(-0.4), R::of(0.4));
    let (mut turn, mut lift) = ((lean - angle) * half - spin, (R::of(0.55) * x.abs() - y) * half - up * half);
    if leg_1 != R::of(0.0) || leg_2 != R::of(0.0) {
        (turn, lift) = (R::of(0.0), -(up * half));
    }
    let least = R::of(0.05);
    if lift > turn.abs() && lift > least {
        2
    } else if turn < -least {
        3
    } else if turn > least {
        1
    } else {
        0
    }
}

/// State of one craft and of its ground, between two steps.
#[derive(Clone, Copy, Default)]
struct Craft<R> {
    scene: Scene<R>,
    /// Shaping term of the reward in the current state (see `worth`). The reward of a step includes the change of this term during the
    /// step.
    shaping: R,
    /// Engines that fired in the last step. The first number is 1 for the main engine. The second number is -1 for the left engine and 1
    /// for the right engine. A number is 0 if no such engine fired.
    engines: [R; 2],
}

/// Constants of the craft in the number type `R`.
struct Rules<R> {
    rig: Rig<R>,
    /// Position of the hull's centre of mass relative to the craft's origin, m.
    centre: V2<R>,
}

fn centre<R: Real>() -> V2<R> {
    let (_, _, [_, y]) = mass_of(&HULL, HULL_DENSITY);
    v2(R::of(0.0), R::of(y))
}

/// Returns the constants of the craft's bodies and hinges.
pub fn rig<R: Real>() -> Rig<R> {
    let centre: V2<R> = centre();
    let leg = Solid::new(&LEG, LEG_DENSITY, LEG_FRICTION);
    // For leg 1, on the right, `side` is 1. For leg 2, on the left, `side` is -1. The motor of each hinge turns its leg inwards.
    let hinge = |side: f64| Hinge {
        anchors: [-centre, v2(R::of(-side * LEG_AWAY), R::of(LEG_UP))],
        zero: R::of(-side * LEG_LEAN),
        low: R::of(if side > 0.0 { LEG_IN } else { -LEG_OUT }),
        high: R::of(if side > 0.0 { LEG_OUT } else { -LEG_IN }),
        speed: R::of(-side * LEG_SPEED),
        most: R::of(LEG_TORQUE * STEP_S),
    };
    let solids = [Solid::new(&HULL, HULL_DENSITY, HULL_FRICTION), leg, leg];
    Rig::new(solids, [hinge(1.0), hinge(-1.0)], STEP_S, -GRAVITY)
}

impl<R: Real> Rules<R> {
    fn new() -> Self {
        Self { rig: rig(), centre: centre() }
    }

    /// Creates a craft at the start of an episode, and takes a first step in which the legs move to their positions.
    fn first(&self, mut uniform: impl FnMut(f64, f64) -> R) -> Craft<R> {
        let mut craft = Craft::default();
        let mut heights = [R::of(0.0); BENDS + 1];
        heights.fill_with(|| uniform(0.0, HEIGHT / 2.0));
        heights[BENDS / 2 - 2..=BENDS / 2 + 2].fill(R::of(PAD_HEIGHT));
        craft.scene.set_ground(std::array::from_fn(|i| R::of(0.33) * (heights[(i + BENDS) % (BENDS + 1)] + heights[i] + heights[i + 1])));
        let [hull, leg_1, leg_2] = &mut craft.scene.bodies;
        hull.place = v2(R::of(WIDTH / 2.0), R::of(HEIGHT)) + self.centre;
        for (leg, side) in [(leg_1, 1.0), (leg_2, -1.0)] {
            leg.place = v2(R::of(WIDTH / 2.0 + side * LEG_AWAY), R::of(HEIGHT));
            leg.angle = R::of(-side * LEG_LEAN);
        }
        let force = v2(uniform(-FIRST_FORCE, FIRST_FORCE), uniform(-FIRST_FORCE, FIRST_FORCE));
        craft.scene.step(&self.rig, force);
        craft.shaping = worth(&self.observe(&craft));
        craft
    }

    fn observe(&self, craft: &Craft<R>) -> [R; OBSERVATION] {
        let hull = &craft.scene.bodies[0];
        let origin = hull.place - Turn::by(hull.angle).of(self.centre);
        let [_, leg_1, leg_2] = craft.scene.touching.map(|touching| R::of(f64::from(u8::from(touching))));
        [
            (origin.x - R::of(WIDTH / 2.0)) * R::of(2.0 / WIDTH),
            (origin.y - R::of(PAD_HEIGHT + LEG_UP)) * R::of(2.0 / HEIGHT),
            hull.velocity.x * R::of(WIDTH / 2.0 * STEP_S),
            hull.velocity.y * R::of(HEIGHT / 2.0 * STEP_S),
            hull.angle,
            hull.spin * R::of(20.0 * STEP_S),
            leg_1,
            leg_2,
        ]
    }

    /// Fires the engine that `action` selects; action 0 fires no engine. The offset of the engine's position is computed from the two
    /// random numbers in `scatter`, m.
    fn fire(&self, craft: &mut Craft<R>, action: u32, scatter: [R; 2]) {
        let zero = R::of(0.0);
        craft.engines = [zero; 2];
        let [first, second] = scatter;
        let hull = &mut craft.scene.bodies[0];
        if action != 0 {
            let turn = Turn::by(hull.angle);
            let origin = hull.place - turn.of(self.centre);
            // The offsets combine Gymnasium's vectors `tip` and `side`. If the craft is upright, `tip` points up and `side` points to the
            // left.
            let (offset, at, power) = if action == 2 {
                craft.engines[0] = R::of(1.0);
                let offset = turn.of(v2(-second, -(R::of(MAIN_BELOW) + first + first)));
                (offset, offset, R::of(MAIN_POWER))
            } else {
                let side = R::of(f64::from(action) - 2.0);
                craft.engines[1] = side;
                let away = R::of(3.0) * second + side * R::of(SIDE_AWAY);
                let offset = turn.of(v2(-away, -first));
                let up = turn.of(v2(zero, R::of(1.0)));
                let lift = v2(up.x * R::of(SIDE_ALONG), up.y * R::of(SIDE_ABOVE));
                (offset, offset + lift, R::of(SIDE_POWER))
            };
            let solid = &self.rig.solids[0];
            let impulse = -offset * power;
            hull.velocity = hull.velocity + impulse * solid.inv_mass;
            hull.spin += solid.inv_inertia * (origin + at - hull.place).cross(impulse);
        }
    }

    /// Ends a step; `rests` is true if all bodies are at rest. Returns the observation, the reward, and true if the episode terminates.
    fn settle(&self, craft: &mut Craft<R>, rests: bool) -> ([R; OBSERVATION], R, bool) {
        let seen = self.observe(craft);
        let shaping = worth(&seen);
        let mut reward = shaping - craft.shaping;
        craft.shaping = shaping;
        reward -= craft.engines[0] * R::of(MAIN_PRICE);
        reward -= craft.engines[1].abs() * R::of(SIDE_PRICE);
        let lost = craft.scene.struck || seen[0].abs() >= R::of(1.0);
        if lost {
            reward = R::of(-100.0);
        }
        if rests {
            reward = R::of(100.0);
        }
        (seen, reward, lost || rests)
    }
}

/// Returns the shaping term of the reward for an observation, as in Gymnasium.
fn worth<R: Real>(seen: &[R; OBSERVATION]) -> R {
    let [x, y, across, up, angle, _, leg_1, leg_2] = *seen;
    let hundred = R::of(100.0);
    -(hundred * (x * x + y * y).sqrt()) - hundred * (across * across + up * up).sqrt() - hundred * angle.abs()
        + R::of(10.0) * leg_1
        + R::of(10.0) * leg_2
}

impl<R: Real> Craft<R> {
    /// Writes the craft as numbers, in the order of [`Spec::state`].
    fn pack(&self, to: &mut [R]) {
        let whole = |i: i32| R::of(f64::from(i));
        let mut to = to.iter_mut();
        let mut put = |numbers: &[R]| numbers.iter().zip(to.by_ref()).for_each(|(&x, place)| *place = x);
        let scene = &self.scene;
        for body in &scene.bodies {
            let Body { place, angle, velocity, spin } = *body;
            put(&[place.x, place.y, angle, velocity.x, velocity.y, spin]);
        }
        for effort in &scene.efforts {
            let Effort { push, stop, motor } = *effort;
            put(&[push.x, push.y, stop, motor]);
        }
        put(&[1, 2].map(|body| whole(i32::from(scene.touching[body]))));
        put(&[whole(scene.rested as i32), self.shaping]);
        put(&self.engines);
        put(scene.ground());
        for touch in scene.touches[1..].iter().flatten() {
            let Touch { piece, feature, normal, along } = *touch;
            put(&[whole(piece), whole(feature[0]), whole(feature[1])]);
            put(&normal);
            put(&along);
        }
    }

    /// Reads a craft from the numbers that [`Craft::pack`] writes. Other numbers also give a craft that can be stepped without a panic.
    fn unpack(from: &[R]) -> Self {
        let mut from = from.iter().copied();
        let mut take = || from.next().unwrap_or_default();
        // The cast saturates, so it accepts every number.
        let whole = |x: R| x.f64() as i32;
        let mut craft = Self::default();
        for body in &mut craft.scene.bodies {
            *body = Body { place: v2(take(), take()), angle: take(), velocity: v2(take(), take()), spin: take() };
        }
        for effort in &mut craft.scene.efforts {
            *effort = Effort { push: v2(take(), take()), stop: take(), motor: take() };
        }
        for body in [1, 2] {
            craft.scene.touching[body] = take() != R::of(0.0);
        }
        craft.scene.rested = whole(take()).max(0) as u32;
        craft.shaping = take();
        craft.engines = [take(), take()];
        craft.scene.set_ground([(); BENDS].map(|()| take()));
        for touch in craft.scene.touches[1..].iter_mut().flatten() {
            let piece = whole(take());
            let feature = [whole(take()), whole(take())];
            let (normal, along) = ([take(), take()], [take(), take()]);
            if (0..BENDS as i32 - 1).contains(&piece) {
                *touch = Touch { piece, feature, normal, along };
            }
        }
        craft
    }
}

/// Returns the names and values of the constants in `lunar_lander.wgsl`.
pub fn constants() -> Vec<(&'static str, f64)> {
    let Rules { rig, centre } = Rules::<f32>::new();
    let [hull, leg, _] = rig.solids;
    #[rustfmt::skip]
    let solids = [
        ("CENTRE_Y", centre.y),
        ("HULL_INV_MASS", hull.inv_mass), ("HULL_INV_INERTIA", hull.inv_inertia), ("HULL_FRICTION", hull.friction),
        ("HULL_REACH", hull.reach),
        ("HULL_WIDE", hull.corners[0].x), ("HULL_LOW", hull.corners[0].y), ("HULL_MIDDLE", hull.corners[1].y),
        ("HULL_HIGH_WIDE", hull.corners[2].x), ("HULL_HIGH", hull.corners[2].y),
        ("HULL_SLANT_X", hull.normals[1].x), ("HULL_SLANT_Y", hull.normals[1].y),
        ("LEG_INV_MASS", leg.inv_mass), ("LEG_INV_INERTIA", leg.inv_inertia), ("LEG_FRICTION", leg.friction), ("LEG_REACH", leg.reach),
        ("LEG_WIDE", leg.corners[2].x), ("LEG_HIGH", leg.corners[2].y), ("LEG_MOST", rig.hinges[0].most),
    ];
    let scene = named![WIDTH, HEIGHT, PAD_HEIGHT, STEP_S, GRAVITY, FIRST_FORCE];
    let legs = named![LEG_AWAY, LEG_UP, LEG_IN, LEG_OUT, LEG_SPEED, LEG_LEAN];
    let engines = named![MAIN_POWER, MAIN_PRICE, SIDE_POWER, SIDE_PRICE, MAIN_BELOW, SIDE_AWAY, SIDE_ALONG, SIDE_ABOVE, SCATTER];
    let solids = solids.map(|(name, value)| (name, f64::from(value)));
    solids.into_iter().chain(scene).chain(legs).chain(engines).chain(rigid::constants()).collect()
}

/// Returns the random key of a seed. All random numbers of the f32 version are drawn with this key.
pub fn key(seed: u32) -> [u32; 4] {
    Rng::new(seed, STREAM).key
}

/// Rules of LunarLander in f64. A state is the state of a craft, the random offsets of the engines in the next step, and the seed of these
/// offsets.
pub struct LunarLander;

pub type LunarLander64 = Single<LunarLander, TWIN_STATE>;

static RULES: LazyLock<Rules<f64>> = LazyLock::new(Rules::new);

/// Returns the two random numbers for the engines' offsets, m, in the step after the first `steps` steps of an episode.
fn scatter(seed: f64, steps: u32) -> [f64; 2] {
    let [first, second, ..] = Rng::new(seed as u32, STREAM).block([steps, 0, 0, TWIN]);
    [first, second].map(|word| (f64::from(word) / f64::from(1u32 << 31) - 1.0) * SCATTER)
}

/// Number of the random stream of this environment. The stream is separate from all other random streams of the same seed.
const STREAM: u32 = 0x004C_4C33;
/// Last word of the random generator's counter for the engines' offsets of the f64 reference.
const TWIN: u32 = 0;
/// Last word of the random generator's counter for the initial states of the f32 version.
const BEGINNING: u32 = 1;
/// Last word of the random generator's counter for the keys in `noise`.
const NOISE: u32 = 2;

impl Twin<TWIN_STATE> for LunarLander {
    const SPEC: &'static Spec = &SPEC;

    fn show(state: &[f64; TWIN_STATE]) -> Vec<f64> {
        RULES.observe(&Craft::unpack(&state[..STATE])).to_vec()
    }

    fn begin(uniform: &mut dyn FnMut(f64, f64) -> f64) -> [f64; TWIN_STATE] {
        let seed = uniform(0.0, 1e6).floor();
        let mut state = [0.0; TWIN_STATE];
        RULES.first(uniform).pack(&mut state[..STATE]);
        let [first, second] = scatter(seed, 0);
        state[STATE..].copy_from_slice(&[first, second, seed]);
        state
    }

    fn step(state: &mut [f64; TWIN_STATE], [action]: [f64; 1], Moment { steps, .. }: Moment) -> (f64, bool) {
        let mut craft = Craft::unpack(&state[..STATE]);
        let [first, second, seed] = [0, 1, 2].map(|i| state[STATE + i]);
        RULES.fire(&mut craft, action as u32, [first, second]);
        let rests = craft.scene.step(&RULES.rig, V2::default());
        let (_, reward, terminated) = RULES.settle(&mut craft, rests);
        craft.pack(&mut state[..STATE]);
        state[STATE..STATE + 2].copy_from_slice(&scatter(seed, steps.saturating_add(1)));
        (reward, terminated)
    }
}

/// Maximum number of craft whose velocities are solved together (see `sweeps`): the number of lanes of the widest vector.
const TOGETHER: usize = 16;

/// Many craft in f32. Craft in free flight are stepped one by one. The velocities of other craft are solved together, one craft per vector
/// lane (see `sweeps`).
pub struct LunarLanders {
    rules: Rules<f32>,
    isa: Isa,
    rng: Rng,
    first: u32,
    crafts: Vec<Craft<f32>>,
    /// Random key of the engines' offsets in each craft's current episode.
    noise: Vec<[u32; 2]>,
    /// Number of steps that each craft has taken in its episode.
    steps: Vec<u32>,
    /// Number of each craft's earlier episodes.
    episodes: Vec<u32>,
    /// Current observations, `[panels][OBSERVATION][PANEL]`.
    shown: Vec<f32>,
    /// Unfinished steps whose velocities will be solved together, each with the index of its craft.
    waiting: Vec<(usize, Step<f32>)>,
    /// Velocities and impulses to solve. Element i belongs to entry i of `waiting`; further elements are unused.
    systems: Vec<System<f32>>,
}

impl LunarLanders {
    /// Creates environments `first..first + count` of a seed, each at the start of its first episode.
    pub fn new(isa: Isa, seed: u32, first: u32, count: usize) -> Self {
        let mut landers = Self {
            rules: Rules::new(),
            isa,
            rng: Rng::new(seed, STREAM),
            first,
            crafts: vec![Craft::default(); count],
            noise: vec![[0; 2]; count],
            steps: vec![0; count],
            episodes: vec![0; count],
            shown: vec![0.0; count.div_ceil(PANEL) * PANEL * OBSERVATION],
            waiting: Vec::with_capacity(TOGETHER),
            systems: vec![System::none(); TOGETHER],
        };
        landers.reset(seed, first);
        landers
    }

    /// Starts episode number `episodes[env]` of one craft.
    fn place(&mut self, env: usize) {
        let place = [self.first.wrapping_add(env as u32), self.episodes[env]];
        let mut words = [0; 4];
        let mut drawn = 0;
        let rng = self.rng;
        self.crafts[env] = self.rules.first(|low, high| {
            if drawn % 4 == 0 {
                words = rng.block([place[0], place[1], drawn / 4, BEGINNING]);
            }
            let unit = rng::uniform_from_word(words[drawn as usize % 4]);
            drawn += 1;
            low as f32 + (high - low) as f32 * unit
        });
        self.steps[env] = 0;
        self.set_noise(env);
        let seen = self.rules.observe(&self.crafts[env]);
        spread(&seen, &mut self.shown, env);
    }

    /// Runs the sweeps over the systems of the waiting steps, and finishes these steps.
    fn sweep(&mut self, reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        sweep_many(self.isa, &self.rules.rig.fixed, &mut self.systems[..self.waiting.len()]);
        while let Some((env, step)) = self.waiting.pop() {
            let system = &self.systems[self.waiting.len()];
            let rests = self.crafts[env].scene.finish(&self.rules.rig, step, system);
            self.settle(env, rests, reached, rewards, ended);
        }
    }

    fn settle(&mut self, env: usize, rests: bool, reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        let (seen, reward, terminated) = self.rules.settle(&mut self.crafts[env], rests);
        spread(&seen, reached, env);
        rewards[env] = reward;
        self.steps[env] += 1;
        let truncated = self.steps[env] >= STEP_LIMIT;
        ended[env] = 0;
        if terminated || truncated {
            let flags = if terminated { TERMINATED } else { 0 } | if truncated { TRUNCATED } else { 0 };
            ended[env] = flags | self.steps[env] << LENGTH_SHIFT;
            Vector::begin(self, env);
        } else {
            spread(&seen, &mut self.shown, env);
        }
    }

    /// Sets the noise key of one craft for episode number `episodes[env]`.
    fn set_noise(&mut self, env: usize) {
        let [a, b, ..] = self.rng.block([self.first.wrapping_add(env as u32), self.episodes[env], 0, NOISE]);
        self.noise[env] = [a, b];
    }
}

/// Writes the observation of one craft into panels.
fn spread(features: &[f32; OBSERVATION], panels: &mut [f32], env: usize) {
    for (i, &x) in features.iter().enumerate() {
        panels[place::<OBSERVATION>(env, i)] = x;
    }
}

impl Vector for LunarLanders {
    fn bytes(&self) -> usize {
        // Each craft also has a noise key of two words, a number of steps and a number of episodes.
        let craft = size_of::<Craft<f32>>() + 4 * size_of::<u32>();
        let swept = size_of::<System<f32>>() + size_of::<(usize, Step<f32>)>();
        size_of::<Self>() + self.crafts.len() * craft + size_of_val(&*self.shown) + TOGETHER * swept
    }

    fn count(&self) -> usize {
        self.crafts.len()
    }

    fn observations(&self) -> &[f32] {
        &self.shown
    }

    fn reset(&mut self, seed: u32, first: u32) {
        self.rng = Rng::new(seed, STREAM);
        self.first = first;
        self.episodes.fill(0);
        for env in 0..self.crafts.len() {
            self.place(env);
        }
    }

    fn begin(&mut self, env: usize) {
        self.episodes[env] = self.episodes[env].wrapping_add(1);
        self.place(env);
    }

    fn step(&mut self, actions: &[f32], reached: &mut [f32], rewards: &mut [f32], ended: &mut [u32]) {
        for env in 0..self.crafts.len() {
            let action = (actions[env] as u32).min(3);
            let scatter = if action == 0 {
                [0.0; 2]
            } else {
                let [first, second, ..] = rng::hash_1(self.noise[env], [self.steps[env], 0]);
                [first, second].map(|word| (2.0 * rng::uniform_from_word(word) - 1.0) * SCATTER as f32)
            };
            let craft = &mut self.crafts[env];
            self.rules.fire(craft, action, scatter);
            let system = &mut self.systems[self.waiting.len()];
            let step = craft.scene.begin(&self.rules.rig, V2::default(), system);
            if step.flown {
                let rests = craft.scene.finish(&self.rules.rig, step, system);
                self.settle(env, rests, reached, rewards, ended);
                continue;
            }
            self.waiting.push((env, step));
            if self.waiting.len() == TOGETHER {
                self.sweep(reached, rewards, ended);
            }
        }
        self.sweep(reached, rewards, ended);
    }

    fn state_len(&self) -> usize {
        STATE
    }

    fn environment(&self, env: usize, state: &mut [f32]) -> (u32, u32) {
        self.crafts[env].pack(state);
        (self.steps[env], self.episodes[env])
    }

    fn set_environment(&mut self, env: usize, state: &[f32], steps: u32, episodes: u32) -> Result<(), InvalidState> {
        // In an unfinished episode, no number of the state exceeds this bound.
        let possible = state.len() == STATE && state.iter().all(|x| x.abs() <= 1e4);
        if env >= self.crafts.len() || steps >= STEP_LIMIT || !possible {
            return Err(InvalidState { env: self.first as usize + env, id: SPEC.id.clone() });
        }
        self.crafts[env] = Craft::unpack(state);
        (self.steps[env], self.episodes[env]) = (steps, episodes);
        self.set_noise(env);
        let seen = self.rules.observe(&self.crafts[env]);
        spread(&seen, &mut self.shown, env);
        Ok(())
    }
}

const _: () = assert!(STATE == 6 * BODIES + 4 * HINGES + 6 + BENDS + 7 * TOUCHES * (BODIES - 1));
const _: () = assert!(PIECE * (BENDS - 1) as f64 == WIDTH);
