// Pendulum-v1, the f32 rules of `worlds::control::pendulum`. Its constants precede this text.

fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State {
    let drawn = threefry(key, vec4<u32>(env, episode, 0u, 0u));
    return State(spread(drawn.x, -HALF_TURN, 2.0 * HALF_TURN), spread(drawn.y, -RESET_SPEED, 2.0 * RESET_SPEED));
}

fn world_shown(state: State) -> Shown {
    let turned = angle_sin_cos(state[0]);
    return Shown(turned.y, turned.x, state[1]);
}

fn world_step(state: State, shown: Shown, action: Action, when: Moment) -> Stepped {
    let theta = state[0];
    let torque = clamp(action[0], -TORQUE_LIMIT, TORQUE_LIMIT);
    let cost = fma(theta, theta, fma(state[1] * state[1], 0.1, torque * torque * 0.001));
    let speed = fma(torque, TORQUE_GAIN, fma(shown[1], GRAVITY_GAIN, state[1]));
    let w = clamp(speed, -SPEED_LIMIT, SPEED_LIMIT);
    return Stepped(State(angle_within_a_turn(fma(w, STEP_S, theta)), w), -cost, false);
}
