// Functions for environments of any world that restart automatically, as in `worlds::control::Vector`. This text comes after a world's own
// text.

// An environment between two steps.
struct EnvState {
    state: State,
    shown: Shown,
    // Number of steps in the current episode.
    steps: u32,
    // Number of episodes before the current one.
    episodes: u32,
}

struct StepResult {
    now: EnvState,
    // Observation after the step but before a restart.
    reached: Shown,
    reward: f32,
    // Flags and length if the episode ended, else 0.
    ended: u32,
}

fn world_begin(env: u32, episode: u32, key: vec4<u32>) -> EnvState {
    let state = world_first(env, episode, key);
    let shown = world_shown(state);
    if (FAULTS && world_fault.x != 0u) { return EnvState(State(), Shown(), 0u, episode); }
    return EnvState(state, shown, 0u, episode);
}

fn world_go(at: EnvState, action: Action, env: u32, key: vec4<u32>) -> StepResult {
    let step = world_step(at.state, at.shown, action, Moment(key, env, at.episodes, at.steps));
    let reached = world_shown(step.state);
    // An environment with an error keeps its state.
    if (FAULTS && world_fault.x != 0u) { return StepResult(at, at.shown, 0.0, 0u); }
    let steps = at.steps + 1u;
    let flags = select(0u, TERMINATED, step.terminated) | select(0u, TRUNCATED, steps == STEP_LIMIT);
    if (flags == 0u) {
        return StepResult(EnvState(step.state, reached, steps, at.episodes), reached, step.reward, 0u);
    }
    let next = (at.episodes + 1u) & EPISODE_MASK;
    return StepResult(world_begin(env, next, key), reached, step.reward, flags | (steps << LENGTH_SHIFT));
}
