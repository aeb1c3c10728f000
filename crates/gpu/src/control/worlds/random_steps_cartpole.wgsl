// Performs many steps of CartPole, as in `CartPoles::play`. The state stays in registers, and random bits (coins) are the actions.
//
// Cost of an inner step: 13 multiply-adds and 7 products for the pole (33 flops), 2 instructions for the coin, 4 for the end test, 4 for
// the clock, and 4 for the choice between continuing and restarting. These are 34 instructions. Among 32 lanes, some episode ends at almost
// every step. The next initial state is therefore drawn every SHORTEST steps. No episode is shorter, so no environment needs two initial
// states in this time. A draw takes about 70 instructions per 8 steps; an integer product counts as two, a conversion as eight. Coins take
// one hash per 128 steps. The total is 44 instructions per step. 132 multiprocessors of 128 lanes at 1.98 GHz start 3.3e13 instructions per
// second, so the limit is 7.6e11 steps per second.

fn again(state: State, start: State, over: bool) -> State {
    return State(
        select(state[0], start[0], over), select(state[1], start[1], over),
        select(state[2], start[2], over), select(state[3], start[3], over),
    );
}

// An environment between two steps. The lower STEP_BITS bits of `clock` count the steps of the current episode; the other bits count the
// earlier episodes.
struct Pole {
    state: State,
    clock: u32,
}

const STEP_MASK: u32 = (1u << STEP_BITS) - 1u;

fn tossed(pole: Pole, start: State, coins: u32) -> Pole {
    let force = bitcast<f32>(bitcast<u32>(-PUSH) ^ (coins & 0x80000000u));
    let next = cartpole_pushed(pole.state, force);
    let clock = pole.clock + 1u;
    let over = cartpole_out(next) | ((clock & STEP_MASK) == STEP_LIMIT);
    return Pole(again(next, start, over), select(clock, (clock | STEP_MASK) + 1u, over));
}

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let group = group_index(wid, many);
    let env = group * GROUP + local;
    var ended = 0u;
    if (env < args.envs) {
        let key = setup_key();
        let id = setup_first() + env;
        let pair = vec2<u32>(id, setup_game());
        let begun = words[args.clocks + args.stride + env];
        var pole = Pole(state_of(env), (begun << STEP_BITS) | words[args.clocks + env]);
        var drawn = vec4<u32>();
        var coins = 0u;
        for (var t = 0u; t < args.steps; t += SHORTEST) {
            if (t % 128u == 0u) { drawn = hash(vec2<u32>(key.z + t / 128u, key.w), pair); }
            if (t % 32u == 0u) {
                coins = drawn.x;
                drawn = drawn.yzwx;
            }
            let start = world_first(id, ((pole.clock >> STEP_BITS) + 1u) & EPISODE_MASK, key);
            if (t + SHORTEST <= args.steps) {
                #SHORTEST pole = tossed(pole, start, coins << #u);
            } else {
                for (var i = 0u; i < args.steps - t; i++) { pole = tossed(pole, start, coins << i); }
            }
            coins <<= SHORTEST;
        }
        let episodes = pole.clock >> STEP_BITS;
        ended = (episodes - begun) & EPISODE_MASK;
        store_state(env, pole.state);
        store_clocks(env, pole.clock & STEP_MASK, episodes);
    }
    write_count(group, local, ended);
}
