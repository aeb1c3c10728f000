// Performs one step of every environment. For CartPole, one environment takes 28 bytes of reads, and 60 bytes of writes if `reached` is
// written.

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let group = group_index(wid, many);
    let env = group * GROUP + local;
    var result: StepResult;
    if (env < args.envs) {
        load_fault(env);
        let state = state_of(env);
        let before = EnvState(
            state, world_shown(state), words[args.clocks + env], words[args.clocks + args.stride + env],
        );
        let action = Action(
            #ACTION mem[args.actions + env * ACTION + #u],
        );
        result = world_go(before, action, setup_first() + env, setup_key());
        store_fault(env);
        store_state(env, result.now.state);
        words[args.clocks + env] = result.now.steps;
        if (result.ended != 0u) { words[args.clocks + args.stride + env] = result.now.episodes; }
        mem[args.rewards + env] = result.reward;
        words[args.ended + env] = result.ended;
    }
    write_rows(args.shown, group, local, result.now.shown);
    if (args.reached != NOWHERE) { write_rows(args.reached, group, local, result.reached); }
}
