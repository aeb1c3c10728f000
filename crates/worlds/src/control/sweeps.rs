//! Sweeps over velocities, the most expensive part of the module `rigid`. One generic implementation handles a single scene or one scene
//! per vector lane. A touch is a body near a piece of ground. A sweep solves each hinge, and each touch with a contact point, in turn. To
//! solve a hinge or a touch, the sweep applies the impulse that satisfies the constraint of this hinge or touch, as if there were no other
//! constraints. An arm is the vector from a body's centre of mass to a hinge or a contact point. A lever is the cross product of an arm and
//! a direction. Arms and levers are computed before the sweeps, so the sweeps do not use positions.
//!
//! The results of a lane are stored when the lane has converged, or after the last sweep. Thus no scene depends on the scenes in other
//! lanes. No multiply-add is fused, so all instruction sets give the same bits.

use super::angle;
use math::{Isa, Simd, kernel};
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// Scalar type: f64 for the reference, f32 for the vectorized version.
pub trait Real:
    Number<One = Self, Token = ()> + Default + PartialOrd + AddAssign + SubAssign + Div<Output = Self> + Send + Sync + 'static
{
    /// True if velocities in free flight are computed directly, without sweeps.
    const DIRECT: bool;
    /// Tolerance of velocities, m/s and rad/s. The sweeps end after a sweep that changes no velocity by more than this value.
    const STILL: f64;
    fn of(x: f64) -> Self;
    fn f64(self) -> f64;
    fn sqrt(self) -> Self;
    fn sin_cos(self) -> (Self, Self);
    fn abs(self) -> Self {
        if self < Self::of(0.0) { -self } else { self }
    }
    fn least(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    fn most(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
    fn within(self, low: Self, high: Self) -> Self {
        self.most(low).least(high)
    }
}

/// Maximum number of sweeps in a step. For a heavy body on light legs the sweeps do not converge, so this number affects the motion.
pub const SWEEPS: usize = 180;
/// Index of the body of each touch, in the order of a sweep.
pub const TOUCHED: [usize; 6] = [2, 2, 0, 0, 1, 1];

/// A body's horizontal velocity (m/s), vertical velocity (m/s) and spin (rad/s).
pub type Motion<N> = [N; 3];

/// Numbers of a hinge between body 0 and another body, by index. 0..4: horizontal, vertical, stop and motor impulse. 4..8: both arms. 8:
/// effective mass of the motor. 9: sign of the stop's impulse, 0 if no stop is reached. 10..12: change of the relative velocity of the
/// arms' ends by a unit impulse of the stop. 12..18: inverse matrix (xx, xy, yy, xt, yt, tt) of the hinge with its stop. 18..21: inverse
/// matrix (xx, xy, yy) of the hinge without a stop.
pub type Hinged<N> = [N; 21];

/// Numbers of a touch with up to two contact points, by index. 0..2: normal impulses. 2..4: friction impulses. 4..6: the normal. 6..8:
/// levers of the normal. 8..10: levers of the friction. 10..14: effective masses, two along the normal and two along the ground; 0 for a
/// point that is missing or not solved. 14..17: matrix (11, 12, 22) from normal impulses to normal speeds. 17..20: its inverse. 20: 1 if
/// both points are solved together.
pub type Touching<N> = [N; 21];
const FIRST_MASS: usize = 10;
pub const BLOCK: usize = 20;

/// Velocities, hinges and touches of one scene.
#[derive(Clone, Copy)]
pub struct System<N> {
    pub motions: [Motion<N>; 3],
    pub hinges: [Hinged<N>; 2],
    pub touches: [Touching<N>; 6],
}

impl<R: Real> System<R> {
    pub fn none() -> Self {
        let zero = R::of(0.0);
        Self { motions: [[zero; 3]; 3], hinges: [[zero; 21]; 2], touches: [[zero; 21]; 6] }
    }
}

/// Constants that are equal for all scenes.
#[derive(Clone, Copy)]
pub struct Fixed<R> {
    /// Inverse mass and inverse inertia of each body.
    pub inverses: [[R; 2]; 3],
    /// Coefficient of friction between each body and the ground.
    pub friction: [R; 3],
    /// Target speed (rad/s) and largest angular impulse per step (N·m·s) of each hinge's motor.
    pub motors: [[R; 2]; 2],
}

/// A number, or a SIMD vector with one number per lane.
pub trait Number: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Neg<Output = Self> {
    type One: Real;
    type Token: Copy;
    type Mask: Copy;
    const LANES: usize;
    fn all(token: Self::Token, x: Self::One) -> Self;
    fn load(token: Self::Token, from: &[Self::One]) -> Self;
    fn store(self, to: &mut [Self::One]);
    fn min(self, other: Self) -> Self;
    fn max(self, other: Self) -> Self;
    fn size(self) -> Self;
    fn reaches(self, other: Self) -> Self::Mask;
    fn both(token: Self::Token, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Returns `self` in lanes in which the mask is true, and `other` in other lanes.
    fn or_else(self, mask: Self::Mask, other: Self) -> Self;
    /// Converts a mask to an integer with one bit per lane.
    fn bits(token: Self::Token, mask: Self::Mask) -> u32;
}

macro_rules! single {
    ($($real:ty: direct $direct:literal, still $still:literal, $sin_cos:path;)*) => {$(
        impl Real for $real {
            const DIRECT: bool = $direct;
            const STILL: f64 = $still;
            fn of(x: f64) -> $real {
                x as $real
            }
            fn f64(self) -> f64 {
                f64::from(self)
            }
            fn sqrt(self) -> $real {
                <$real>::sqrt(self)
            }
            fn sin_cos(self) -> ($real, $real) {
                $sin_cos(self)
            }
        }

        impl Number for $real {
            type One = $real;
            type Token = ();
            type Mask = bool;
            const LANES: usize = 1;
            fn all((): (), x: $real) -> $real {
                x
            }
            fn load((): (), from: &[$real]) -> $real {
                from[0]
            }
            fn store(self, to: &mut [$real]) {
                to[0] = self;
            }
            fn min(self, other: $real) -> $real {
                self.least(other)
            }
            fn max(self, other: $real) -> $real {
                self.most(other)
            }
            fn size(self) -> $real {
                self.abs()
            }
            fn reaches(self, other: $real) -> bool {
                self >= other
            }
            fn both((): (), a: bool, b: bool) -> bool {
                a && b
            }
            fn or_else(self, mask: bool, other: $real) -> $real {
                if mask { self } else { other }
            }
            fn bits((): (), mask: bool) -> u32 {
                u32::from(mask)
            }
        }
    )*};
}
single! {
    f64: direct false, still 1e-13, f64::sin_cos;
    f32: direct true, still 1e-6, angle::sin_cos_1;
}

#[derive(Clone, Copy)]
struct Lanes<S: Simd> {
    s: S,
    x: S::F,
}

macro_rules! lanes {
    ($($trait:ident $method:ident)*) => {$(
        impl<S: Simd> $trait for Lanes<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Lanes { s: self.s, x: self.s.$method(self.x, other.x) }
            }
        }
    )*};
}
lanes! { Add add  Sub sub  Mul mul }

impl<S: Simd> Neg for Lanes<S> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Lanes { s: self.s, x: self.s.neg(self.x) }
    }
}

impl<S: Simd> Number for Lanes<S> {
    type One = f32;
    type Token = S;
    type Mask = S::M;
    const LANES: usize = S::LANES;
    #[inline(always)]
    fn all(s: S, x: f32) -> Self {
        Lanes { s, x: s.splat(x) }
    }
    #[inline(always)]
    fn load(s: S, from: &[f32]) -> Self {
        Lanes { s, x: s.load(from) }
    }
    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        self.s.store(self.x, to);
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Lanes { s: self.s, x: self.s.min(self.x, other.x) }
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Lanes { s: self.s, x: self.s.max(self.x, other.x) }
    }
    #[inline(always)]
    fn size(self) -> Self {
        Lanes { s: self.s, x: self.s.abs(self.x) }
    }
    #[inline(always)]
    fn reaches(self, other: Self) -> S::M {
        self.s.ge(self.x, other.x)
    }
    #[inline(always)]
    fn both(s: S, a: S::M, b: S::M) -> S::M {
        s.and_mask(a, b)
    }
    #[inline(always)]
    fn or_else(self, mask: S::M, other: Self) -> Self {
        Lanes { s: self.s, x: self.s.select(mask, self.x, other.x) }
    }
    #[inline(always)]
    fn bits(s: S, mask: S::M) -> u32 {
        s.mask_bits(mask)
    }
}

/// Solves one hinge: the motor first, then the hinge with its stop. `speed` is the motor's target speed, and `most` is its largest impulse.
/// `a` is the motion of body 0, and `b` is the motion of the other body.
#[inline(always)]
fn swing<N: Number>(
    token: N::Token,
    hinge: &mut Hinged<N>,
    [speed, most]: [N; 2],
    [[mass_a, inertia_a], [mass_b, inertia_b]]: [[N; 2]; 2],
    a: &mut Motion<N>,
    b: &mut Motion<N>,
) {
    let [push_x, push_y, stop, motor, ax, ay, bx, by, motor_mass, side, turned_x, turned_y, rest @ ..] = *hinge;
    let [ixx, ixy, iyy, ixt, iyt, itt, xx, xy, yy] = rest;
    let zero = N::all(token, N::One::of(0.0));

    let new_motor = (motor - motor_mass * (b[2] - a[2] - speed)).max(-most).min(most);
    let turn = new_motor - motor;
    a[2] = a[2] - inertia_a * turn;
    b[2] = b[2] + inertia_b * turn;

    // Negated relative velocity of the arms' ends.
    let slip_x = a[0] - b[0] + (by * b[2] - ay * a[2]);
    let slip_y = a[1] - b[1] + (ax * a[2] - bx * b[2]);
    let slip = a[2] - b[2];
    let stopped_x = ixx * slip_x + ixy * slip_y + ixt * slip;
    let stopped_y = ixy * slip_x + iyy * slip_y + iyt * slip;
    let turn = ixt * slip_x + iyt * slip_y + itt * slip;
    let new_stop = stop + turn;
    // A stop can only push. If the stop would pull, or if no stop is reached, the hinge is solved without a stop.
    let slip_x = slip_x + turned_x * stop;
    let slip_y = slip_y + turned_y * stop;
    let stopped = N::both(token, (new_stop * side).reaches(zero), (side * side).reaches(N::all(token, N::One::of(0.5))));
    let x = stopped_x.or_else(stopped, xx * slip_x + xy * slip_y);
    let y = stopped_y.or_else(stopped, xy * slip_x + yy * slip_y);
    let turn = turn.or_else(stopped, -stop);
    let new_stop = new_stop.or_else(stopped, zero);

    [hinge[0], hinge[1], hinge[2], hinge[3]] = [push_x + x, push_y + y, new_stop, new_motor];
    a[0] = a[0] - mass_a * x;
    a[1] = a[1] - mass_a * y;
    a[2] = a[2] - inertia_a * (ax * y - ay * x + turn);
    b[0] = b[0] + mass_b * x;
    b[1] = b[1] + mass_b * y;
    b[2] = b[2] + inertia_b * (bx * y - by * x + turn);
}

/// Solves the friction at one contact point. `own` is the effective mass, and `so_far` the accumulated impulse. Returns the new accumulated
/// impulse, limited to ±`most`.
#[inline(always)]
fn slide<N: Number>(so_far: N, most: N, [x, y, lever]: [N; 3], own: N, [mass, inertia]: [N; 2], b: &mut Motion<N>) -> N {
    let speed = x * b[0] + y * b[1] + lever * b[2];
    let new = (so_far - own * speed).max(-most).min(most);
    let impulse = new - so_far;
    let by = mass * impulse;
    b[0] = b[0] + x * by;
    b[1] = b[1] + y * by;
    b[2] = b[2] + inertia * (lever * impulse);
    new
}

/// Solves one touch: friction first, then the normal impulses. `two` is true if any lane has two points to solve together.
#[inline(always)]
pub fn rub<N: Number>(token: N::Token, touch: &mut Touching<N>, two: bool, friction: N, [mass, inertia]: [N; 2], b: &mut Motion<N>) {
    let [push, second_push, _, _, nx, ny, lever, second_lever, rest @ ..] = *touch;
    let [side, second_side, own, second_own, own_side, second_own_side, k11, k12, k22, i11, i12, i22, block] = rest;
    let zero = N::all(token, N::One::of(0.0));
    touch[2] = slide(touch[2], friction * push, [ny, -nx, side], own_side, [mass, inertia], b);
    let block = block.reaches(N::all(token, N::One::of(0.5)));
    if two {
        // In a lane without a second point, this limit keeps the impulses of the last step unchanged.
        let most = (friction * second_push).or_else(block, touch[3].size());
        touch[3] = slide(touch[3], most, [ny, -nx, second_side], second_own_side, [mass, inertia], b);
    }

    let ahead = nx * b[0] + ny * b[1];
    let speed = ahead + lever * b[2];
    let single = (push - own * speed).max(zero);
    let (mut new, mut second_new) = (single, second_push);
    if two {
        // Both points are solved together. Each point either pushes or separates, which gives four cases. The code chooses the case that is
        // consistent.
        let second_speed = ahead + second_lever * b[2];
        let rest = speed - k11 * push - k12 * second_push;
        let second_rest = second_speed - k12 * push - k22 * second_push;
        let (first, second) = (-(i11 * rest + i12 * second_rest), -(i12 * rest + i22 * second_rest));
        let both = N::both(token, first.reaches(zero), second.reaches(zero));
        let (only, only_second) = (-(own * rest), -(second_own * second_rest));
        let by_first = N::both(token, only.reaches(zero), (k12 * only + second_rest).reaches(zero));
        let by_second = N::both(token, only_second.reaches(zero), (k12 * only_second + rest).reaches(zero));
        let neither = N::both(token, rest.reaches(zero), second_rest.reaches(zero));
        // If no case is consistent, the impulses stay unchanged.
        let (x, y) = (zero.or_else(neither, push), zero.or_else(neither, second_push));
        let (x, y) = (zero.or_else(by_second, x), only_second.or_else(by_second, y));
        let (x, y) = (only.or_else(by_first, x), zero.or_else(by_first, y));
        let (x, y) = (first.or_else(both, x), second.or_else(both, y));
        (new, second_new) = (x.or_else(block, single), y.or_else(block, second_push));
    }
    [touch[0], touch[1]] = [new, second_new];
    let (impulse, second) = (new - push, second_new - second_push);
    let by = if two { mass * (impulse + second) } else { mass * impulse };
    b[0] = b[0] + nx * by;
    b[1] = b[1] + ny * by;
    let turn = if two { lever * impulse + second_lever * second } else { lever * impulse };
    b[2] = b[2] + inertia * turn;
}

/// Loads one number of each scene into the lanes of a vector. `of` selects the number.
#[inline(always)]
fn gather<N: Number>(token: N::Token, scenes: &[System<N::One>], of: impl Fn(&System<N::One>) -> N::One) -> N {
    let mut lanes = [N::One::of(0.0); 16];
    for (lane, scene) in lanes.iter_mut().zip(scenes) {
        *lane = of(scene);
    }
    N::load(token, &lanes)
}

/// Stores the lanes of a vector in the scenes, one lane per scene. Skips a scene if its bit in `done` is not set. `of` selects the number
/// to replace in the scene.
#[inline(always)]
fn store_lanes<N: Number>(x: N, done: u32, scenes: &mut [System<N::One>], of: impl Fn(&mut System<N::One>) -> &mut N::One) {
    let mut lanes = [N::One::of(0.0); 16];
    x.store(&mut lanes);
    for (l, scene) in scenes.iter_mut().enumerate() {
        if done >> l & 1 == 1 {
            *of(scene) = lanes[l];
        }
    }
}

/// Runs all sweeps over up to `N::LANES` scenes.
#[inline(always)]
fn sweep_lanes<N: Number>(token: N::Token, fixed: &Fixed<N::One>, scenes: &mut [System<N::One>]) {
    let none = N::One::of(0.0);
    let zero = N::all(token, none);
    let count = scenes.len().min(N::LANES);
    let mut motions = [[zero; 3]; 3];
    let mut hinges = [[zero; 21]; 2];
    let mut touches = [[zero; 21]; 6];
    let (mut on, mut two) = ([false; 6], [false; 6]);
    let scenes = &mut scenes[..count];
    for b in 0..3 {
        for i in 0..3 {
            motions[b][i] = gather(token, scenes, |scene| scene.motions[b][i]);
        }
    }
    for h in 0..2 {
        for i in 0..21 {
            hinges[h][i] = gather(token, scenes, |scene| scene.hinges[h][i]);
        }
    }
    for c in 0..6 {
        on[c] = scenes.iter().any(|scene| scene.touches[c][FIRST_MASS] > none);
        two[c] = scenes.iter().any(|scene| scene.touches[c][BLOCK] > none);
        if on[c] {
            for i in 0..21 {
                touches[c][i] = gather(token, scenes, |scene| scene.touches[c][i]);
            }
        }
    }
    let all = |x: N::One| N::all(token, x);
    let mut inverses = [[zero; 2]; 3];
    let mut friction = [zero; 3];
    for b in 0..3 {
        inverses[b] = [all(fixed.inverses[b][0]), all(fixed.inverses[b][1])];
        friction[b] = all(fixed.friction[b]);
    }
    let mut motors = [[zero; 2]; 2];
    for h in 0..2 {
        motors[h] = [all(fixed.motors[h][0]), all(fixed.motors[h][1])];
    }
    let still = all(N::One::of(N::One::STILL));

    let mut going = (1u32 << count) - 1;
    for sweep in 1..=SWEEPS {
        let before = motions;
        let (motor_1, motor_2) = (hinges[0][3], hinges[1][3]);
        let [hull, leg_1, leg_2] = &mut motions;
        swing(token, &mut hinges[1], motors[1], [inverses[0], inverses[2]], hull, leg_2);
        swing(token, &mut hinges[0], motors[0], [inverses[0], inverses[1]], hull, leg_1);
        // The macro unrolls the loop over the touches, so that all values stay in registers.
        macro_rules! rubbed {
            ($($c:literal $body:ident $b:literal;)*) => {$(
                if on[$c] {
                    rub(token, &mut touches[$c], two[$c], friction[$b], inverses[$b], $body);
                }
            )*};
        }
        rubbed! { 0 leg_2 2; 1 leg_2 2; 2 hull 0; 3 hull 0; 4 leg_1 1; 5 leg_1 1; }

        let mut change = zero;
        for b in 0..3 {
            for i in 0..3 {
                change = (motions[b][i] - before[b][i]).size().max(change);
            }
        }
        let quiet = N::bits(token, still.reaches(change));
        let done = if sweep == SWEEPS { going } else { going & quiet };
        if done == 0 {
            continue;
        }
        going &= !done;
        for b in 0..3 {
            for i in 0..3 {
                store_lanes(motions[b][i], done, scenes, |scene| &mut scene.motions[b][i]);
            }
        }
        for h in 0..2 {
            // The remaining sweeps would change only two impulses: the impulse of a motor, and the impulse of the stop that the motor
            // pushes against. The change is the same in each sweep.
            let [x, y, stop, motor, ..] = hinges[h];
            let before = if h == 0 { motor_1 } else { motor_2 };
            let most = motors[h][1];
            let left = all(N::One::of((SWEEPS - sweep) as f64));
            let wound = (motor + (motor - before) * left).max(-most).min(most);
            let side = hinges[h][9];
            let wound = wound.or_else((side * side).reaches(all(N::One::of(0.5))), motor);
            let impulses = [x, y, stop - (wound - motor), wound];
            for i in 0..4 {
                store_lanes(impulses[i], done, scenes, |scene| &mut scene.hinges[h][i]);
            }
        }
        for c in (0..6).filter(|&c| on[c]) {
            for i in 0..4 {
                store_lanes(touches[c][i], done, scenes, |scene| &mut scene.touches[c][i]);
            }
        }
        if going == 0 {
            return;
        }
    }
}

/// Runs all sweeps over one scene.
pub fn sweep_one<R: Real>(fixed: &Fixed<R>, scene: &mut System<R>) {
    sweep_lanes::<R>((), fixed, std::slice::from_mut(scene));
}

/// Runs all sweeps over many scenes, one scene per vector lane.
pub fn sweep_many(isa: Isa, fixed: &Fixed<f32>, scenes: &mut [System<f32>]) {
    kernel!(isa, |s: S, fixed: &Fixed<f32>, scenes: &mut [System<f32>]| {
        for scenes in scenes.chunks_mut(S::LANES) {
            sweep_lanes::<Lanes<S>>(s, fixed, scenes);
        }
    });
}
