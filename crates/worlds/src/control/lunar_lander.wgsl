// LunarLander-v3: the rules of `lunar_lander.rs`, the bodies of `rigid.rs` and the sweeps of `sweeps.rs`, in the same order of operations,
// one craft per invocation. The constants of these files precede this text.
// Arrays are not indexed by variables. Conditions select the values that differ between bodies or corners. A craft thus stays in registers,
// and a loop over bodies is compiled once. A line that begins with `#BEND` or `#PIECE` is repeated for each bend or piece of the ground;
// each other # in the line becomes the index of the bend or piece.

alias Ground = array<f32, 11>;

// Last word of the random counters: `BEGINNING` for initial states, `NOISE` for the keys of the engines' offsets.
const BEGINNING: u32 = 1u;
const NOISE: u32 = 2u;
const SWEEPS: i32 = 180;
const LAST_PIECE: i32 = 9;

struct Body { place: vec2<f32>, velocity: vec2<f32>, angle: f32, spin: f32 }
struct Effort { push: vec2<f32>, stop: f32, motor: f32 }
// A body near a piece of ground, with the impulses at both contact points in the last step. `piece` is -1 for no piece. `feature` is -1 for
// a missing contact point.
struct Touch { piece: i32, feature: vec2<i32>, normal: vec2<f32>, along: vec2<f32> }
// `touching` is set when a touch begins and cleared when a touch ends, even if another touch remains. `ever` is true if `touching` was set
// at any time in this step.
struct Part { body: Body, touch_1: Touch, touch_2: Touch, touching: bool, ever: bool }
struct Scene { hull: Part, leg_1: Part, leg_2: Part, effort_1: Effort, effort_2: Effort, rested: f32 }

// Contact geometry of a body and a piece of ground. If `of_body`, the face belongs to the body and is in the body's coordinates; otherwise
// it belongs to the ground and is in world coordinates.
struct Meeting {
    is: bool,
    of_body: bool,
    two: bool,
    normal: vec2<f32>,
    on_face: vec2<f32>,
    first: vec2<f32>,
    second: vec2<f32>,
    feature: vec2<i32>,
}
// Numbers of a contact for the sweeps. `push` and `along` are impulses along `normal` and along the ground; `lever` and `side` are the
// levers of these impulses, `own` and `own_side` their effective masses. `k` is the matrix (11, 12, 22) from normal impulses to normal
// speeds, and `inverse` its inverse. `block` is true if both points are solved together.
struct Rows {
    push: vec2<f32>,
    along: vec2<f32>,
    normal: vec2<f32>,
    lever: vec2<f32>,
    side: vec2<f32>,
    own: vec2<f32>,
    own_side: vec2<f32>,
    k: vec3<f32>,
    inverse: vec3<f32>,
    block: bool,
}
struct Contact { is: bool, meeting: Meeting, rows: Rows }
struct Contacts { c0: Contact, c1: Contact, c2: Contact, c3: Contact, c4: Contact, c5: Contact }

// Values of a hinge that are constant during one step: both arms, and the stop that is reached. `stop` is 1 for the low stop, -1 for the
// high stop, 0 for none.
struct Joint { arm_a: vec2<f32>, arm_b: vec2<f32>, stop: f32 }
// Numbers of a hinge for the sweeps: `turned` is the effect of a turn on the arms' ends, `inverse` and `inverse_turn` are the inverse
// matrix of the hinge with its stop, and `alone` is the inverse matrix without the stop.
struct Hinged {
    joint: Joint,
    effort: Effort,
    turned: vec2<f32>,
    inverse: vec3<f32>,
    inverse_turn: vec3<f32>,
    alone: vec3<f32>,
}

fn wedge(a: vec2<f32>, b: vec2<f32>) -> f32 { return a.x * b.y - a.y * b.x; }
fn left(v: vec2<f32>) -> vec2<f32> { return vec2(-v.y, v.x); }
// The dot product is written out, so that its rounding is the same as on the CPU.
fn inner(a: vec2<f32>, b: vec2<f32>) -> f32 { return a.x * b.x + a.y * b.y; }
fn size(v: vec2<f32>) -> f32 { return sqrt(inner(v, v)); }

// Returns (cos, sin) of an angle.
fn turn_by(angle: f32) -> vec2<f32> { return angle_sin_cos(angle).yx; }
fn turned(turn: vec2<f32>, v: vec2<f32>) -> vec2<f32> {
    return vec2(turn.x * v.x - turn.y * v.y, turn.y * v.x + turn.x * v.y);
}
fn turned_back(turn: vec2<f32>, v: vec2<f32>) -> vec2<f32> {
    return vec2(turn.x * v.x + turn.y * v.y, turn.x * v.y - turn.y * v.x);
}

fn inv_mass(leg: bool) -> f32 { return select(HULL_INV_MASS, LEG_INV_MASS, leg); }
fn inv_inertia(leg: bool) -> f32 { return select(HULL_INV_INERTIA, LEG_INV_INERTIA, leg); }
fn friction(leg: bool) -> f32 { return select(HULL_FRICTION, LEG_FRICTION, leg); }
fn reach(leg: bool) -> f32 { return select(HULL_REACH, LEG_REACH, leg); }
fn corners(leg: bool) -> i32 { return select(6, 4, leg); }
const HULL_0 = vec2<f32>(HULL_WIDE, HULL_LOW);
const HULL_1 = vec2<f32>(HULL_WIDE, HULL_MIDDLE);
const HULL_2 = vec2<f32>(HULL_HIGH_WIDE, HULL_HIGH);
const HULL_3 = vec2<f32>(-HULL_HIGH_WIDE, HULL_HIGH);
const HULL_4 = vec2<f32>(-HULL_WIDE, HULL_MIDDLE);
const HULL_5 = vec2<f32>(-HULL_WIDE, HULL_LOW);
const LEG_0 = vec2<f32>(-LEG_WIDE, -LEG_HIGH);
const LEG_1 = vec2<f32>(LEG_WIDE, -LEG_HIGH);
const LEG_2 = vec2<f32>(LEG_WIDE, LEG_HIGH);
const LEG_3 = vec2<f32>(-LEG_WIDE, LEG_HIGH);
fn corner(leg: bool, i: i32) -> vec2<f32> {
    var c = select(HULL_0, LEG_0, leg);
    if (i == 1) { c = select(HULL_1, LEG_1, leg); }
    if (i == 2) { c = select(HULL_2, LEG_2, leg); }
    if (i == 3) { c = select(HULL_3, LEG_3, leg); }
    if (i == 4) { c = HULL_4; }
    if (i == 5) { c = HULL_5; }
    return c;
}
// Outward normal of the edge from corner `i` to the next corner.
fn outward(leg: bool, i: i32) -> vec2<f32> {
    let right = vec2<f32>(1.0, 0.0);
    let up = vec2<f32>(0.0, 1.0);
    var n = select(right, -up, leg);
    if (i == 1) { n = select(vec2<f32>(HULL_SLANT_X, HULL_SLANT_Y), right, leg); }
    if (i == 2) { n = up; }
    if (i == 3) { n = select(vec2<f32>(-HULL_SLANT_X, HULL_SLANT_Y), -right, leg); }
    if (i == 4) { n = -right; }
    if (i == 5) { n = -up; }
    return n;
}
fn corner_of(leg: bool, at: Body, turn: vec2<f32>, i: i32) -> vec2<f32> {
    return at.place + turned(turn, corner(leg, i));
}

fn untouched() -> Touch { return Touch(-1, vec2(-1), vec2(0.0), vec2(0.0)); }

// Largest height of the bends from `low` to `high`.
fn top_of(ground: ptr<function, Ground>, low: i32, high: i32) -> f32 {
    var top = -1e30;
    #BEND if (# >= low && # <= high) { top = max(top, (*ground)[#]); }
    return top;
}

// End points (x, y, x, y) of a piece of ground.
fn ends_of(ground: ptr<function, Ground>, piece: i32) -> vec4<f32> {
    var ends = vec2(0.0);
    #PIECE if (piece == #) { ends = vec2((*ground)[#], (*ground)[# + 1]); }
    let x = PIECE * f32(piece);
    return vec4(x, ends.x, PIECE * f32(piece + 1), ends.y);
}

// Indices of the first and the last piece of ground that a body can touch during its motion; (0, -1) if there is none.
fn near(leg: bool, start: Body, end: Body, ground: ptr<function, Ground>) -> vec2<i32> {
    let lowest = min(start.place.y, end.place.y) - reach(leg);
    // Upper bound of the ground's height.
    if (lowest > 0.5 * HEIGHT) { return vec2(0, -1); }
    let left = min(start.place.x, end.place.x) - reach(leg);
    let right = max(start.place.x, end.place.x) + reach(leg);
    let low = i32(clamp(left / PIECE, 0.0, f32(LAST_PIECE)));
    let high = max(i32(clamp(right / PIECE, 0.0, f32(LAST_PIECE))), low);
    if (lowest > top_of(ground, low, high + 1)) { return vec2(0, -1); }
    return vec2(low, high);
}

// An edge that is clipped to a face, with the feature names of its ends. `is` is false if no edge remains.
struct Edge { is: bool, p: vec2<f32>, q: vec2<f32>, names: vec2<i32> }

// Clips an edge to the half-plane `normal · p <= offset`. A clipped end gets the feature name `name`.
fn cut(edge: Edge, normal: vec2<f32>, offset: f32, name: i32) -> Edge {
    let dp = inner(normal, edge.p) - offset;
    let dq = inner(normal, edge.q) - offset;
    if (dp <= 0.0 && dq <= 0.0) { return edge; }
    // If only an end point is on the line, no edge remains.
    let kept = dp <= 0.0;
    let is = edge.is && (kept || dq <= 0.0) && dp * dq < 0.0;
    let at = edge.p + (edge.q - edge.p) * (dp / select(dp - dq, 1.0, dp == dq));
    return Edge(is, select(edge.q, edge.p, kept), at, vec2(select(edge.names.y, edge.names.x, kept), name));
}

// Contact geometry of a body and the piece of ground from `a` to `b`. Among the faces of both shapes, the face with the largest separation
// gives the contact normal. The other shape's edge is clipped to this face. `is` is false if the body and the piece do not touch.
fn meet(leg: bool, at: Body, a: vec2<f32>, b: vec2<f32>) -> Meeting {
    var meeting: Meeting;
    meeting.is = false;
    let turn = turn_by(at.angle);
    let count = corners(leg);
    let edge = b - a;
    let down = vec2(edge.y, -edge.x) * (1.0 / size(edge));
    let below = inner(down, at.place - a) >= 0.0;
    let ground = select(-down, down, below);
    var ground_apart = 1e30;
    var body_apart = -1e30;
    var face = 0;
    var least_facing = 1e30;
    var facing = 0;
    for (var i = 0; i < 6; i++) {
        if (i < count) {
            let c = corner_of(leg, at, turn, i);
            let n = turned(turn, outward(leg, i));
            ground_apart = min(ground_apart, inner(ground, c - a));
            let apart = min(-inner(n, c - a), -inner(n, c - b));
            if (apart > body_apart) {
                body_apart = apart;
                face = i;
            }
            let along = inner(ground, n);
            if (along < least_facing) {
                least_facing = along;
                facing = i;
            }
        }
    }
    if (max(ground_apart, body_apart) > SKIN) { return meeting; }

    let of_body = body_apart > 0.98 * ground_apart + 0.001;
    let here = select(facing, face, of_body);
    let next = select(here + 1, 0, here + 1 == count);
    let c = corner_of(leg, at, turn, here);
    let d = corner_of(leg, at, turn, next);
    var normal = ground;
    var begin = select(b, a, below);
    var end = select(a, b, below);
    var cutting = Edge(true, c, d, vec2(here, next));
    var names = select(vec2(9, 8), vec2(8, 9), below);
    if (of_body) {
        normal = turned(turn, outward(leg, here));
        begin = c;
        end = d;
        let name = 16 + 8 * here;
        cutting = Edge(true, a, b, vec2(name));
        names = vec2(name + here, name + next);
    }
    let side = vec2(normal.y, -normal.x);
    cutting = cut(cutting, side, inner(side, begin), names.x);
    if (cutting.is) { cutting = cut(cutting, -side, -inner(side, end), names.y); }
    if (!cutting.is) { return meeting; }

    let p_is = inner(normal, cutting.p - begin) <= SKIN;
    let q_is = inner(normal, cutting.q - begin) <= SKIN;
    meeting.is = p_is || q_is;
    meeting.two = p_is && q_is;
    meeting.of_body = of_body;
    meeting.normal = select(normal, outward(leg, here), of_body);
    meeting.on_face = select(begin, corner(leg, here), of_body);
    meeting.first = select(turned_back(turn, cutting.p - at.place), cutting.p, of_body);
    meeting.second = select(turned_back(turn, cutting.q - at.place), cutting.q, of_body);
    meeting.feature = cutting.names;
    if (!p_is) {
        meeting.first = meeting.second;
        meeting.feature.x = meeting.feature.y;
    }
    if (!meeting.two) { meeting.feature.y = -1; }
    return meeting;
}

// Normal and friction impulse of a feature in the touch of the last step; 0 for a feature that did not touch.
fn impulses_of(name: i32, before: Touch) -> vec2<f32> {
    if (name == before.feature.x) { return vec2(before.normal.x, before.along.x); }
    if (name == before.feature.y) { return vec2(before.normal.y, before.along.y); }
    return vec2(0.0);
}

fn inverted(m: vec3<f32>) -> vec3<f32> {
    let determinant = m.x * m.z - m.y * m.y;
    let over = select(1.0 / determinant, 0.0, determinant == 0.0);
    return vec3(m.z * over, -m.y * over, m.x * over);
}
fn times(m: vec3<f32>, v: vec2<f32>) -> vec2<f32> { return vec2(m.x * v.x + m.y * v.y, m.y * v.x + m.z * v.y); }

// Creates a contact from a meeting. `push` and `along_push` are the initial impulses along the normal and along the ground.
fn contact(leg: bool, at: Body, meeting: Meeting, push: vec2<f32>, along_push: vec2<f32>) -> Contact {
    let turn = turn_by(at.angle);
    let of_body = meeting.of_body;
    let face = select(meeting.normal, turned(turn, meeting.normal), of_body);
    let on_face = select(meeting.on_face, at.place + turned(turn, meeting.on_face), of_body);
    let normal = select(face, -face, of_body);
    let along = vec2(normal.y, -normal.x);
    // The contact point is halfway between the surfaces.
    let p = select(at.place + turned(turn, meeting.first), meeting.first, of_body);
    let q = select(at.place + turned(turn, meeting.second), meeting.second, of_body);
    let arm_p = p - face * (0.5 * inner(p - on_face, face)) - at.place;
    let arm_q = q - face * (0.5 * inner(q - on_face, face)) - at.place;
    var lever = vec2(wedge(arm_p, normal), 0.0);
    var side = vec2(wedge(arm_p, along), 0.0);
    if (meeting.two) {
        lever.y = wedge(arm_q, normal);
        side.y = wedge(arm_q, along);
    }
    let m = inv_mass(leg);
    let i = inv_inertia(leg);
    let k = vec3(m + i * lever.x * lever.x, m + i * lever.x * lever.y, m + i * lever.y * lever.y);
    // Two points that nearly coincide are solved as one.
    let block = meeting.two && k.x * k.x < 1000.0 * (k.x * k.z - k.y * k.y);
    var own = vec2(1.0 / k.x, 0.0);
    var own_side = vec2(1.0 / (m + i * side.x * side.x), 0.0);
    var inverse = vec3(0.0);
    if (block) {
        own.y = 1.0 / k.z;
        own_side.y = 1.0 / (m + i * side.y * side.y);
        inverse = inverted(k);
    }
    return Contact(true, meeting, Rows(push, along_push, normal, lever, side, own, own_side, k, inverse, block));
}

// Moves a pose out of the ground by the fraction `part` of the overlap. A pose is (x, y, angle, smallest separation so far).
fn corrected_pose(leg: bool, c: Contact, at: vec4<f32>, part: f32) -> vec4<f32> {
    var pose = at;
    if (!c.is) { return pose; }
    for (var i = 0; i < 2; i++) {
        if (i == 0 || c.meeting.two) {
            let turn = turn_by(pose.z);
            let place = select(c.meeting.second, c.meeting.first, i == 0);
            var normal = c.meeting.normal;
            var point = place;
            var face = c.meeting.on_face;
            if (c.meeting.of_body) {
                normal = -turned(turn, normal);
                face = pose.xy + turned(turn, face);
            } else {
                point = pose.xy + turned(turn, place);
            }
            // `normal` points away from the ground. If the face is the body's, `normal` is the face's negated outward normal.
            let apart = select(1.0, -1.0, c.meeting.of_body) * inner(point - face, normal) - SKIN;
            pose.w = min(pose.w, apart);
            let arm = point - pose.xy;
            let by = clamp(part * (apart + SLOP), -MOST_CORRECTED, 0.0);
            let lever = wedge(arm, normal);
            let impulse = -by / (inv_mass(leg) + inv_inertia(leg) * lever * lever);
            let turned_by = inv_inertia(leg) * lever * impulse;
            pose = vec4(pose.xy + normal * (impulse * inv_mass(leg)), pose.z + turned_by, pose.w);
        }
    }
    return pose;
}

// Result of `look`: the contacts of a body with the ground, and the updated state of the body.
struct Looked { part: Part, first: Contact, second: Contact }

// Finds the contacts of a body with the ground. A contact that existed in the last step keeps its impulses.
fn look(leg: bool, part: Part, ground: ptr<function, Ground>) -> Looked {
    let at = part.body;
    var looked: Looked;
    looked.first.is = false;
    looked.second.is = false;
    looked.part = Part(at, untouched(), untouched(), part.touching, part.ever);
    let pieces = near(leg, at, at, ground);
    let fresh = pieces.y - pieces.x + 1;
    if (fresh == 0 && part.touch_1.piece < 0 && part.touch_2.piece < 0) { return looked; }
    let turn = turn_by(at.angle);
    var low = at.place;
    var high = at.place;
    for (var i = 0; i < 6; i++) {
        if (i < corners(leg)) {
            let c = corner_of(leg, at, turn, i);
            low = min(low, c);
            high = max(high, c);
        }
    }
    // New neighbours come before old neighbours, as in Box2D. The order affects `touching` and the sweeps.
    var slot = 0;
    for (var n = 0; n < fresh + 2; n++) {
        var piece = pieces.y - n;
        if (n >= fresh) { piece = select(part.touch_2.piece, part.touch_1.piece, n == fresh); }
        let known_1 = piece == part.touch_1.piece;
        let known = known_1 || piece == part.touch_2.piece;
        if (piece < 0 || (n < fresh && known)) { continue; }
        var before = untouched();
        if (known_1) { before = part.touch_1; } else if (known) { before = part.touch_2; }
        let ends = ends_of(ground, piece);
        let beside = piece >= pieces.x && piece <= pieces.y
            && low.x <= ends.z + BOX_MARGIN && high.x >= ends.x - BOX_MARGIN
            && low.y <= max(ends.y, ends.w) + BOX_MARGIN && high.y >= min(ends.y, ends.w) - BOX_MARGIN;
        var meeting: Meeting;
        meeting.is = false;
        if (beside) { meeting = meet(leg, at, ends.xy, ends.zw); }
        if (meeting.is != (before.feature.x >= 0)) { looked.part.touching = meeting.is; }
        if (beside) {
            var touch = untouched();
            touch.piece = piece;
            var pushing: Contact;
            pushing.is = false;
            if (meeting.is) {
                let first = impulses_of(meeting.feature.x, before);
                var second = vec2(0.0);
                if (meeting.two) { second = impulses_of(meeting.feature.y, before); }
                touch = Touch(piece, meeting.feature, vec2(first.x, second.x), vec2(first.y, second.y));
                pushing = contact(leg, at, meeting, touch.normal, touch.along);
            }
            if (slot == 0) {
                looked.part.touch_1 = touch;
                looked.first = pushing;
            }
            if (slot == 1) {
                looked.part.touch_2 = touch;
                looked.second = pushing;
            }
        }
        slot++;
    }
    looked.part.ever = part.ever || looked.part.touching;
    return looked;
}

// The constants of a hinge are functions of its side: 1 for leg 1 on the right, -1 for leg 2 on the left.
fn hinge_anchor(side: f32) -> vec2<f32> { return vec2(-side * LEG_AWAY, LEG_UP); }
fn hinge_zero(side: f32) -> f32 { return -side * LEG_LEAN; }
fn hinge_low(side: f32) -> f32 { return select(-LEG_OUT, LEG_IN, side > 0.0); }
fn hinge_high(side: f32) -> f32 { return select(-LEG_IN, LEG_OUT, side > 0.0); }
fn hinge_speed(side: f32) -> f32 { return -side * LEG_SPEED; }
const MOTOR_MASS: f32 = 1.0 / (HULL_INV_INERTIA + LEG_INV_INERTIA);

fn joint(hull: Body, leg: Body, side: f32) -> Joint {
    let angle = leg.angle - hull.angle - hinge_zero(side);
    let stop = select(select(0.0, -1.0, angle >= hinge_high(side)), 1.0, angle <= hinge_low(side));
    let arm_a = turned(turn_by(hull.angle), vec2(0.0, -CENTRE_Y));
    return Joint(arm_a, turned(turn_by(leg.angle), hinge_anchor(side)), stop);
}

// Matrix (xx, xy, yy) from an impulse between the ends of two arms to the change of these ends' relative velocity.
fn effect(a: vec2<f32>, b: vec2<f32>) -> vec3<f32> {
    let mass = HULL_INV_MASS + LEG_INV_MASS;
    return vec3(
        mass + a.y * a.y * HULL_INV_INERTIA + b.y * b.y * LEG_INV_INERTIA,
        -(a.y * a.x * HULL_INV_INERTIA) - b.y * b.x * LEG_INV_INERTIA,
        mass + a.x * a.x * HULL_INV_INERTIA + b.x * b.x * LEG_INV_INERTIA,
    );
}

// Computes the numbers of a hinge that the sweeps need. A stop impulse of the wrong sign is set to 0.
fn hinged(j: Joint, given: Effort) -> Hinged {
    var effort = given;
    if (!(effort.stop * j.stop > 0.0)) { effort.stop = 0.0; }
    let m = effect(j.arm_a, j.arm_b);
    let xt = -(j.arm_a.y * HULL_INV_INERTIA) - j.arm_b.y * LEG_INV_INERTIA;
    let yt = j.arm_a.x * HULL_INV_INERTIA + j.arm_b.x * LEG_INV_INERTIA;
    let tt = HULL_INV_INERTIA + LEG_INV_INERTIA;
    // The inverse of the symmetric matrix that maps an impulse (x, y, turn) to the change of the relative velocity of the hinge's ends.
    let minors = vec3(m.z * tt - yt * yt, xt * yt - m.y * tt, m.y * yt - m.z * xt);
    let over = 1.0 / (m.x * minors.x + m.y * minors.y + xt * minors.z);
    return Hinged(
        j,
        effort,
        vec2(xt, yt),
        vec3(minors.x, minors.y, m.x * tt - xt * xt) * over,
        vec3(minors.z, m.y * xt - m.x * yt, m.x * m.z - m.y * m.y) * over,
        inverted(m),
    );
}

// Applies the impulses of a hinge to a body. `sign` is -1 for the hull and 1 for a leg.
fn pushed(body: Body, leg: bool, arm: vec2<f32>, sign: f32, effort: Effort) -> Body {
    let push = effort.push * sign;
    let turn = wedge(arm, push) + sign * (effort.motor + effort.stop);
    return Body(body.place, body.velocity + push * inv_mass(leg), body.angle, body.spin + inv_inertia(leg) * turn);
}

// Applies the impulses that a contact had in the last step to a body (warm starting).
fn warmed(body: Body, leg: bool, c: Contact) -> Body {
    if (!c.is) { return body; }
    let push = vec2(c.rows.push.x, select(0.0, c.rows.push.y, c.rows.block));
    let along = vec2(c.rows.along.x, select(0.0, c.rows.along.y, c.rows.block));
    let impulse = c.rows.normal * (push.x + push.y) - left(c.rows.normal) * (along.x + along.y);
    let turn = inner(c.rows.lever, push) + inner(c.rows.side, along);
    return Body(body.place, body.velocity + impulse * inv_mass(leg), body.angle, body.spin + inv_inertia(leg) * turn);
}

struct Swung { hinge: Hinged, hull: vec3<f32>, leg: vec3<f32> }

// Solves one hinge: the motor first, then the hinge with its stop. `hull` and `leg` are motions: horizontal velocity, vertical velocity and
// spin.
fn swing(given: Hinged, hull: vec3<f32>, leg: vec3<f32>, side: f32) -> Swung {
    var hinge = given;
    var a = hull;
    var b = leg;
    let arm_a = hinge.joint.arm_a;
    let arm_b = hinge.joint.arm_b;
    let old = hinge.effort;
    let motor = clamp(old.motor - MOTOR_MASS * (b.z - a.z - hinge_speed(side)), -LEG_MOST, LEG_MOST);
    a.z -= HULL_INV_INERTIA * (motor - old.motor);
    b.z += LEG_INV_INERTIA * (motor - old.motor);

    // Negated relative velocity of the arms' ends.
    let parting = vec2(a.x - b.x + (arm_b.y * b.z - arm_a.y * a.z), a.y - b.y + (arm_a.x * a.z - arm_b.x * b.z));
    let slip = a.z - b.z;
    var push = times(hinge.inverse, parting) + hinge.inverse_turn.xy * slip;
    var turn = inner(hinge.inverse_turn.xy, parting) + hinge.inverse_turn.z * slip;
    var stop = old.stop + turn;
    // A stop can only push. If the stop would pull, or no stop is reached, the hinge is solved without a stop.
    if (!(stop * hinge.joint.stop >= 0.0 && hinge.joint.stop != 0.0)) {
        push = times(hinge.alone, parting + hinge.turned * old.stop);
        turn = -old.stop;
        stop = 0.0;
    }
    hinge.effort = Effort(old.push + push, stop, motor);
    a = vec3(a.xy - HULL_INV_MASS * push, a.z - HULL_INV_INERTIA * (wedge(arm_a, push) + turn));
    b = vec3(b.xy + LEG_INV_MASS * push, b.z + LEG_INV_INERTIA * (wedge(arm_b, push) + turn));
    return Swung(hinge, a, b);
}

// Solves the friction at one contact point. Returns the new motion and the new accumulated impulse, which is limited to ±`most`.
fn slide(so_far: f32, most: f32, n: vec2<f32>, lever: f32, own: f32, leg: bool, b: vec3<f32>) -> vec4<f32> {
    let speed = n.y * b.x - n.x * b.y + lever * b.z;
    let now = clamp(so_far - own * speed, -most, most);
    let impulse = now - so_far;
    let by = inv_mass(leg) * impulse;
    return vec4(b.xy + vec2(n.y, -n.x) * by, b.z + inv_inertia(leg) * (lever * impulse), now);
}

struct Rubbed { push: vec2<f32>, along: vec2<f32>, motion: vec3<f32> }

// Solves one touch, which has one or two points: friction first, then the normal impulses.
fn rub(rows: Rows, leg: bool, given: vec3<f32>) -> Rubbed {
    let m = inv_mass(leg);
    let i = inv_inertia(leg);
    let n = rows.normal;
    let most = friction(leg) * rows.push;
    var slid = slide(rows.along.x, most.x, n, rows.side.x, rows.own_side.x, leg, given);
    var along = vec2(slid.w, rows.along.y);
    if (rows.block) {
        slid = slide(rows.along.y, most.y, n, rows.side.y, rows.own_side.y, leg, slid.xyz);
        along.y = slid.w;
    }
    let b = slid.xyz;

    let ahead = inner(n, b.xy);
    let speed = ahead + rows.lever.x * b.z;
    var push = vec2(max(rows.push.x - rows.own.x * speed, 0.0), rows.push.y);
    if (rows.block) {
        // Both points are solved together. Each point pushes or separates, which gives four cases; the consistent case is chosen.
        let still = vec2(speed, ahead + rows.lever.y * b.z) - times(rows.k, rows.push);
        let both = -times(rows.inverse, still);
        let only = -rows.own * still;
        push = rows.push;
        if (both.x >= 0.0 && both.y >= 0.0) {
            push = both;
        } else if (only.x >= 0.0 && rows.k.y * only.x + still.y >= 0.0) {
            push = vec2(only.x, 0.0);
        } else if (only.y >= 0.0 && rows.k.y * only.y + still.x >= 0.0) {
            push = vec2(0.0, only.y);
        } else if (still.x >= 0.0 && still.y >= 0.0) {
            push = vec2(0.0);
        }
    }
    // The lever of a missing point is 0, and its impulse does not change.
    let by = push - rows.push;
    return Rubbed(push, along, vec3(b.xy + n * (m * (by.x + by.y)), b.z + i * inner(rows.lever, by)));
}

struct System { scene: Scene, hinge_1: Hinged, hinge_2: Hinged, contacts: Contacts }

fn motion_of(body: Body) -> vec3<f32> { return vec3(body.velocity, body.spin); }
fn with_motion(body: Body, motion: vec3<f32>) -> Body { return Body(body.place, motion.xy, body.angle, motion.z); }
fn most_of(v: vec3<f32>) -> f32 { return max(max(abs(v.x), abs(v.y)), abs(v.z)); }

// Impulses of a hinge after all sweeps. In the `sweeps_left` remaining sweeps, only the impulses of a motor and of the stop that it pushes
// against would change, by the same amount in each sweep.
fn wound(hinge: Hinged, before: f32, sweeps_left: f32) -> Effort {
    var effort = hinge.effort;
    if (hinge.joint.stop != 0.0) {
        let motor = clamp(effort.motor + (effort.motor - before) * sweeps_left, -LEG_MOST, LEG_MOST);
        effort.stop -= motor - effort.motor;
        effort.motor = motor;
    }
    return effort;
}

// Sweeps over velocities until no velocity changes or the limit is reached.
fn sweep(given: System, grounded: bool) -> System {
    var system = given;
    var r0 = system.contacts.c0.rows;
    var r1 = system.contacts.c1.rows;
    var r2 = system.contacts.c2.rows;
    var r3 = system.contacts.c3.rows;
    var r4 = system.contacts.c4.rows;
    var r5 = system.contacts.c5.rows;
    var hull = motion_of(system.scene.hull.body);
    var leg_1 = motion_of(system.scene.leg_1.body);
    var leg_2 = motion_of(system.scene.leg_2.body);
    var hinge_1 = system.hinge_1;
    var hinge_2 = system.hinge_2;
    for (var i = 1; i <= SWEEPS; i++) {
        let before_hull = hull;
        let before_1 = leg_1;
        let before_2 = leg_2;
        let motor_1 = hinge_1.effort.motor;
        let motor_2 = hinge_2.effort.motor;
        let second = swing(hinge_2, hull, leg_2, -1.0);
        hinge_2 = second.hinge;
        leg_2 = second.leg;
        let first = swing(hinge_1, second.hull, leg_1, 1.0);
        hinge_1 = first.hinge;
        leg_1 = first.leg;
        hull = first.hull;
        if (grounded) {
            if (system.contacts.c0.is) {
                let rubbed = rub(r0, true, leg_2);
                r0.push = rubbed.push;
                r0.along = rubbed.along;
                leg_2 = rubbed.motion;
            }
            if (system.contacts.c1.is) {
                let rubbed = rub(r1, true, leg_2);
                r1.push = rubbed.push;
                r1.along = rubbed.along;
                leg_2 = rubbed.motion;
            }
            if (system.contacts.c2.is) {
                let rubbed = rub(r2, false, hull);
                r2.push = rubbed.push;
                r2.along = rubbed.along;
                hull = rubbed.motion;
            }
            if (system.contacts.c3.is) {
                let rubbed = rub(r3, false, hull);
                r3.push = rubbed.push;
                r3.along = rubbed.along;
                hull = rubbed.motion;
            }
            if (system.contacts.c4.is) {
                let rubbed = rub(r4, true, leg_1);
                r4.push = rubbed.push;
                r4.along = rubbed.along;
                leg_1 = rubbed.motion;
            }
            if (system.contacts.c5.is) {
                let rubbed = rub(r5, true, leg_1);
                r5.push = rubbed.push;
                r5.along = rubbed.along;
                leg_1 = rubbed.motion;
            }
        }
        let change = max(most_of(hull - before_hull), max(most_of(leg_1 - before_1), most_of(leg_2 - before_2)));
        if (change <= 1e-6 || i == SWEEPS) {
            system.scene.effort_1 = wound(hinge_1, motor_1, f32(SWEEPS - i));
            system.scene.effort_2 = wound(hinge_2, motor_2, f32(SWEEPS - i));
            break;
        }
    }
    system.scene.hull.body = with_motion(system.scene.hull.body, hull);
    system.scene.leg_1.body = with_motion(system.scene.leg_1.body, leg_1);
    system.scene.leg_2.body = with_motion(system.scene.leg_2.body, leg_2);
    if (grounded) {
        let c = system.contacts;
        system.scene.leg_2 = remembered(remembered(system.scene.leg_2, c.c0.is, 0, r0), c.c1.is, 1, r1);
        system.scene.hull = remembered(remembered(system.scene.hull, c.c2.is, 0, r2), c.c3.is, 1, r3);
        system.scene.leg_1 = remembered(remembered(system.scene.leg_1, c.c4.is, 0, r4), c.c5.is, 1, r5);
    }
    return system;
}

fn remembered(given: Part, is: bool, slot: i32, rows: Rows) -> Part {
    var part = given;
    if (is && slot == 0) {
        part.touch_1.normal = rows.push;
        part.touch_1.along = rows.along;
    }
    if (is && slot == 1) {
        part.touch_2.normal = rows.push;
        part.touch_2.along = rows.along;
    }
    return part;
}

// A leg in free flight: its arm from the hull's centre of mass, and the velocity and spin of its motion about the hinge.
struct Leg { arm: vec2<f32>, own: vec2<f32>, swing: f32 }
fn flying(j: Joint, side: f32) -> Leg {
    let swing = select(0.0, hinge_speed(side), j.stop == 0.0);
    return Leg(j.arm_a - j.arm_b, -left(j.arm_b) * swing, swing);
}
struct Held { is: bool, body: Body, effort: Effort }

// Motion of a leg in free flight, and the impulses of its hinge. `is` is false if the motor or the stop cannot apply the impulse that this
// motion needs.
fn held(leg: Body, parts: Leg, j: Joint, given: Effort, side: f32, velocity: vec2<f32>, spin: f32) -> Held {
    let new_velocity = velocity + left(parts.arm) * spin + parts.own;
    let new_spin = spin + parts.swing;
    let push = (new_velocity - leg.velocity) * (1.0 / LEG_INV_MASS);
    let turn = (new_spin - leg.spin) * (1.0 / LEG_INV_INERTIA) - wedge(j.arm_b, push);
    var effort = Effort(push, 0.0, turn);
    var is = abs(turn) <= LEG_MOST;
    if (j.stop != 0.0) {
        let speed = hinge_speed(side);
        effort.motor = clamp(given.motor + MOTOR_MASS * speed * f32(SWEEPS), -LEG_MOST, LEG_MOST);
        effort.stop = turn - effort.motor;
        is = (j.stop > 0.0) == (speed < 0.0) && (effort.stop < 0.0) != (j.stop > 0.0);
    }
    return Held(is, Body(leg.place, new_velocity, leg.angle, new_spin), effort);
}

struct Flown { is: bool, scene: Scene }

// Computes velocities in free flight. Each leg turns at its motor's speed or rests against its stop, and the total momentum is conserved.
fn fly(given: Scene, joint_1: Joint, joint_2: Joint) -> Flown {
    var scene = given;
    let body = scene.hull.body;
    let body_1 = scene.leg_1.body;
    let body_2 = scene.leg_2.body;
    let hull_mass = 1.0 / HULL_INV_MASS;
    let m = 1.0 / LEG_INV_MASS;
    let i = 1.0 / LEG_INV_INERTIA;
    let parts_1 = flying(joint_1, 1.0);
    let parts_2 = flying(joint_2, -1.0);
    let mass = hull_mass + m + m;
    let inertia_1 = i + m * inner(parts_1.arm, parts_1.arm);
    let inertia = 1.0 / HULL_INV_INERTIA + inertia_1 + i + m * inner(parts_2.arm, parts_2.arm);
    let offset = parts_1.arm * m + parts_2.arm * m;
    let extra_1 = (body_1.velocity - parts_1.own) * m;
    let extra_2 = (body_2.velocity - parts_2.own) * m;
    let momentum = body.velocity * hull_mass + extra_1 + extra_2;
    let turning = body.spin * (1.0 / HULL_INV_INERTIA) + i * (body_1.spin - parts_1.swing) + wedge(parts_1.arm, extra_1)
        + i * (body_2.spin - parts_2.swing) + wedge(parts_2.arm, extra_2);
    let over = 1.0 / mass;
    let spin = (turning - wedge(offset, momentum) * over) / (inertia - inner(offset, offset) * over);
    let velocity = (momentum - left(offset) * spin) * over;
    let held_1 = held(body_1, parts_1, joint_1, scene.effort_1, 1.0, velocity, spin);
    let held_2 = held(body_2, parts_2, joint_2, scene.effort_2, -1.0, velocity, spin);
    scene.hull.body = Body(body.place, velocity, body.angle, spin);
    scene.leg_1.body = held_1.body;
    scene.leg_2.body = held_2.body;
    scene.effort_1 = held_1.effort;
    scene.effort_2 = held_2.effort;
    return Flown(held_1.is && held_2.is, scene);
}

struct Hung { hull: vec4<f32>, leg: vec4<f32>, good: bool }

fn corrected_hinge(hull: vec4<f32>, leg: vec4<f32>, stop: f32, side: f32) -> Hung {
    let angle = leg.z - hull.z - hinge_zero(side);
    var by = 0.0;
    var beyond = 0.0;
    if (stop > 0.0) {
        let past = angle - hinge_low(side);
        by = clamp(past + ANGLE_SLOP, -MOST_TURNED, 0.0);
        beyond = -past;
    }
    if (stop < 0.0) {
        beyond = angle - hinge_high(side);
        by = clamp(beyond - ANGLE_SLOP, 0.0, MOST_TURNED);
    }
    let impulse = -MOTOR_MASS * by;
    let angle_a = hull.z - HULL_INV_INERTIA * impulse;
    let angle_b = leg.z + LEG_INV_INERTIA * impulse;
    let arm_a = turned(turn_by(angle_a), vec2(0.0, -CENTRE_Y));
    let arm_b = turned(turn_by(angle_b), hinge_anchor(side));
    let apart = leg.xy + arm_b - hull.xy - arm_a;
    let push = times(inverted(effect(arm_a, arm_b)), -apart);
    return Hung(
        vec4(hull.xy - push * HULL_INV_MASS, angle_a - HULL_INV_INERTIA * wedge(arm_a, push), hull.w),
        vec4(leg.xy + push * LEG_INV_MASS, angle_b + LEG_INV_INERTIA * wedge(arm_b, push), leg.w),
        size(apart) <= SLOP && beyond <= ANGLE_SLOP,
    );
}

fn pose_of(body: Body) -> vec4<f32> { return vec4(body.place, body.angle, 0.0); }
fn with_pose(body: Body, pose: vec4<f32>) -> Body { return Body(pose.xy, body.velocity, pose.z, body.spin); }

struct Corrected { scene: Scene, good: bool }

// Corrects positions in sweeps, until all hinges are closed and no body is deep in the ground. `good` is false if the tolerances were not
// reached.
fn correct(given: Scene, c: Contacts, stop_1: f32, stop_2: f32, grounded: bool) -> Corrected {
    var hull = pose_of(given.hull.body);
    var leg_1 = pose_of(given.leg_1.body);
    var leg_2 = pose_of(given.leg_2.body);
    var good = false;
    for (var i = 0; i < 60 && !good; i++) {
        hull.w = 0.0;
        leg_1.w = 0.0;
        leg_2.w = 0.0;
        if (grounded) {
            leg_2 = corrected_pose(true, c.c1, corrected_pose(true, c.c0, leg_2, CORRECTED), CORRECTED);
            hull = corrected_pose(false, c.c3, corrected_pose(false, c.c2, hull, CORRECTED), CORRECTED);
            leg_1 = corrected_pose(true, c.c5, corrected_pose(true, c.c4, leg_1, CORRECTED), CORRECTED);
        }
        let second = corrected_hinge(hull, leg_2, stop_2, -1.0);
        let first = corrected_hinge(second.hull, leg_1, stop_1, 1.0);
        hull = first.hull;
        leg_1 = first.leg;
        leg_2 = second.leg;
        good = min(hull.w, min(leg_1.w, leg_2.w)) >= -3.0 * SLOP && first.good && second.good;
    }
    var scene = given;
    scene.hull.body = with_pose(scene.hull.body, hull);
    scene.leg_1.body = with_pose(scene.leg_1.body, leg_1);
    scene.leg_2.body = with_pose(scene.leg_2.body, leg_2);
    return Corrected(scene, good);
}

// Moves a body by its velocity and spin for `time_s` seconds. Velocity and spin are first limited to the largest motion in a step.
fn moved(given: Body, time_s: f32) -> Body {
    var body = given;
    let by = size(body.velocity * time_s);
    if (by > MOST_MOVED) { body.velocity *= MOST_MOVED / by; }
    let turn = abs(body.spin * time_s);
    if (turn > MOST_SPUN) { body.spin *= MOST_SPUN / turn; }
    return Body(body.place + body.velocity * time_s, body.velocity, body.angle + body.spin * time_s, body.spin);
}

fn between(start: Body, end: Body, part: f32) -> Body {
    let rest = 1.0 - part;
    return Body(start.place * rest + end.place * part, end.velocity, rest * start.angle + part * end.angle, end.spin);
}

// Shortest vector from the edge between `p` and `q` to `point`.
fn from_edge(p: vec2<f32>, q: vec2<f32>, point: vec2<f32>) -> vec2<f32> {
    let edge = q - p;
    return point - (p + edge * clamp(inner(point - p, edge) / inner(edge, edge), 0.0, 1.0));
}

// Unit vector (x, y) and distance (z) from a piece of ground to a body. The distance is negative if the body and the piece overlap.
fn gap(leg: bool, at: Body, a: vec2<f32>, b: vec2<f32>) -> vec3<f32> {
    let turn = turn_by(at.angle);
    var nearest = vec2(1e9, 0.0);
    var inside_a = true;
    var inside_b = true;
    var above = false;
    var below = false;
    var crosses = false;
    for (var i = 0; i < 6; i++) {
        if (i < corners(leg)) {
            let p = corner_of(leg, at, turn, i);
            let q = corner_of(leg, at, turn, select(i + 1, 0, i + 1 == corners(leg)));
            let to_p = from_edge(a, b, p);
            if (inner(to_p, to_p) < inner(nearest, nearest)) { nearest = to_p; }
            let to_a = -from_edge(p, q, a);
            if (inner(to_a, to_a) < inner(nearest, nearest)) { nearest = to_a; }
            let to_b = -from_edge(p, q, b);
            if (inner(to_b, to_b) < inner(nearest, nearest)) { nearest = to_b; }
            let a_side = wedge(q - p, a - p);
            let b_side = wedge(q - p, b - p);
            inside_a = inside_a && a_side >= 0.0;
            inside_b = inside_b && b_side >= 0.0;
            let p_above = wedge(b - a, p - a) > 0.0;
            above = above || p_above;
            below = below || !p_above;
            // The last condition is true if the piece crosses the edge from p to q.
            crosses = crosses || (p_above != (wedge(b - a, q - a) > 0.0) && (a_side > 0.0) != (b_side > 0.0));
        }
    }
    let squared = inner(nearest, nearest);
    if ((above && below && crosses) || inside_a || inside_b || !(squared > 0.0)) { return vec3(0.0, 0.0, -1.0); }
    let distance = sqrt(squared);
    return vec3(nearest * (1.0 / distance), distance);
}

// Returns true if a body certainly stays above a piece of ground during its motion. The test checks both ends of the motion. A margin
// accounts for the corners' deviation from straight lines.
fn passes(leg: bool, start: Body, end: Body, a: vec2<f32>, b: vec2<f32>) -> bool {
    let up = left(b - a);
    let by = end.angle - start.angle;
    let least = (NEAR + TOLERANCE + reach(leg) * by * by * 0.125) * size(b - a);
    let start_turn = turn_by(start.angle);
    let end_turn = turn_by(end.angle);
    let above = vec2(inner(up, start.place - a), inner(up, end.place - a));
    var passing = true;
    for (var i = 0; i < 6; i++) {
        if (i < corners(leg)) {
            let c = corner(leg, i);
            passing = passing && above.x + inner(up, turned(start_turn, c)) > least
                && above.y + inner(up, turned(end_turn, c)) > least;
        }
    }
    return passing;
}

// Distance of corner `i` above a piece along `axis`, after the fraction `part` of the body's motion. `top` is the largest coordinate of the
// piece along `axis`.
fn apart_at(leg: bool, start: Body, end: Body, part: f32, axis: vec2<f32>, top: f32, i: i32) -> f32 {
    let at = between(start, end, part);
    return inner(axis, corner_of(leg, at, turn_by(at.angle), i)) - top;
}

// Time of the first touch between a body and a piece of ground, as a fraction of the body's motion; 2 if there is no touch.
fn impact(leg: bool, start: Body, end: Body, a: vec2<f32>, b: vec2<f32>) -> f32 {
    var early = 0.0;
    for (var tries = 0; tries < 20; tries++) {
        let far = gap(leg, between(start, end, early), a, b);
        if (far.z < 0.0) { return 2.0; }
        if (far.z < NEAR + TOLERANCE) { return early; }
        let axis = far.xy;
        let top = max(inner(axis, a), inner(axis, b));
        var late = 1.0;
        for (var rounds = 0; rounds < 6; rounds++) {
            let at = between(start, end, late);
            let turn = turn_by(at.angle);
            var deepest = 0;
            var least = 1e30;
            for (var i = 0; i < 6; i++) {
                if (i < corners(leg)) {
                    let apart = inner(axis, corner_of(leg, at, turn, i)) - top;
                    if (apart < least) {
                        deepest = i;
                        least = apart;
                    }
                }
            }
            if (least > NEAR + TOLERANCE) { return 2.0; }
            if (least > NEAR - TOLERANCE) {
                early = late;
                break;
            }
            let first = apart_at(leg, start, end, early, axis, top, deepest);
            if (first < NEAR - TOLERANCE) { return 2.0; }
            if (first <= NEAR + TOLERANCE) { return early; }
            // Find the time at which the deepest corner has the distance NEAR. Bisection and secant steps alternate.
            var low = vec2(early, first);
            var high = vec2(late, least);
            for (var i = 0; i < 50; i++) {
                var part = (low.x + high.x) * 0.5;
                if ((i & 1) == 1) { part = low.x + (NEAR - low.y) * (high.x - low.x) / (high.y - low.y); }
                let apart = apart_at(leg, start, end, part, axis, top, deepest);
                late = part;
                if (abs(apart - NEAR) < TOLERANCE) { break; }
                if (apart > NEAR) { low = vec2(part, apart); } else { high = vec2(part, apart); }
            }
        }
    }
    return 2.0;
}

// Number of first touches tried for a piece of ground. `tries` contains ten counters of four bits.
fn tries_of(tries: vec2<u32>, piece: i32) -> u32 {
    return (select(tries.x, tries.y, piece >= 8) >> (4u * (u32(piece) & 7u))) & 15u;
}
fn tried(tries: vec2<u32>, piece: i32, more: u32) -> vec2<u32> {
    let by = more << (4u * (u32(piece) & 7u));
    return tries + select(vec2(by, 0u), vec2(0u, by), piece >= 8);
}

// Handles touches within a step. A body that would pass into the ground is moved back to its first touch, the contact there is solved, and
// the body moves for the rest of the step. Later touches in the step are treated in the same way.
fn first_touches(leg: bool, given: Part, begin: Body, ground: ptr<function, Ground>) -> Part {
    var part = given;
    var start = begin;
    var begun = 0.0;
    var tries = vec2(0u);
    loop {
        let pieces = near(leg, start, part.body, ground);
        let end = part.body;
        var least = 2.0;
        var piece = -1;
        for (var p = pieces.x; p <= pieces.y; p++) {
            let ends = ends_of(ground, p);
            if (tries_of(tries, p) <= 8u && !passes(leg, start, end, ends.xy, ends.zw)) {
                let when = impact(leg, start, end, ends.xy, ends.zw);
                let at = begun + (1.0 - begun) * when;
                if (when <= 1.0 && at < least) {
                    least = at;
                    piece = p;
                }
            }
        }
        if (piece < 0 || least > 1.0 - 1.1920929e-6) { break; }
        var within = 1.0;
        if (begun < 1.0) { within = (least - begun) / (1.0 - begun); }
        part.body = between(start, end, within);
        tries = tried(tries, piece, 1u);
        let looked = look(leg, part, ground);
        part = looked.part;
        var c1 = looked.first;
        var c2 = looked.second;
        if (!(c1.is && part.touch_1.piece == piece) && !(c2.is && part.touch_2.piece == piece)) {
            part.body = end;
            tries = tried(tries, piece, 15u - tries_of(tries, piece));
            continue;
        }
        begun = least;

        for (var i = 0; i < 20; i++) {
            let pose = corrected_pose(leg, c2, corrected_pose(leg, c1, pose_of(part.body), CORRECTED_AT_TOUCH), CORRECTED_AT_TOUCH);
            part.body = with_pose(part.body, pose);
            if (pose.w >= -1.5 * SLOP) { break; }
        }
        start = part.body;
        var motion = motion_of(start);
        if (c1.is) { c1 = contact(leg, start, c1.meeting, vec2(0.0), vec2(0.0)); }
        if (c2.is) { c2 = contact(leg, start, c2.meeting, vec2(0.0), vec2(0.0)); }
        for (var i = 0; i < SWEEPS; i++) {
            let before = motion;
            if (c1.is) {
                let rubbed = rub(c1.rows, leg, motion);
                c1.rows.push = rubbed.push;
                c1.rows.along = rubbed.along;
                motion = rubbed.motion;
            }
            if (c2.is) {
                let rubbed = rub(c2.rows, leg, motion);
                c2.rows.push = rubbed.push;
                c2.rows.along = rubbed.along;
                motion = rubbed.motion;
            }
            if (all(motion == before)) { break; }
        }
        part.body = moved(with_motion(start, motion), STEP_S * (1.0 - begun));
    }
    return part;
}

fn is_still(body: Body) -> bool {
    return abs(body.spin) <= REST_TURN && inner(body.velocity, body.velocity) <= REST_SPEED * REST_SPEED;
}

struct Forth { scene: Scene, rests: bool }

// Steps all bodies, with `force` on the hull. `low` is false for a craft that is too high to touch the ground.
fn forth(given: Scene, force: vec2<f32>, low: bool, ground: ptr<function, Ground>) -> Forth {
    var scene = given;
    var contacts: Contacts;
    contacts.c0.is = false;
    contacts.c1.is = false;
    contacts.c2.is = false;
    contacts.c3.is = false;
    contacts.c4.is = false;
    contacts.c5.is = false;
    var grounded = false;
    if (low) {
        // The order of the bodies is leg 2, hull, leg 1.
        for (var i = 0; i < 3; i++) {
            var part = scene.leg_2;
            if (i == 1) { part = scene.hull; }
            if (i == 2) { part = scene.leg_1; }
            let looked = look(i != 1, part, ground);
            grounded = grounded || looked.first.is || looked.second.is;
            if (i == 0) {
                scene.leg_2 = looked.part;
                contacts.c0 = looked.first;
                contacts.c1 = looked.second;
            } else if (i == 1) {
                scene.hull = looked.part;
                contacts.c2 = looked.first;
                contacts.c3 = looked.second;
            } else {
                scene.leg_1 = looked.part;
                contacts.c4 = looked.first;
                contacts.c5 = looked.second;
            }
        }
    }
    let start_hull = scene.hull.body;
    let start_1 = scene.leg_1.body;
    let start_2 = scene.leg_2.body;
    let fall = vec2(0.0, STEP_S * -GRAVITY);
    scene.hull.body.velocity = start_hull.velocity + fall + force * (STEP_S * HULL_INV_MASS);
    scene.leg_1.body.velocity = start_1.velocity + fall;
    scene.leg_2.body.velocity = start_2.velocity + fall;

    let joint_1 = joint(start_hull, start_1, 1.0);
    let joint_2 = joint(start_hull, start_2, -1.0);
    var flown: Flown;
    flown.is = false;
    if (!grounded) { flown = fly(scene, joint_1, joint_2); }
    if (flown.is) {
        scene = flown.scene;
    } else {
        if (grounded) {
            scene.leg_2.body = warmed(warmed(scene.leg_2.body, true, contacts.c0), true, contacts.c1);
            scene.hull.body = warmed(warmed(scene.hull.body, false, contacts.c2), false, contacts.c3);
            scene.leg_1.body = warmed(warmed(scene.leg_1.body, true, contacts.c4), true, contacts.c5);
        }
        let hinge_1 = hinged(joint_1, scene.effort_1);
        let hinge_2 = hinged(joint_2, scene.effort_2);
        scene.hull.body = pushed(scene.hull.body, false, joint_1.arm_a, -1.0, hinge_1.effort);
        scene.leg_1.body = pushed(scene.leg_1.body, true, joint_1.arm_b, 1.0, hinge_1.effort);
        scene.hull.body = pushed(scene.hull.body, false, joint_2.arm_a, -1.0, hinge_2.effort);
        scene.leg_2.body = pushed(scene.leg_2.body, true, joint_2.arm_b, 1.0, hinge_2.effort);
        scene = sweep(System(scene, hinge_1, hinge_2, contacts), grounded).scene;
    }

    scene.hull.body = moved(scene.hull.body, STEP_S);
    scene.leg_1.body = moved(scene.leg_1.body, STEP_S);
    scene.leg_2.body = moved(scene.leg_2.body, STEP_S);
    let correction = correct(scene, contacts, joint_1.stop, joint_2.stop, grounded);
    scene = correction.scene;

    let still = is_still(scene.hull.body) && is_still(scene.leg_1.body) && is_still(scene.leg_2.body);
    scene.rested = select(0.0, scene.rested + 1.0, still);
    let rests = scene.rested >= RESTING_STEPS && correction.good;
    if (rests) {
        scene.hull.body = with_motion(scene.hull.body, vec3(0.0));
        scene.leg_1.body = with_motion(scene.leg_1.body, vec3(0.0));
        scene.leg_2.body = with_motion(scene.leg_2.body, vec3(0.0));
    } else if (low) {
        // The loop over the bodies lets the compiler compile its content only once.
        for (var i = 0; i < 3; i++) {
            var part = scene.hull;
            var start = start_hull;
            if (i == 1) {
                part = scene.leg_1;
                start = start_1;
            }
            if (i == 2) {
                part = scene.leg_2;
                start = start_2;
            }
            part = first_touches(i != 0, part, start, ground);
            if (i == 0) { scene.hull = part; }
            if (i == 1) { scene.leg_1 = part; }
            if (i == 2) { scene.leg_2 = part; }
        }
    }
    return Forth(scene, rests);
}

fn body_from(state: ptr<function, State>, i: u32) -> Body {
    return Body(
        vec2((*state)[i], (*state)[i + 1u]),
        vec2((*state)[i + 3u], (*state)[i + 4u]),
        (*state)[i + 2u],
        (*state)[i + 5u],
    );
}
fn body_to(state: ptr<function, State>, i: u32, body: Body) {
    (*state)[i] = body.place.x;
    (*state)[i + 1u] = body.place.y;
    (*state)[i + 2u] = body.angle;
    (*state)[i + 3u] = body.velocity.x;
    (*state)[i + 4u] = body.velocity.y;
    (*state)[i + 5u] = body.spin;
}
fn effort_from(state: ptr<function, State>, i: u32) -> Effort {
    return Effort(vec2((*state)[i], (*state)[i + 1u]), (*state)[i + 2u], (*state)[i + 3u]);
}
fn effort_to(state: ptr<function, State>, i: u32, effort: Effort) {
    (*state)[i] = effort.push.x;
    (*state)[i + 1u] = effort.push.y;
    (*state)[i + 2u] = effort.stop;
    (*state)[i + 3u] = effort.motor;
}
fn touch_from(state: ptr<function, State>, i: u32) -> Touch {
    return Touch(
        i32((*state)[i]),
        vec2(i32((*state)[i + 1u]), i32((*state)[i + 2u])),
        vec2((*state)[i + 3u], (*state)[i + 4u]),
        vec2((*state)[i + 5u], (*state)[i + 6u]),
    );
}
fn touch_to(state: ptr<function, State>, i: u32, touch: Touch) {
    (*state)[i] = f32(touch.piece);
    (*state)[i + 1u] = f32(touch.feature.x);
    (*state)[i + 2u] = f32(touch.feature.y);
    (*state)[i + 3u] = touch.normal.x;
    (*state)[i + 4u] = touch.normal.y;
    (*state)[i + 5u] = touch.along.x;
    (*state)[i + 6u] = touch.along.y;
}

// Reads bodies, hinge impulses, touches and the number of steps at rest from a state. The scene does not contain ground, shaping and
// engines.
fn scene_from(state: ptr<function, State>) -> Scene {
    return Scene(
        Part(body_from(state, 0u), untouched(), untouched(), false, false),
        Part(body_from(state, 6u), touch_from(state, 43u), touch_from(state, 50u), (*state)[26] != 0.0, false),
        Part(body_from(state, 12u), touch_from(state, 57u), touch_from(state, 64u), (*state)[27] != 0.0, false),
        effort_from(state, 18u),
        effort_from(state, 22u),
        (*state)[28],
    );
}
fn scene_to(state: ptr<function, State>, scene: Scene) {
    body_to(state, 0u, scene.hull.body);
    body_to(state, 6u, scene.leg_1.body);
    body_to(state, 12u, scene.leg_2.body);
    effort_to(state, 18u, scene.effort_1);
    effort_to(state, 22u, scene.effort_2);
    (*state)[26] = select(0.0, 1.0, scene.leg_1.touching);
    (*state)[27] = select(0.0, 1.0, scene.leg_2.touching);
    (*state)[28] = scene.rested;
    touch_to(state, 43u, scene.leg_1.touch_1);
    touch_to(state, 50u, scene.leg_1.touch_2);
    touch_to(state, 57u, scene.leg_2.touch_1);
    touch_to(state, 64u, scene.leg_2.touch_2);
}

fn world_shown(state: State) -> Shown {
    let origin = vec2(state[0], state[1]) - turned(turn_by(state[2]), vec2(0.0, CENTRE_Y));
    return Shown(
        (origin.x - 0.5 * WIDTH) * (2.0 / WIDTH),
        (origin.y - (PAD_HEIGHT + LEG_UP)) * (2.0 / HEIGHT),
        state[3] * (0.5 * WIDTH * STEP_S),
        state[4] * (0.5 * HEIGHT * STEP_S),
        state[2],
        state[5] * (20.0 * STEP_S),
        state[26],
        state[27],
    );
}

// Shaping term of the reward for an observation.
fn worth(seen: Shown) -> f32 {
    return -100.0 * size(vec2(seen[0], seen[1])) - 100.0 * size(vec2(seen[2], seen[3])) - 100.0 * abs(seen[4])
        + 10.0 * seen[6] + 10.0 * seen[7];
}

// Fires the engine that `action` selects; `action` is not 0. `scatter` is the random offset of the engine's position.
fn fired(given: Body, action: u32, scatter: vec2<f32>) -> Body {
    var hull = given;
    let turn = turn_by(hull.angle);
    var offset = turned(turn, vec2(-scatter.y, -(MAIN_BELOW + 2.0 * scatter.x)));
    var at = offset;
    var power = MAIN_POWER;
    if (action != 2u) {
        let away = 3.0 * scatter.y + (f32(action) - 2.0) * SIDE_AWAY;
        offset = turned(turn, vec2(-away, -scatter.x));
        at = offset + vec2(-turn.y * SIDE_ALONG, turn.x * SIDE_ABOVE);
        power = SIDE_POWER;
    }
    // The arm begins at the centre of mass, which is not the craft's origin.
    let arm = at - turned(turn, vec2(0.0, CENTRE_Y));
    let impulse = -offset * power;
    hull.velocity += impulse * HULL_INV_MASS;
    hull.spin += HULL_INV_INERTIA * wedge(arm, impulse);
    return hull;
}

fn height(word: u32) -> f32 { return 0.5 * HEIGHT * uniform_of(word); }

// Initial state of an episode, after a first step in which the legs move to their positions.
fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State {
    // Heights 3 to 7 are those of the pad, so the random block with index 1 is not needed.
    let west = threefry(key, vec4(env, episode, 0u, BEGINNING));
    let east = threefry(key, vec4(env, episode, 2u, BEGINNING));
    let heights = array<f32, 12>(
        height(west.x), height(west.y), height(west.z), PAD_HEIGHT, PAD_HEIGHT, PAD_HEIGHT, PAD_HEIGHT, PAD_HEIGHT,
        height(east.x), height(east.y), height(east.z), height(east.w),
    );
    var ground: Ground;
    #BEND ground[#] = 0.33 * (heights[(# + 11) % 12] + heights[#] + heights[# + 1]);
    let drawn = threefry(key, vec4(env, episode, 3u, BEGINNING));
    let force = vec2(uniform_of(drawn.x), uniform_of(drawn.y)) * (2.0 * FIRST_FORCE) - FIRST_FORCE;

    let none = untouched();
    let hull = Body(vec2(0.5 * WIDTH, HEIGHT + CENTRE_Y), vec2(0.0), 0.0, 0.0);
    let leg_1 = Body(vec2(0.5 * WIDTH + LEG_AWAY, HEIGHT), vec2(0.0), -LEG_LEAN, 0.0);
    let leg_2 = Body(vec2(0.5 * WIDTH - LEG_AWAY, HEIGHT), vec2(0.0), LEG_LEAN, 0.0);
    let idle = Effort(vec2(0.0), 0.0, 0.0);
    let scene = Scene(
        Part(hull, none, none, false, false),
        Part(leg_1, none, none, false, false),
        Part(leg_2, none, none, false, false),
        idle,
        idle,
        0.0,
    );
    var state: State;
    scene_to(&state, forth(scene, force, false, &ground).scene);
    state[30] = 0.0;
    state[31] = 0.0;
    #BEND state[32 + #] = ground[#];
    state[29] = worth(world_shown(state));
    return state;
}

fn world_step(given: State, shown: Shown, action: Action, when: Moment) -> Stepped {
    var state = given;
    var scene = scene_from(&state);
    var ground: Ground;
    #BEND ground[#] = state[32 + #];
    let choice = min(u32(max(action[0], 0.0)), 3u);
    if (choice != 0u) {
        let noise = threefry(when.key, vec4(when.env, when.episode, 0u, NOISE));
        let words = hash(noise.xy, vec2(when.steps, 0u));
        let scatter = (2.0 * vec2(uniform_of(words.x), uniform_of(words.y)) - 1.0) * SCATTER;
        scene.hull.body = fired(scene.hull.body, choice, scatter);
    }
    let next = forth(scene, vec2(0.0), true, &ground);
    scene_to(&state, next.scene);
    state[30] = select(0.0, 1.0, choice == 2u);
    state[31] = select(0.0, f32(choice) - 2.0, choice == 1u || choice == 3u);
    let seen = world_shown(state);
    let now = worth(seen);
    var reward = now - state[29] - state[30] * MAIN_PRICE - abs(state[31]) * SIDE_PRICE;
    state[29] = now;
    let lost = next.scene.hull.ever || !(abs(seen[0]) < 1.0);
    if (lost) { reward = -100.0; }
    if (next.rests) { reward = 100.0; }
    return Stepped(state, reward, lost || next.rests);
}
