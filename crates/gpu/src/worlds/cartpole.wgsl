// CartPole-v1 as `worlds::cartpole` has it in f32: its constants stand before this text.

fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State {
    let drawn = vec4<f32>(bitcast<vec4<i32>>(hash(key.xy, vec2<u32>(env, episode)))) * SPREAD;
    return State(drawn.x, drawn.y, drawn.z, drawn.w);
}

fn world_shown(state: State) -> Shown { return state; }

// Angles between two steps are within the limit: there, and only there, these short polynomials hold. One over the
// inertia is one too, for a division costs more than the rest of the pole: within 3e-8 of itself.
fn world_step(state: State, shown: Shown, action: f32, when: Moment) -> Stepped {
    let x = state[0];
    let v = state[1];
    let theta = state[2];
    let w = state[3];
    let square = theta * theta;
    let sin = fma(square * theta, fma(square, SIN_5, SIN_3), theta);
    let cos = fma(square, fma(square, COS_4, COS_2), 1.0);
    let force = select(-PUSH, PUSH, action == 1.0);
    let push = fma(POLE_SHARE * (w * w), sin, force);
    let torque = fma(-cos, push, GRAVITY * sin);
    let theta_acc = torque * fma(square, fma(square, EASE_4, EASE_2), EASE_0);
    let x_acc = fma(-POLE_SHARE * theta_acc, cos, push);
    let next = State(fma(STEP_S, v, x), fma(STEP_S, x_acc, v), fma(STEP_S, w, theta), fma(STEP_S, theta_acc, w));
    return Stepped(next, 1.0, !(abs(next[0]) <= X_LIMIT && abs(next[2]) <= THETA_LIMIT));
}
