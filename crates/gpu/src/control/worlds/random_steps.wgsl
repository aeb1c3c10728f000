// Many steps with the state in registers and actions `thrown`: eight from a hash, 16 bits each, lowest first.

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let group = group_index(wid, many);
    let env = group * GROUP + local;
    var ended = 0u;
    if (env < args.envs) {
        let key = setup_key();
        let coins = setup_coins();
        let id = setup_first() + env;
        let pair = vec2<u32>(id, setup_game());
        let state = state_of(env);
        var at = EnvState(
            state, world_shown(state), words[args.clocks + env], words[args.clocks + args.stride + env],
        );
        var drawn = vec4<u32>();
        for (var t = 0u; t < args.steps; t++) {
            if (t % 8u == 0u) { drawn = hash(vec2<u32>(coins.x + t / 8u, coins.y), pair); }
            let result = world_go(at, thrown(drawn.x & 0xFFFFu), id, key);
            at = result.now;
            ended += select(0u, 1u, result.ended != 0u);
            if (t % 2u == 0u) {
                drawn.x >>= 16u;
            } else {
                drawn = drawn.yzwx;
            }
        }
        store_state(env, at.state);
        store_clocks(env, at.steps, at.episodes);
    }
    write_count(group, local, ended);
}
