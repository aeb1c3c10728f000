// CartPole-v1, the f32 rules of `worlds::control::cartpole`. Its constants precede this text.

fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State {
    let drawn = vec4<f32>(bitcast<vec4<i32>>(hash(key.xy, vec2<u32>(env, episode)))) * SPREAD;
    return State(drawn.x, drawn.y, drawn.z, drawn.w);
}

fn world_shown(state: State) -> Shown { return state; }

// Takes one Euler step; `force` is the force over the total mass. The short polynomials hold for the angles that are possible between two
// steps. The reciprocal of the inertia is also a polynomial, with a relative error of 3e-8, because a division would cost half as much as
// the rest of the step. The step needs 13 multiply-adds and 7 products.
fn cartpole_pushed(state: State, force: f32) -> State {
    let theta = state[2];
    let w = state[3];
    let square = theta * theta;
    let sin = fma(square * theta, fma(square, SIN_5, SIN_3), theta);
    let cos = fma(square, fma(square, COS_4, COS_2), 1.0);
    let push = fma(POLE_SHARE * (w * w), sin, force);
    let torque = fma(-cos, push, GRAVITY * sin);
    let theta_acc = torque * fma(square, fma(square, EASE_4, EASE_2), EASE_0);
    let x_acc = fma(-POLE_SHARE * theta_acc, cos, push);
    return State(
        fma(STEP_S, state[1], state[0]), fma(STEP_S, x_acc, state[1]), fma(STEP_S, w, theta),
        fma(STEP_S, theta_acc, w),
    );
}

// `&` evaluates both conditions and avoids a branch.
fn cartpole_out(state: State) -> bool { return !((abs(state[0]) <= X_LIMIT) & (abs(state[2]) <= THETA_LIMIT)); }

fn world_step(state: State, shown: Shown, action: Action, when: Moment) -> Stepped {
    let next = cartpole_pushed(state, select(-PUSH, PUSH, action[0] == 1.0));
    return Stepped(next, 1.0, cartpole_out(next));
}
