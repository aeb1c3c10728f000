// MountainCar-v0 and MountainCarContinuous-v0, the f32 rules of `worlds::control::mountain_car`. Constants precede this text; their values
// differ between the two environments.

fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State {
    let drawn = threefry(key, vec4<u32>(env, episode, 0u, 0u));
    return State(spread(drawn.x, RESET_FROM, RESET_WIDTH), 0.0);
}

fn world_shown(state: State) -> Shown { return state; }

fn world_step(state: State, shown: Shown, action: Action, when: Moment) -> Stepped {
    let given = action[0] - REST;
    let pushed = fma(clamp(given, -1.0, 1.0), POWER, state[1]);
    let rolled = fma(-angle_cos(3.0 * state[0]), GRAVITY, pushed);
    let speed = clamp(rolled, -SPEED_LIMIT, SPEED_LIMIT);
    let x = clamp(state[0] + speed, X_MIN, X_MAX);
    let v = select(speed, 0.0, (x == X_MIN) & (speed < 0.0));
    let terminated = (x >= GOAL) & (v >= 0.0);
    let gained = select(STEP_REWARD, LAST_REWARD, terminated);
    return Stepped(State(x, v), fma(given * given, -THROTTLE_COST, gained), terminated);
}
