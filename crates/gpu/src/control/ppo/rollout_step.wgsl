// Performs one step of every environment, with one thread per environment: draws an action, applies the rules, and starts a new episode if
// one ended. States are `[STATE][envs]`; results of steps are `[T][envs]`. A line that begins with `#STATE`, `#FEATURES`, `#NUMBERS` or
// `#PERMITTED` is repeated, and the index of the repetition replaces `#` (`text.rs`). NUMBERS is the number of numbers in an action.
// PERMITTED is the number of flags in the mask of the choices, and MASK_AT is the place of the mask in a sample.

struct Args {
    step: u32, envs: u32,
    state: u32, steps: u32, episodes: u32, episode_returns: u32,
    policy: u32, value: u32, shown: u32, normalizer: u32,
    samples: u32, rewards: u32, ended: u32, returns: u32,
    truncations: u32, reached: u32, faults: u32,
    clock: u32, spread: u32, middle: f32, half_range: f32,
    world_0: u32, world_1: u32, world_2: u32, world_3: u32,
    draw_0: u32, draw_1: u32, draw_2: u32, draw_3: u32,
}

// `action` is the drawn action, `log_prob` its log-probability, and `given` the action that the environment receives.
struct Drawn { action: Action, log_prob: f32, given: Action }

// Returns a block of four random words for a number of the action. This environment uses one or two of them (`LearnerSpec::draws`).
fn draw_words(env: u32, number: u32) -> vec4<u32> {
    let low = words[args.clock];
    let step = low + args.step;
    let high = words[args.clock + 1u] + select(0u, 1u, step < low);
    let counter = vec4<u32>(env / 128u * 32u + env % 32u, step, high, number);
    return threefry(vec4<u32>(args.draw_0, args.draw_1, args.draw_2, args.draw_3), counter);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let env = group_index(group, many) * THREADS + local;
    if (env >= args.envs) { return; }
    let at = args.step * args.envs + env;
    let sample = args.samples + at * SAMPLE_LEN;
    let drawn = draw(env, sample + MASK_AT);
    #NUMBERS mem[sample + FEATURES + #u] = drawn.action[#];
    mem[sample + FEATURES + NUMBERS] = drawn.log_prob;
    mem[sample + FEATURES + NUMBERS + 2u] = mem[args.value + env];

    let state = State(
        #STATE mem[args.state + #u * args.envs + env],
    );
    let shown = Shown(
        #FEATURES mem[sample + #u],
        #PERMITTED mem[sample + MASK_AT + #u],
    );
    let before = EnvState(state, shown, words[args.steps + env], words[args.episodes + env]);
    let world_key = vec4<u32>(args.world_0, args.world_1, args.world_2, args.world_3);
    if (FAULTS) { world_fault = vec2<u32>(words[args.faults + env], words[args.faults + args.envs + env]); }
    let has_failed = world_fault.x != 0u;
    let result = world_go(before, drawn.given, env, world_key);
    if (FAULTS && world_fault.x != 0u && !has_failed) {
        words[args.faults + env] = world_fault.x;
        words[args.faults + args.envs + env] = world_fault.y;
        // In a step that ended an episode, the error is from the start of the next episode.
        words[args.faults + 2u * args.envs + env] = 2u * args.step + select(0u, 1u, result.ended != 0u);
    }

    var total = mem[args.episode_returns + env] + result.reward;
    if (result.ended != 0u) {
        mem[args.returns + at] = total;
        total = 0.0;
        if ((result.ended & TERMINATED) == 0u) {
            let cut = words[args.truncations + env];
            words[args.truncations + env] = cut + 1u;
            let reached = args.reached + (cut * args.envs + env) * FEATURES;
            #FEATURES mem[reached + #u] = normalized(result.reached[#], #u);
        }
        words[args.episodes + env] = result.now.episodes;
    }
    mem[args.rewards + at] = result.reward;
    words[args.ended + at] = result.ended;
    words[args.steps + env] = result.now.steps;
    mem[args.episode_returns + env] = total;
    #STATE mem[args.state + #u * args.envs + env] = result.now.state[#];
    if (args.step + 1u < STEPS) {
        let following = sample + args.envs * SAMPLE_LEN;
        #FEATURES mem[following + #u] = result.now.shown[#];
        #PERMITTED mem[following + MASK_AT + #u] = result.now.shown[FEATURES + #u];
    }
    let next = args.shown + env * FEATURES;
    #FEATURES mem[next + #u] = normalized(result.now.shown[#], #u);
}
