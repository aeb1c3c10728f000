//! A small solver for rigid bodies in the plane. A scene has three bodies, two hinges with motors and stops, and a ground of straight
//! pieces. The solver uses sequential impulses (Catto, "Iterative dynamics with temporal coherence", 2005) with warm starting. A sweep
//! solves each constraint once, in turn; the sweeps over velocities are in `sweeps`. Positions are corrected after velocities. The first
//! touch within a step is found by conservative advancement (Mirtich, 1996). Bodies do not collide with each other. Collisions with the
//! ground have no restitution.
//!
//! A touch records that a body is near a piece of ground, and contains the impulses between the two. A meeting is the geometry of a contact
//! between a body and a piece of ground. A feature identifies a contact point; a feature is a corner, or an end of an edge.
//!
//! The tolerances, the numbers of sweeps, and the order in which a sweep solves hinges and touches are those of Gymnasium with Box2D 2.3.
//! All three affect the motion, because 180 sweeps do not converge for a heavy body on light legs. In free flight the sweeps almost
//! converge. The f32 version then computes the limit of the sweeps directly.

use super::sweeps::{BLOCK, Fixed, Hinged, Real, SWEEPS, System, TOUCHED, Touching, rub, sweep_one};
use crate::named;
use std::ops::{Add, Mul, Neg, Sub};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct V2<R> {
    pub x: R,
    pub y: R,
}

pub fn v2<R>(x: R, y: R) -> V2<R> {
    V2 { x, y }
}

impl<R: Real> V2<R> {
    fn dot(self, o: Self) -> R {
        self.x * o.x + self.y * o.y
    }
    pub fn cross(self, o: Self) -> R {
        self.x * o.y - self.y * o.x
    }
    /// Returns the vector turned left by 90°.
    fn left(self) -> Self {
        v2(-self.y, self.x)
    }
    fn length(self) -> R {
        self.dot(self).sqrt()
    }
}

macro_rules! by_parts {
    ($($trait:ident $method:ident)*) => {$(
        impl<R: Real> $trait for V2<R> {
            type Output = Self;
            fn $method(self, o: Self) -> Self {
                v2(self.x.$method(o.x), self.y.$method(o.y))
            }
        }
    )*};
}
by_parts! { Add add  Sub sub }

impl<R: Real> Neg for V2<R> {
    type Output = Self;
    fn neg(self) -> Self {
        v2(-self.x, -self.y)
    }
}

impl<R: Real> Mul<R> for V2<R> {
    type Output = Self;
    fn mul(self, by: R) -> Self {
        v2(self.x * by, self.y * by)
    }
}

#[derive(Clone, Copy)]
pub struct Turn<R> {
    sin: R,
    cos: R,
}

impl<R: Real> Turn<R> {
    pub fn by(angle: R) -> Self {
        let (sin, cos) = angle.sin_cos();
        Self { sin, cos }
    }
    pub fn of(self, v: V2<R>) -> V2<R> {
        v2(self.cos * v.x - self.sin * v.y, self.sin * v.x + self.cos * v.y)
    }
    fn back(self, v: V2<R>) -> V2<R> {
        v2(self.cos * v.x + self.sin * v.y, self.cos * v.y - self.sin * v.x)
    }
}

pub const BODIES: usize = 3;
pub const HINGES: usize = 2;
/// Number of points of the ground, including both ends.
pub const BENDS: usize = 11;
/// Maximum number of pieces of ground that a body touches. A body is narrower than a piece, so it touches at most two.
pub const TOUCHES: usize = 2;
const CORNERS: usize = 6;

/// Length of a piece of ground, m.
pub const PIECE: f64 = 2.0;
/// Maximum number of position sweeps after a step.
const POSITION_SWEEPS: usize = 60;
/// Maximum number of position sweeps at a first touch.
const TOUCH_SWEEPS: usize = 20;
/// Limit on the number of first touches of one body with one piece in a step. Once the number exceeds this limit, further touches of this
/// body and this piece are ignored.
const FIRST_TOUCHES: u32 = 8;
/// Tolerance for errors of positions, m.
const SLOP: f64 = 0.005;
/// Tolerance for errors of angles, rad (2°).
const ANGLE_SLOP: f64 = std::f64::consts::PI / 90.0;
/// Distance at which a body touches the ground, m. Box2D adds a thin skin to each shape; this distance is the sum of both skins.
const SKIN: f64 = 0.02;
/// Distance between the bounding boxes of a body and a piece of ground, m, up to which the two are neighbours.
const BOX_MARGIN: f64 = 0.2 + SKIN;
/// Fraction of an overlap that a position sweep after a step corrects.
const CORRECTED: f64 = 0.2;
/// Fraction of an overlap that a position sweep at a first touch corrects.
const CORRECTED_AT_TOUCH: f64 = 0.75;
/// Maximum correction of a position in one position sweep, m.
const MOST_CORRECTED: f64 = 0.2;
/// Maximum correction of an angle in one position sweep, rad (8°).
const MOST_TURNED: f64 = 8.0 * std::f64::consts::PI / 180.0;
/// Maximum distance by which a body moves in a step, m.
const MOST_MOVED: f64 = 2.0;
/// Maximum angle by which a body turns in a step, rad.
const MOST_SPUN: f64 = std::f64::consts::FRAC_PI_2;
/// Maximum speed of a body that counts as at rest, m/s.
const REST_SPEED: f64 = 0.01;
/// Maximum spin of a body that counts as at rest, rad/s.
const REST_TURN: f64 = std::f64::consts::PI / 90.0;
/// Number of successive steps at rest after which all motion ends: half a second.
const RESTING_STEPS: u32 = 25;

/// Returns the names and values of the constants of this module in `lunar_lander.wgsl`.
pub fn constants() -> impl Iterator<Item = (&'static str, f64)> {
    let lengths = named![PIECE, SLOP, ANGLE_SLOP, SKIN, BOX_MARGIN, NEAR, TOLERANCE, CORRECTED, CORRECTED_AT_TOUCH];
    let limits = named![MOST_CORRECTED, MOST_TURNED, MOST_MOVED, MOST_SPUN, REST_SPEED, REST_TURN];
    lengths.into_iter().chain(limits).chain([("RESTING_STEPS", f64::from(RESTING_STEPS))])
}

/// Constants of a body. Positions are relative to the body's centre of mass.
#[derive(Clone, Copy)]
pub struct Solid<R> {
    pub inv_mass: R,
    pub inv_inertia: R,
    pub corners: [V2<R>; CORNERS],
    pub normals: [V2<R>; CORNERS],
    count: usize,
    /// Largest distance from the centre of mass to a corner, plus `BOX_MARGIN`, m.
    pub reach: R,
    /// Coefficient of friction between the body and the ground.
    pub friction: R,
}

/// Returns the mass, the moment of inertia about the centre of mass, and the centre of mass of a convex anticlockwise outline with uniform
/// density.
pub fn mass_of(outline: &[[f64; 2]], density: f64) -> (f64, f64, [f64; 2]) {
    let (mut area, mut centre, mut second) = (0.0, [0.0; 2], 0.0);
    for (i, a) in outline.iter().enumerate() {
        let b = outline[(i + 1) % outline.len()];
        let cross = a[0] * b[1] - a[1] * b[0];
        area += cross / 2.0;
        for k in 0..2 {
            centre[k] += cross * (a[k] + b[k]) / 6.0;
            second += cross * (a[k] * a[k] + a[k] * b[k] + b[k] * b[k]) / 12.0;
        }
    }
    let centre = centre.map(|c| c / area);
    let about = second - area * (centre[0] * centre[0] + centre[1] * centre[1]);
    (density * area, density * about, centre)
}

impl<R: Real> Solid<R> {
    /// Creates a body from a convex anticlockwise outline.
    pub fn new(outline: &[[f64; 2]], density: f64, friction: f64) -> Self {
        let (mass, inertia, centre) = mass_of(outline, density);
        let count = outline.len().min(CORNERS);
        let corner = |i: usize| [outline[i % count][0] - centre[0], outline[i % count][1] - centre[1]];
        let (mut corners, mut normals) = ([V2::default(); CORNERS], [V2::default(); CORNERS]);
        let mut reach = 0.0f64;
        for i in 0..count {
            let ([x, y], [next_x, next_y]) = (corner(i), corner(i + 1));
            let (dx, dy) = (next_x - x, next_y - y);
            let length = (dx * dx + dy * dy).sqrt();
            corners[i] = v2(R::of(x), R::of(y));
            normals[i] = v2(R::of(dy / length), R::of(-dx / length));
            reach = reach.max((x * x + y * y).sqrt());
        }
        Self {
            inv_mass: R::of(1.0 / mass),
            inv_inertia: R::of(1.0 / inertia),
            corners,
            normals,
            count,
            reach: R::of(reach + BOX_MARGIN),
            friction: R::of(friction),
        }
    }
}

/// Constants of a hinge between body 0 and another body.
#[derive(Clone, Copy)]
pub struct Hinge<R> {
    pub anchors: [V2<R>; 2],
    /// Angle of the other body relative to body 0, rad, at which the hinge angle is 0.
    pub zero: R,
    pub low: R,
    pub high: R,
    /// Target speed of the motor, rad/s.
    pub speed: R,
    /// Maximum angular impulse of the motor in a step, N·m·s.
    pub most: R,
}

/// Constants of a scene. Hinge h connects body h + 1 to body 0.
pub struct Rig<R> {
    pub solids: [Solid<R>; BODIES],
    pub hinges: [Hinge<R>; HINGES],
    pub step_s: R,
    /// Vertical acceleration, m/s²; negative is down.
    pub gravity: R,
    pub fixed: Fixed<R>,
}

impl<R: Real> Rig<R> {
    pub fn new(solids: [Solid<R>; BODIES], hinges: [Hinge<R>; HINGES], step_s: f64, gravity: f64) -> Self {
        let fixed = Fixed {
            inverses: solids.map(|solid| [solid.inv_mass, solid.inv_inertia]),
            friction: solids.map(|solid| solid.friction),
            motors: hinges.map(|hinge| [hinge.speed, hinge.most]),
        };
        Self { solids, hinges, step_s: R::of(step_s), gravity: R::of(gravity), fixed }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Body<R> {
    /// Position of the centre of mass, m.
    pub place: V2<R>,
    pub angle: R,
    pub velocity: V2<R>,
    pub spin: R,
}

/// Impulses of a hinge in the last step. The next step starts from these impulses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort<R> {
    pub push: V2<R>,
    pub stop: R,
    pub motor: R,
}

/// Touch of a body: a piece of ground near the body, and the impulses of the last step. A touch without a piece is empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch<R> {
    /// Index of the piece of ground; -1 for an empty touch.
    pub piece: i32,
    /// Number of the feature at each contact point, -1 for a missing point. Both numbers are -1 if the body is near the piece but does not
    /// touch it.
    pub feature: [i32; 2],
    /// Impulse along the normal at each contact point, N·s.
    pub normal: [R; 2],
    /// Impulse along the ground at each contact point, N·s.
    pub along: [R; 2],
}

impl<R: Default> Default for Touch<R> {
    fn default() -> Self {
        let none = || [R::default(), R::default()];
        Self { piece: -1, feature: [-1; 2], normal: none(), along: none() }
    }
}

impl<R> Touch<R> {
    fn holds(&self) -> bool {
        self.feature[0] >= 0
    }
}

/// State of three bodies above a ground, between two steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scene<R> {
    pub bodies: [Body<R>; BODIES],
    pub efforts: [Effort<R>; HINGES],
    pub touches: [[Touch<R>; TOUCHES]; BODIES],
    /// One flag for each body. The flag becomes true when a touch begins. The flag becomes false when a touch ends, even if another touch
    /// of the body remains.
    pub touching: [bool; BODIES],
    /// True if body 0 has touched the ground at any time.
    pub struck: bool,
    /// Number of successive steps in which all bodies were at rest, up to now.
    pub rested: u32,
    ground: [R; BENDS],
    /// Maximum height of the ground, m.
    top: R,
}

/// Contact geometry of a body and a piece of ground: a face of one shape, and contact points of the other shape. Points and normals of the
/// body are in the body's coordinates. Points and normals of the ground are in world coordinates.
#[derive(Clone, Copy)]
pub struct Meeting<R> {
    pub piece: i32,
    /// True if the face belongs to the body and the points to the ground; false for the reverse.
    pub of_body: bool,
    /// Outward normal of the face.
    pub normal: V2<R>,
    pub on_face: V2<R>,
    pub points: [V2<R>; 2],
    pub feature: [i32; 2],
    pub count: usize,
}

/// A meeting, with the numbers that the sweeps need to solve it.
#[derive(Clone, Copy)]
pub struct Contact<R> {
    body: usize,
    slot: usize,
    meeting: Meeting<R>,
    rows: Touching<R>,
}

/// An unfinished step, between [`Scene::begin`] and [`Scene::finish`].
pub struct Step<R> {
    starts: [Body<R>; BODIES],
    contacts: Contacts<R>,
    joints: [Joint<R>; HINGES],
    /// True if [`Scene::fly`] computed the velocities; the step then needs no sweeps.
    pub flown: bool,
}

struct Contacts<R> {
    list: [Option<Contact<R>>; BODIES * TOUCHES],
    count: usize,
}

impl<R: Real> Contacts<R> {
    fn none() -> Self {
        Self { list: [const { None }; BODIES * TOUCHES], count: 0 }
    }
    fn push(&mut self, contact: Contact<R>) {
        if let Some(place) = self.list.get_mut(self.count) {
            *place = Some(contact);
            self.count += 1;
        }
    }
    fn each(&mut self) -> impl Iterator<Item = &mut Contact<R>> {
        self.list[..self.count].iter_mut().flatten()
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Stop {
    Free,
    Low,
    High,
}

/// Values of a hinge that are constant during one step.
#[derive(Clone, Copy)]
struct Joint<R> {
    arms: [V2<R>; 2],
    motor_mass: R,
    stop: Stop,
}

impl<R: Real> Joint<R> {
    fn new(rig: &Rig<R>, scene: &Scene<R>, turns: &[Turn<R>; BODIES], h: usize) -> Self {
        let (hinge, a, b) = (&rig.hinges[h], &rig.solids[0], &rig.solids[h + 1]);
        let angle = scene.bodies[h + 1].angle - scene.bodies[0].angle - hinge.zero;
        let stop = if angle <= hinge.low {
            Stop::Low
        } else if angle >= hinge.high {
            Stop::High
        } else {
            Stop::Free
        };
        let arms = [turns[0].of(hinge.anchors[0]), turns[h + 1].of(hinge.anchors[1])];
        Self { arms, motor_mass: R::of(1.0) / (a.inv_inertia + b.inv_inertia), stop }
    }

    fn rows(&self, rig: &Rig<R>, h: usize, effort: &Effort<R>) -> Hinged<R> {
        let (a, b) = (&rig.solids[0], &rig.solids[h + 1]);
        let [arm_a, arm_b] = self.arms;
        let [xx, xy, yy] = effect(a, b, self.arms);
        let xt = -(arm_a.y * a.inv_inertia) - arm_b.y * b.inv_inertia;
        let yt = arm_a.x * a.inv_inertia + arm_b.x * b.inv_inertia;
        let tt = a.inv_inertia + b.inv_inertia;
        // Inverts the symmetric matrix that maps an impulse (x, y, turn) to the change of the relative velocity of the hinge's ends.
        let minors = [yy * tt - yt * yt, xt * yt - xy * tt, xy * yt - yy * xt];
        let over = R::of(1.0) / (xx * minors[0] + xy * minors[1] + xt * minors[2]);
        let [alone_xx, alone_xy, alone_yy] = inverted([xx, xy, yy]);
        let side = match self.stop {
            Stop::Free => 0.0,
            Stop::Low => 1.0,
            Stop::High => -1.0,
        };
        #[rustfmt::skip]
        let rows = [
            effort.push.x, effort.push.y, effort.stop, effort.motor,
            arm_a.x, arm_a.y, arm_b.x, arm_b.y,
            self.motor_mass, R::of(side), xt, yt,
            minors[0] * over, minors[1] * over, (xx * tt - xt * xt) * over,
            minors[2] * over, (xy * xt - xx * yt) * over, (xx * yy - xy * xy) * over,
            alone_xx, alone_xy, alone_yy,
        ];
        rows
    }
}

/// Returns a symmetric matrix (xx, xy, yy). The matrix maps an impulse between the ends of two arms to the change of the relative velocity
/// of these ends. An arm is the vector from a body's centre of mass to a hinge.
fn effect<R: Real>(a: &Solid<R>, b: &Solid<R>, [ra, rb]: [V2<R>; 2]) -> [R; 3] {
    let mass = a.inv_mass + b.inv_mass;
    let (ia, ib) = (a.inv_inertia, b.inv_inertia);
    [mass + ra.y * ra.y * ia + rb.y * rb.y * ib, -(ra.y * ra.x * ia) - rb.y * rb.x * ib, mass + ra.x * ra.x * ia + rb.x * rb.x * ib]
}

/// Returns the inverse of a symmetric matrix (xx, xy, yy); the zero matrix for a singular matrix.
fn inverted<R: Real>([xx, xy, yy]: [R; 3]) -> [R; 3] {
    let determinant = xx * yy - xy * xy;
    let over = if determinant == R::of(0.0) { determinant } else { R::of(1.0) / determinant };
    [yy * over, -xy * over, xx * over]
}

fn times<R: Real>([xx, xy, yy]: [R; 3], v: V2<R>) -> V2<R> {
    v2(xx * v.x + xy * v.y, xy * v.x + yy * v.y)
}

impl<R: Real> Contact<R> {
    pub fn new(rig: &Rig<R>, body: usize, slot: usize, at: &Body<R>, meeting: Meeting<R>, touch: &Touch<R>) -> Self {
        let solid = &rig.solids[body];
        let turn = Turn::by(at.angle);
        let half = R::of(0.5);
        let face = if meeting.of_body { turn.of(meeting.normal) } else { meeting.normal };
        let on_face = if meeting.of_body { at.place + turn.of(meeting.on_face) } else { meeting.on_face };
        let normal = if meeting.of_body { -face } else { face };
        let along = v2(normal.y, -normal.x);
        let zero = R::of(0.0);
        let (mut levers, mut sides) = ([zero; 2], [zero; 2]);
        for i in 0..meeting.count {
            let point = if meeting.of_body { meeting.points[i] } else { at.place + turn.of(meeting.points[i]) };
            // The contact point is halfway between the surfaces.
            let arm = point - face * (half * (point - on_face).dot(face)) - at.place;
            (levers[i], sides[i]) = (arm.cross(normal), arm.cross(along));
        }
        let effect = |a: R, b: R| solid.inv_mass + solid.inv_inertia * a * b;
        let [k11, k12, k22] = [effect(levers[0], levers[0]), effect(levers[0], levers[1]), effect(levers[1], levers[1])];
        // Two points that nearly coincide are solved as one.
        let block = meeting.count == 2 && k11 * k11 < R::of(1000.0) * (k11 * k22 - k12 * k12);
        let [i11, i12, i22] = if block { inverted([k11, k12, k22]) } else { [zero; 3] };
        let one = R::of(1.0);
        let second = if block { one } else { zero };
        #[rustfmt::skip]
        let rows = [
            touch.normal[0], touch.normal[1], touch.along[0], touch.along[1],
            normal.x, normal.y, levers[0], levers[1], sides[0], sides[1],
            one / k11, second / k22, one / effect(sides[0], sides[0]), second / effect(sides[1], sides[1]),
            k11, k12, k22, i11, i12, i22, second,
        ];
        Self { body, slot, meeting, rows }
    }

    /// Returns true if the sweeps solve both contact points together.
    pub fn two(&self) -> bool {
        self.rows[BLOCK] > R::of(0.0)
    }

    /// Moves the body out of the ground by the fraction `part` of the overlap. Returns the smallest separation between a contact point and
    /// the face, m, or 0 if all separations are positive.
    fn correct(&self, solid: &Solid<R>, body: &mut Body<R>, part: f64) -> R {
        let mut least = R::of(0.0);
        for i in 0..self.meeting.count {
            let meeting = &self.meeting;
            let turn = Turn::by(body.angle);
            let (normal, point, apart) = if meeting.of_body {
                let face = turn.of(meeting.normal);
                let on_face = body.place + turn.of(meeting.on_face);
                (-face, meeting.points[i], (meeting.points[i] - on_face).dot(face))
            } else {
                let point = body.place + turn.of(meeting.points[i]);
                (meeting.normal, point, (point - meeting.on_face).dot(meeting.normal))
            };
            let apart = apart - R::of(SKIN);
            least = least.least(apart);
            let arm = point - body.place;
            let by = (R::of(part) * (apart + R::of(SLOP))).within(R::of(-MOST_CORRECTED), R::of(0.0));
            let lever = arm.cross(normal);
            let k = solid.inv_mass + solid.inv_inertia * lever * lever;
            let impulse = normal * (-by / k);
            body.place = body.place + impulse * solid.inv_mass;
            body.angle += solid.inv_inertia * arm.cross(impulse);
        }
        least
    }
}

/// Returns the corners of a body in world coordinates.
fn outline<R: Real>(solid: &Solid<R>, at: &Body<R>) -> [V2<R>; CORNERS] {
    let turn = Turn::by(at.angle);
    solid.corners.map(|corner| at.place + turn.of(corner))
}

/// Returns the contact geometry of a body and the piece of ground from `a` to `b`; `None` if the body and the piece do not touch. Among the
/// faces of both shapes, the face with the largest separation gives the contact normal. If the separations are almost equal, the ground's
/// face is chosen. The other shape's edge is clipped to the face.
fn meet<R: Real>(solid: &Solid<R>, at: &Body<R>, piece: i32, [a, b]: [V2<R>; 2]) -> Option<Meeting<R>> {
    let turn = Turn::by(at.angle);
    let count = solid.count;
    let corners = outline(solid, at);
    let normals = solid.normals.map(|normal| turn.of(normal));
    let skin = R::of(SKIN);

    let edge = b - a;
    let down = v2(edge.y, -edge.x) * (R::of(1.0) / edge.length());
    let below = down.dot(at.place - a) >= R::of(0.0);
    let ground = if below { down } else { -down };
    let mut ground_apart = ground.dot(corners[0] - a);
    for corner in &corners[1..count] {
        ground_apart = ground_apart.least(ground.dot(*corner - a));
    }
    if ground_apart > skin {
        return None;
    }
    let (mut body_apart, mut face) = (R::of(f64::from(f32::MIN)), 0);
    for i in 0..count {
        let apart = (-normals[i].dot(corners[i] - a)).least(-normals[i].dot(corners[i] - b));
        if apart > skin {
            return None;
        }
        if apart > body_apart {
            (body_apart, face) = (apart, i);
        }
    }

    let of_body = body_apart > R::of(0.98) * ground_apart + R::of(0.001);
    // The face extends from `from` to `to`. `ends` are the ends of the edge to clip, each with its feature name. `names` are the feature
    // names of clipped ends.
    let (normal, from, to, ends, names) = if of_body {
        let (next, name) = ((face + 1) % count, 16 + 8 * face as i32);
        let names = [name + face as i32, name + next as i32];
        (normals[face], corners[face], corners[next], [(a, name), (b, name)], names)
    } else {
        let mut facing = 0;
        for i in 1..count {
            if ground.dot(normals[i]) < ground.dot(normals[facing]) {
                facing = i;
            }
        }
        let next = (facing + 1) % count;
        let ends = [(corners[facing], facing as i32), (corners[next], next as i32)];
        if below { (ground, a, b, ends, [8, 9]) } else { (ground, b, a, ends, [9, 8]) }
    };
    let side = v2(normal.y, -normal.x);
    let ends = cut(ends, side, side.dot(from), names[0])?;
    let ends = cut(ends, -side, -side.dot(to), names[1])?;

    let mut meeting = Meeting {
        piece,
        of_body,
        normal: if of_body { solid.normals[face] } else { normal },
        on_face: if of_body { solid.corners[face] } else { from },
        points: [V2::default(); 2],
        feature: [-1; 2],
        count: 0,
    };
    for (point, name) in ends {
        if normal.dot(point - from) <= skin {
            meeting.points[meeting.count] = if of_body { point } else { turn.back(point - at.place) };
            meeting.feature[meeting.count] = name;
            meeting.count += 1;
        }
    }
    if meeting.count == 0 { None } else { Some(meeting) }
}

/// Clips an edge to the half-plane `normal · p <= offset`. A clipped end gets the feature name `name`. Returns `None` if no edge remains.
fn cut<R: Real>([p, q]: [(V2<R>, i32); 2], normal: V2<R>, offset: R, name: i32) -> Option<[(V2<R>, i32); 2]> {
    let zero = R::of(0.0);
    let (dp, dq) = (normal.dot(p.0) - offset, normal.dot(q.0) - offset);
    match (dp <= zero, dq <= zero) {
        (true, true) => Some([p, q]),
        (false, false) => None,
        // If only an end point is on the line, no edge remains.
        _ if dp * dq >= zero => None,
        (kept, _) => Some([if kept { p } else { q }, (p.0 + (q.0 - p.0) * (dp / (dp - dq)), name)]),
    }
}

/// Returns the distance from a piece of ground to a body, and the unit vector from the nearest point of the piece to the nearest point of
/// the body. Returns `None` if the body and the piece overlap.
fn gap<R: Real>(solid: &Solid<R>, at: &Body<R>, [a, b]: [V2<R>; 2]) -> Option<(R, V2<R>)> {
    let (zero, one) = (R::of(0.0), R::of(1.0));
    let corners = outline(solid, at);
    let corners = &corners[..solid.count];
    let mut best: Option<(R, V2<R>)> = None;
    let mut consider = |away: V2<R>| {
        let squared = away.dot(away);
        if best.is_none_or(|(least, _)| squared < least) {
            best = Some((squared, away));
        }
    };
    // Shortest vector from the edge between `p` and `q` to `point`.
    let from_edge = |p: V2<R>, q: V2<R>, point: V2<R>| {
        let edge = q - p;
        let t = ((point - p).dot(edge) / edge.dot(edge)).within(zero, one);
        point - (p + edge * t)
    };
    let mut inside = [true; 2];
    let mut sides = [false; 2];
    for (i, &corner) in corners.iter().enumerate() {
        let next = corners[(i + 1) % corners.len()];
        consider(from_edge(a, b, corner));
        for (k, end) in [a, b].into_iter().enumerate() {
            consider(-from_edge(corner, next, end));
            inside[k] &= (next - corner).cross(end - corner) >= zero;
        }
        sides[usize::from((b - a).cross(corner - a) > zero)] = true;
    }
    // A piece that overlaps the body crosses one of the body's edges or has an end inside the body.
    let crosses = sides == [true; 2]
        && (0..corners.len()).any(|i| {
            let (p, q) = (corners[i], corners[(i + 1) % corners.len()]);
            ((b - a).cross(p - a) > zero) != ((b - a).cross(q - a) > zero) && ((q - p).cross(a - p) > zero) != ((q - p).cross(b - p) > zero)
        });
    let (squared, away) = best?;
    if crosses || inside[0] || inside[1] || squared.partial_cmp(&zero) != Some(std::cmp::Ordering::Greater) {
        return None;
    }
    let distance = squared.sqrt();
    Some((distance, away * (one / distance)))
}

/// Returns the body after the fraction `part` of its motion from `start` to `end`.
fn between<R: Real>(start: &Body<R>, end: &Body<R>, part: R) -> Body<R> {
    let rest = R::of(1.0) - part;
    Body {
        place: start.place * rest + end.place * part,
        angle: rest * start.angle + part * end.angle,
        velocity: end.velocity,
        spin: end.spin,
    }
}

/// Distance between the body and the ground at a first touch, m.
pub const NEAR: f64 = SKIN - 3.0 * SLOP;
/// Tolerance for the distance [`NEAR`], m.
pub const TOLERANCE: f64 = SLOP / 4.0;

/// Returns true if a body certainly stays above a piece of ground during its motion. The function checks only the start and the end of the
/// motion. Between them, the corners move on arcs, because the body turns. The margin `bulge` accounts for the deviation of these arcs from
/// straight lines.
fn passes<R: Real>(solid: &Solid<R>, start: &Body<R>, end: &Body<R>, [a, b]: [V2<R>; 2]) -> bool {
    let edge = b - a;
    let up = edge.left();
    let turned = end.angle - start.angle;
    let bulge = solid.reach * turned * turned * R::of(0.125);
    let least = (R::of(NEAR + TOLERANCE) + bulge) * edge.length();
    [start, end].into_iter().all(|at| {
        let turn = Turn::by(at.angle);
        let above = up.dot(at.place - a);
        solid.corners[..solid.count].iter().all(|&corner| above + up.dot(turn.of(corner)) > least)
    })
}

/// Returns the time of the first touch between a body and a piece of ground, as a fraction of the body's motion. Returns `None` if no touch
/// is found, or if the body and the piece already overlap.
pub fn impact<R: Real>(solid: &Solid<R>, start: &Body<R>, end: &Body<R>, piece: [V2<R>; 2]) -> Option<R> {
    if passes(solid, start, end, piece) {
        return None;
    }
    let (near, tolerance) = (R::of(NEAR), R::of(TOLERANCE));
    let mut early = R::of(0.0);
    for _ in 0..20 {
        let (distance, axis) = gap(solid, &between(start, end, early), piece)?;
        if distance < near + tolerance {
            return Some(early);
        }
        let top = axis.dot(piece[0]).most(axis.dot(piece[1]));
        let apart = |i: usize, at: &Body<R>, turn: Turn<R>| axis.dot(at.place + turn.of(solid.corners[i])) - top;
        let mut late = R::of(1.0);
        for _ in 0..CORNERS {
            let at = between(start, end, late);
            let turn = Turn::by(at.angle);
            let (mut deepest, mut least) = (0, apart(0, &at, turn));
            for i in 1..solid.count {
                let apart = apart(i, &at, turn);
                if apart < least {
                    (deepest, least) = (i, apart);
                }
            }
            if least > near + tolerance {
                return None;
            }
            if least > near - tolerance {
                early = late;
                break;
            }
            let of = |part: R| {
                let at = between(start, end, part);
                apart(deepest, &at, Turn::by(at.angle))
            };
            let first = of(early);
            if first < near - tolerance {
                return None;
            }
            if first <= near + tolerance {
                return Some(early);
            }
            // The loop finds the time at which the deepest corner has the distance `near`. Bisection and secant steps alternate.
            let (mut low, mut high, mut at_low, mut at_high) = (early, late, first, least);
            for i in 0..50 {
                let part = if i % 2 == 0 { (low + high) * R::of(0.5) } else { low + (near - at_low) * (high - low) / (at_high - at_low) };
                let apart = of(part);
                late = part;
                if (apart - near).abs() < tolerance {
                    break;
                }
                if apart > near {
                    (low, at_low) = (part, apart);
                } else {
                    (high, at_high) = (part, apart);
                }
            }
        }
    }
    None
}

impl<R: Real> Scene<R> {
    pub fn ground(&self) -> &[R; BENDS] {
        &self.ground
    }

    pub fn set_ground(&mut self, ground: [R; BENDS]) {
        self.ground = ground;
        self.top = ground.into_iter().fold(ground[0], R::most);
    }

    /// Returns the end points of a piece of ground.
    fn piece(&self, i: i32) -> [V2<R>; 2] {
        let i = i as usize;
        let x = |i: usize| R::of(PIECE * i as f64);
        [v2(x(i), self.ground[i]), v2(x(i + 1), self.ground[i + 1])]
    }

    /// Returns the pieces of ground below a horizontal interval, and the largest height of these pieces.
    fn under(&self, from: R, to: R) -> (std::ops::RangeInclusive<i32>, R) {
        let last = BENDS as i32 - 2;
        let piece = |x: R| ((x.f64() / PIECE) as i32).clamp(0, last);
        let (from, to) = (piece(from), piece(to));
        let top = self.ground[from as usize..=to.max(from) as usize + 1].iter().fold(self.ground[from as usize], |top, &y| top.most(y));
        (from..=to.max(from), top)
    }

    /// Returns the pieces of ground that a body can touch during its motion; `None` if the body stays above all pieces.
    fn near(&self, solid: &Solid<R>, start: &Body<R>, end: &Body<R>) -> Option<std::ops::RangeInclusive<i32>> {
        let lowest = start.place.y.least(end.place.y) - solid.reach;
        if lowest > self.top {
            return None;
        }
        let (left, right) = (start.place.x.least(end.place.x), start.place.x.most(end.place.x));
        let (pieces, top) = self.under(left - solid.reach, right + solid.reach);
        if lowest > top { None } else { Some(pieces) }
    }

    /// Returns true if a body and a piece are neighbours: their bounding boxes are at most [`BOX_MARGIN`] apart.
    fn beside(&self, at: &Body<R>, corners: &[V2<R>], piece: i32) -> bool {
        let margin = R::of(BOX_MARGIN);
        let [a, b] = self.piece(piece);
        let (mut low, mut high) = (at.place, at.place);
        for corner in corners {
            low = v2(low.x.least(corner.x), low.y.least(corner.y));
            high = v2(high.x.most(corner.x), high.y.most(corner.y));
        }
        low.x <= b.x + margin && high.x >= a.x - margin && low.y <= a.y.most(b.y) + margin && high.y >= a.y.least(b.y) - margin
    }

    /// Finds the contacts of a body with the ground. A contact that existed in the last step keeps its impulses.
    fn find_contacts(&mut self, rig: &Rig<R>, body: usize, contacts: &mut Contacts<R>) {
        let solid = &rig.solids[body];
        let at = self.bodies[body];
        let old = self.touches[body];
        let pieces = self.near(solid, &at, &at);
        if pieces.is_none() && old.iter().all(|touch| touch.piece < 0) {
            return;
        }
        let corners = outline(solid, &at);
        let corners = &corners[..solid.count];
        let beside = |piece: i32| pieces.as_ref().is_some_and(|pieces| pieces.contains(&piece)) && self.beside(&at, corners, piece);
        // New neighbours come before old neighbours, as in Box2D. The order affects `touching` and the sweeps.
        let known = |piece: i32| old.iter().find(|touch| touch.piece == piece);
        let fresh = pieces.clone().into_iter().flatten().rev().filter(|&piece| known(piece).is_none());
        let neighbours = fresh.chain(old.iter().map(|touch| touch.piece));
        let mut new = [Touch::default(); TOUCHES];
        let mut touching = self.touching[body];
        let mut slots = new.iter_mut().enumerate();
        for piece in neighbours.filter(|&piece| piece >= 0) {
            let before = known(piece);
            let meeting = if beside(piece) { meet(solid, &at, piece, self.piece(piece)) } else { None };
            match (before.is_some_and(Touch::holds), meeting.is_some()) {
                (false, true) => touching = true,
                (true, false) => touching = false,
                _ => {}
            }
            if let (true, Some((slot, touch))) = (beside(piece), slots.next()) {
                touch.piece = piece;
                if let Some(meeting) = meeting {
                    *touch = continued(&meeting, before);
                    contacts.push(Contact::new(rig, body, slot, &at, meeting, touch));
                }
            }
        }
        self.touches[body] = new;
        self.touching[body] = touching;
        self.struck |= body == 0 && touching;
    }

    /// Steps all bodies, with `force` on body 0. Returns true if all motion has ended: all bodies have been at rest for `RESTING_STEPS`
    /// steps, and the errors of all positions are within the tolerances.
    pub fn step(&mut self, rig: &Rig<R>, force: V2<R>) -> bool {
        let mut system = System::none();
        let step = self.begin(rig, force, &mut system);
        if !step.flown {
            sweep_one(&rig.fixed, &mut system);
        }
        self.finish(rig, step, &system)
    }

    /// Begins a step. If `flown` is false in the result, the caller must run the sweeps over `system` before [`Scene::finish`].
    pub fn begin(&mut self, rig: &Rig<R>, force: V2<R>, system: &mut System<R>) -> Step<R> {
        let mut contacts = Contacts::none();
        for body in [2, 0, 1] {
            self.find_contacts(rig, body, &mut contacts);
        }
        let starts = self.bodies;
        for body in &mut self.bodies {
            body.velocity.y += rig.step_s * rig.gravity;
        }
        let first = &mut self.bodies[0];
        first.velocity = first.velocity + force * (rig.step_s * rig.solids[0].inv_mass);

        let turns = self.bodies.map(|body| Turn::by(body.angle));
        let joints = [0, 1].map(|h| Joint::new(rig, self, &turns, h));
        let flown = R::DIRECT && contacts.count == 0 && self.fly(rig, &joints);
        if !flown {
            *system = self.prepare(rig, &joints, &mut contacts);
        }
        Step { starts, contacts, joints, flown }
    }

    /// Applies the impulses of the last step (warm starting). Returns the velocities and constraints that the sweeps solve.
    fn prepare(&mut self, rig: &Rig<R>, joints: &[Joint<R>; HINGES], contacts: &mut Contacts<R>) -> System<R> {
        let zero = R::of(0.0);
        let mut system = System::none();
        for contact in contacts.each() {
            let (solid, body) = (&rig.solids[contact.body], &mut self.bodies[contact.body]);
            let [push, second, along, second_along, x, y, lever, second_lever, side, second_side, ..] = contact.rows;
            let two = contact.two();
            let (second, second_along) = if two { (second, second_along) } else { (zero, zero) };
            let normal = v2(x, y);
            let impulse = normal * (push + second) - normal.left() * (along + second_along);
            let turn = lever * push + second_lever * second + side * along + second_side * second_along;
            body.velocity = body.velocity + impulse * solid.inv_mass;
            body.spin += solid.inv_inertia * turn;
            // All touches of a body have adjacent slots in the system.
            if let Some(first) = TOUCHED.iter().position(|&body| body == contact.body) {
                system.touches[first + contact.slot] = contact.rows;
            }
        }
        for (h, joint) in joints.iter().enumerate() {
            let effort = &mut self.efforts[h];
            let pushed = match joint.stop {
                Stop::Free => false,
                Stop::Low => effort.stop > zero,
                Stop::High => effort.stop < zero,
            };
            if !pushed {
                effort.stop = zero;
            }
            system.hinges[h] = joint.rows(rig, h, effort);
            let turn = effort.motor + effort.stop;
            for (body, arm, sign) in [(0, joint.arms[0], -1.0), (h + 1, joint.arms[1], 1.0)] {
                let (solid, body) = (&rig.solids[body], &mut self.bodies[body]);
                let push = effort.push * R::of(sign);
                body.velocity = body.velocity + push * solid.inv_mass;
                body.spin += solid.inv_inertia * (arm.cross(push) + R::of(sign) * turn);
            }
        }
        system.motions = self.bodies.map(|body| [body.velocity.x, body.velocity.y, body.spin]);
        system
    }

    /// Ends a step. Returns the result of [`Scene::step`]: true if all motion has ended.
    pub fn finish(&mut self, rig: &Rig<R>, mut step: Step<R>, system: &System<R>) -> bool {
        if !step.flown {
            for (body, &[x, y, spin]) in self.bodies.iter_mut().zip(&system.motions) {
                (body.velocity, body.spin) = (v2(x, y), spin);
            }
            for (effort, &[x, y, stop, motor, ..]) in self.efforts.iter_mut().zip(&system.hinges) {
                *effort = Effort { push: v2(x, y), stop, motor };
            }
            for contact in step.contacts.each() {
                if let Some(first) = TOUCHED.iter().position(|&body| body == contact.body) {
                    let [push, second, along, second_along, ..] = system.touches[first + contact.slot];
                    let touch = &mut self.touches[contact.body][contact.slot];
                    (touch.normal, touch.along) = ([push, second], [along, second_along]);
                }
            }
        }
        for body in &mut self.bodies {
            moved(body, rig.step_s);
        }
        let corrected = self.correct(rig, &step.joints, &mut step.contacts);

        let still = self
            .bodies
            .iter()
            .all(|body| body.spin.abs() <= R::of(REST_TURN) && body.velocity.dot(body.velocity) <= R::of(REST_SPEED * REST_SPEED));
        self.rested = if still { self.rested.saturating_add(1) } else { 0 };
        if self.rested >= RESTING_STEPS && corrected {
            for body in &mut self.bodies {
                (body.velocity, body.spin) = (V2::default(), R::of(0.0));
            }
            return true;
        }
        for (body, start) in step.starts.into_iter().enumerate() {
            self.first_touches(rig, body, start);
        }
        false
    }

    /// Computes velocities in free flight. Each leg turns at its motor's speed or rests against its stop, and the total momentum is
    /// conserved. Returns false and changes nothing if a motor or a stop cannot apply the impulse that this motion needs.
    fn fly(&mut self, rig: &Rig<R>, joints: &[Joint<R>; HINGES]) -> bool {
        let zero = R::of(0.0);
        let one = R::of(1.0);
        let body = self.bodies[0];
        let mut mass = one / rig.solids[0].inv_mass;
        let mut inertia = one / rig.solids[0].inv_inertia;
        let mut momentum = body.velocity * mass;
        let mut turning = body.spin * inertia;
        let mut offset = V2::default();
        let mut parts = [(V2::default(), V2::default(), zero); HINGES];
        for (h, joint) in joints.iter().enumerate() {
            let (leg, solid) = (&self.bodies[h + 1], &rig.solids[h + 1]);
            let (m, i) = (one / solid.inv_mass, one / solid.inv_inertia);
            let swing = if joint.stop == Stop::Free { rig.hinges[h].speed } else { zero };
            let arm = joint.arms[0] - joint.arms[1];
            let own = -joint.arms[1].left() * swing;
            parts[h] = (arm, own, swing);
            mass += m;
            inertia = inertia + i + m * arm.dot(arm);
            offset = offset + arm * m;
            let extra = (leg.velocity - own) * m;
            momentum = momentum + extra;
            turning = turning + i * (leg.spin - swing) + arm.cross(extra);
        }
        let over = one / mass;
        let spin = (turning - offset.cross(momentum) * over) / (inertia - offset.dot(offset) * over);
        let velocity = (momentum - offset.left() * spin) * over;

        let mut efforts = self.efforts;
        let mut legs = [(V2::default(), zero); HINGES];
        for (h, joint) in joints.iter().enumerate() {
            let (leg, solid, hinge) = (&self.bodies[h + 1], &rig.solids[h + 1], &rig.hinges[h]);
            let (arm, own, swing) = parts[h];
            let new = (velocity + arm.left() * spin + own, spin + swing);
            let push = (new.0 - leg.velocity) * (one / solid.inv_mass);
            let turn = (new.1 - leg.spin) * (one / solid.inv_inertia) - joint.arms[1].cross(push);
            let effort = &mut efforts[h];
            effort.push = push;
            if joint.stop == Stop::Free {
                (effort.motor, effort.stop) = (turn, zero);
                if turn.abs() > hinge.most {
                    return false;
                }
            } else {
                let wound = joint.motor_mass * hinge.speed * R::of(SWEEPS as f64);
                effort.motor = (effort.motor + wound).within(-hinge.most, hinge.most);
                effort.stop = turn - effort.motor;
                let towards = (joint.stop == Stop::Low) == (hinge.speed < zero);
                if !towards || (effort.stop < zero) == (joint.stop == Stop::Low) {
                    return false;
                }
            }
            legs[h] = new;
        }
        self.efforts = efforts;
        (self.bodies[0].velocity, self.bodies[0].spin) = (velocity, spin);
        for (body, leg) in self.bodies[1..].iter_mut().zip(legs) {
            (body.velocity, body.spin) = leg;
        }
        true
    }

    /// Corrects positions in at most [`POSITION_SWEEPS`] sweeps, until the errors of all hinges and contacts are within the tolerances.
    /// Returns false if an error remains beyond its tolerance.
    fn correct(&mut self, rig: &Rig<R>, joints: &[Joint<R>; HINGES], contacts: &mut Contacts<R>) -> bool {
        for _ in 0..POSITION_SWEEPS {
            let mut least = R::of(0.0);
            for contact in contacts.each() {
                let body = contact.body;
                least = least.least(contact.correct(&rig.solids[body], &mut self.bodies[body], CORRECTED));
            }
            let mut good = least >= R::of(-3.0 * SLOP);
            for (h, joint) in joints.iter().enumerate().rev() {
                good &= self.correct_hinge(rig, joint, h);
            }
            if good {
                return true;
            }
        }
        false
    }

    fn correct_hinge(&mut self, rig: &Rig<R>, joint: &Joint<R>, h: usize) -> bool {
        let (hinge, a, b) = (&rig.hinges[h], &rig.solids[0], &rig.solids[h + 1]);
        let zero = R::of(0.0);
        let [first, ..] = self.bodies;
        let other = self.bodies[h + 1];
        let (mut angle_a, mut angle_b) = (first.angle, other.angle);
        let angle = angle_b - angle_a - hinge.zero;
        let most = R::of(MOST_TURNED);
        let slop = R::of(ANGLE_SLOP);
        let (by, turned) = match joint.stop {
            Stop::Free => (zero, zero),
            Stop::Low => ((angle - hinge.low + slop).within(-most, zero), -(angle - hinge.low)),
            Stop::High => ((angle - hinge.high - slop).within(zero, most), angle - hinge.high),
        };
        let impulse = -joint.motor_mass * by;
        angle_a -= a.inv_inertia * impulse;
        angle_b += b.inv_inertia * impulse;

        let arms = [Turn::by(angle_a).of(hinge.anchors[0]), Turn::by(angle_b).of(hinge.anchors[1])];
        let apart = other.place + arms[1] - first.place - arms[0];
        let push = times(inverted(effect(a, b, arms)), -apart);
        let (first, rest) = self.bodies.split_at_mut(1);
        let (first, other) = (&mut first[0], &mut rest[h]);
        first.place = first.place - push * a.inv_mass;
        first.angle = angle_a - a.inv_inertia * arms[0].cross(push);
        other.place = other.place + push * b.inv_mass;
        other.angle = angle_b + b.inv_inertia * arms[1].cross(push);
        apart.length() <= R::of(SLOP) && turned <= slop
    }

    /// Handles touches that begin within a step. If the body would pass into the ground, the method moves the body back to its first touch,
    /// and solves the contacts at this position. The body then moves for the rest of the step. Later touches in the step are treated in the
    /// same way.
    fn first_touches(&mut self, rig: &Rig<R>, body: usize, mut start: Body<R>) {
        let solid = &rig.solids[body];
        let one = R::of(1.0);
        let mut begun = R::of(0.0);
        let mut tries = [0; BENDS];
        while let Some(pieces) = self.near(solid, &start, &self.bodies[body]) {
            let end = self.bodies[body];
            let mut first: Option<(R, i32)> = None;
            for piece in pieces {
                if tries[piece as usize] > FIRST_TOUCHES {
                    continue;
                }
                let Some(part) = impact(solid, &start, &end, self.piece(piece)) else { continue };
                let part = begun + (one - begun) * part;
                if first.is_none_or(|(least, _)| part < least) {
                    first = Some((part, piece));
                }
            }
            let Some((part, piece)) = first else { return };
            if part > R::of(1.0 - 10.0 * f64::from(f32::EPSILON)) {
                return;
            }
            let within = if begun < one { (part - begun) / (one - begun) } else { one };
            self.bodies[body] = between(&start, &end, within);
            tries[piece as usize] += 1;
            let mut contacts = Contacts::none();
            self.find_contacts(rig, body, &mut contacts);
            if !contacts.each().any(|contact| contact.meeting.piece == piece) {
                self.bodies[body] = end;
                tries[piece as usize] = u32::MAX;
                continue;
            }
            begun = part;

            let at = &mut self.bodies[body];
            for _ in 0..TOUCH_SWEEPS {
                let mut least = R::of(0.0);
                for contact in contacts.each() {
                    least = least.least(contact.correct(solid, at, CORRECTED_AT_TOUCH));
                }
                if least >= R::of(-1.5 * SLOP) {
                    break;
                }
            }
            start = *at;
            let mut motion = [at.velocity.x, at.velocity.y, at.spin];
            for contact in contacts.each() {
                *contact = Contact::new(rig, body, contact.slot, at, contact.meeting, &Touch::default());
            }
            for _ in 0..SWEEPS {
                let before = motion;
                for contact in contacts.each() {
                    let two = contact.two();
                    let inverses = [solid.inv_mass, solid.inv_inertia];
                    rub((), &mut contact.rows, two, solid.friction, inverses, &mut motion);
                }
                if motion == before {
                    break;
                }
            }
            let [x, y, spin] = motion;
            (at.velocity, at.spin) = (v2(x, y), spin);
            moved(at, rig.step_s * (one - begun));
        }
    }
}

/// Creates the touch of a meeting. A contact point keeps its impulses if its feature also occurs in the touch `before`; other impulses are
/// 0.
fn continued<R: Real>(meeting: &Meeting<R>, before: Option<&Touch<R>>) -> Touch<R> {
    let mut touch = Touch { piece: meeting.piece, feature: meeting.feature, ..Touch::default() };
    for i in 0..meeting.count {
        if let Some((old, j)) = before.and_then(|old| Some((old, old.feature.iter().position(|&name| name == meeting.feature[i])?))) {
            (touch.normal[i], touch.along[i]) = (old.normal[j], old.along[j]);
        }
    }
    touch
}

/// Moves a body by its velocity and spin for `time_s` seconds. Velocity and spin are first limited to the largest motion in a step.
fn moved<R: Real>(body: &mut Body<R>, time_s: R) {
    let by = body.velocity * time_s;
    if by.dot(by) > R::of(MOST_MOVED * MOST_MOVED) {
        body.velocity = body.velocity * (R::of(MOST_MOVED) / by.length());
    }
    let turn = body.spin * time_s;
    if turn.abs() > R::of(MOST_SPUN) {
        body.spin = body.spin * (R::of(MOST_SPUN) / turn.abs());
    }
    body.place = body.place + body.velocity * time_s;
    body.angle += body.spin * time_s;
}
