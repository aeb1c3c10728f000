// One step of every environment. For one of CartPole 28 bytes are read, and 60 written with what was reached.

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let group = group_index(wid, many);
    let env = group * GROUP + local;
    var gone: Gone;
    if (env < args.envs) {
        let state = state_of(env);
        let before = Going(
            state, world_shown(state), words[args.clocks + env], words[args.clocks + args.stride + env],
        );
        gone = world_go(before, mem[args.actions + env], told_first() + env, told_key());
        keep_state(env, gone.now.state);
        words[args.clocks + env] = gone.now.steps;
        if (gone.ended != 0u) { words[args.clocks + args.stride + env] = gone.now.episodes; }
        mem[args.rewards + env] = gone.reward;
        words[args.ended + env] = gone.ended;
    }
    write_rows(args.shown, group, local, gone.now.shown);
    if (args.reached != NOWHERE) { write_rows(args.reached, group, local, gone.reached); }
}
