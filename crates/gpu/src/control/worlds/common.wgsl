// Definitions that all kernels of `Worlds` share. This text comes after a world's text. A line that begins with `#STATE`, `#OBSERVATION`,
// `#ACTION` or `#SHORTEST` is repeated, and the index of the repetition replaces `#`. The constant of this name is the number of
// repetitions.

const GROUP: u32 = 64u;

struct Args {
    envs: u32,
    // Distance from one row of `state` or `clocks` to the next, in elements.
    stride: u32,
    // [STATE][stride] in mem: states of the environments.
    state: u32,
    // [2][stride] in words: number of steps in the current episode, then number of earlier episodes.
    clocks: u32,
    // In words: the world's key, the index of the first environment, the random stream of `play`.
    setup: u32,
    // [envs][ACTION] in mem: actions of the step.
    actions: u32,
    // [envs][OBSERVATION] in mem, or NOWHERE: observations after the step and after a restart.
    shown: u32,
    // [envs][OBSERVATION] in mem, or NOWHERE: observations after the step but before a restart.
    reached: u32,
    // [envs] in mem: rewards of the step.
    rewards: u32,
    // In words. For `step`, [envs]: flags and length of an ended episode, else 0. For `play`, [groups]: number of ended episodes.
    ended: u32,
    // Number of steps that `play` performs.
    steps: u32,
    // Nonzero to restart all environments; 0 to compute observations only.
    anew: u32,
    // [2][stride] in words: errors of the environments.
    faults: u32,
}

const NOWHERE: u32 = 0xFFFFFFFFu;

fn setup_key() -> vec4<u32> {
    return vec4<u32>(words[args.setup], words[args.setup + 1u], words[args.setup + 2u], words[args.setup + 3u]);
}

fn setup_first() -> u32 { return words[args.setup + 4u]; }

fn setup_game() -> u32 { return words[args.setup + 5u]; }

fn state_of(env: u32) -> State {
    let at = args.state + env;
    return State(
        #STATE mem[at + #u * args.stride],
    );
}

fn store_state(env: u32, state: State) {
    let at = args.state + env;
    #STATE mem[at + #u * args.stride] = state[#];
}

fn load_fault(env: u32) {
    if (FAULTS) { world_fault = vec2<u32>(words[args.faults + env], words[args.faults + args.stride + env]); }
}

fn store_fault(env: u32) {
    if (FAULTS) {
        words[args.faults + env] = world_fault.x;
        words[args.faults + args.stride + env] = world_fault.y;
    }
}

fn store_clocks(env: u32, steps: u32, episodes: u32) {
    words[args.clocks + env] = steps;
    words[args.clocks + args.stride + env] = episodes;
}
