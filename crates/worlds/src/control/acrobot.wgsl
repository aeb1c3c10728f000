// Acrobot-v1, the f32 rules of `worlds::control::acrobot`. Its constants precede this text.

fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State {
    let drawn = threefry(key, vec4<u32>(env, episode, 0u, 0u));
    return State(
        spread(drawn.x, -RESET_SPREAD, 2.0 * RESET_SPREAD), spread(drawn.y, -RESET_SPREAD, 2.0 * RESET_SPREAD),
        spread(drawn.z, -RESET_SPREAD, 2.0 * RESET_SPREAD), spread(drawn.w, -RESET_SPREAD, 2.0 * RESET_SPREAD),
    );
}

fn world_shown(state: State) -> Shown {
    let a = angle_sin_cos(state[0]);
    let b = angle_sin_cos(state[1]);
    return Shown(a.y, a.x, b.y, b.x, state[2], state[3]);
}

// Accelerations of both angles. `a` and `b` are (sin, cos) of the angles, and `v` contains their speeds.
fn acrobot_accelerations(a: vec2<f32>, b: vec2<f32>, v: vec2<f32>, torque: f32) -> vec2<f32> {
    let x = b.y * ARM;
    let d2 = x + END_INERTIA;
    let scale = 1.0 / fma(-x, x, DETERMINANT);
    let turn = b.x * ARM;
    let sin_ab = fma(a.x, b.y, a.y * b.x);
    let phi2 = sin_ab * LOWER_WEIGHT;
    let weight = fma(a.x, UPPER_WEIGHT, phi2);
    let phi1 = fma(-(turn * v.y), fma(v.x, 2.0, v.y), weight);
    let rest = fma(-(turn * v.x), v.x, torque - phi2);
    let upper = -fma(phi1, END_INERTIA, d2 * rest);
    let lower = fma(d2, fma(rest, 2.0, phi1), rest * LINK_INERTIA);
    return vec2<f32>(upper, lower) * scale;
}

// Accelerations of both angles in a later stage of a Runge-Kutta step. The angles are `angles`, moved for `time_s` at the speeds `along`.
// The speeds of the stage are `v`.
fn acrobot_ahead(angles: vec2<f32>, along: vec2<f32>, v: vec2<f32>, time_s: f32, torque: f32) -> vec2<f32> {
    let reached = fma(along, vec2<f32>(time_s), angles);
    return acrobot_accelerations(angle_sin_cos(reached.x), angle_sin_cos(reached.y), v, torque);
}

fn acrobot_sum(start: vec2<f32>, k1: vec2<f32>, k2: vec2<f32>, k3: vec2<f32>, k4: vec2<f32>) -> vec2<f32> {
    return fma(fma(k2 + k3, vec2<f32>(2.0), k1 + k4), vec2<f32>(SIXTH_S), start);
}

fn world_step(state: State, shown: Shown, action: Action, when: Moment) -> Stepped {
    let torque = (action[0] - 1.0) * TORQUE;
    let angles = vec2<f32>(state[0], state[1]);
    let v1 = vec2<f32>(state[2], state[3]);
    let half_s = vec2<f32>(HALF_S);
    let k1 = acrobot_accelerations(vec2<f32>(shown[1], shown[0]), vec2<f32>(shown[3], shown[2]), v1, torque);
    let v2 = fma(k1, half_s, v1);
    let k2 = acrobot_ahead(angles, v1, v2, HALF_S, torque);
    let v3 = fma(k2, half_s, v1);
    let k3 = acrobot_ahead(angles, v2, v3, HALF_S, torque);
    let v4 = fma(k3, vec2<f32>(STEP_S), v1);
    let k4 = acrobot_ahead(angles, v3, v4, STEP_S, torque);
    let reached = acrobot_sum(angles, v1, v2, v3, v4);
    let limits = vec2<f32>(SPEED_LIMIT_1, SPEED_LIMIT_2);
    let v = clamp(acrobot_sum(v1, k1, k2, k3, k4), -limits, limits);
    let next = State(angle_within_a_turn(reached.x), angle_within_a_turn(reached.y), v.x, v.y);
    let seen = world_shown(next);
    // Depth of the tip below the bar, in links: cos a + cos (a + b).
    let depth = fma(seen[0], seen[2], fma(-seen[1], seen[3], seen[0]));
    let over = depth < -1.0;
    return Stepped(next, select(-1.0, 0.0, over), over);
}
