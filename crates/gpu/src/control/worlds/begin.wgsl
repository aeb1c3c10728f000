// Writes the observations. If `anew`, first starts every environment's first episode; otherwise keeps the states.

@compute @workgroup_size(GROUP)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let group = group_index(wid, many);
    let env = group * GROUP + local;
    var shown: Shown;
    if (env < args.envs) {
        if (args.anew == 1u) {
            let begun = world_begin(setup_first() + env, 0u, setup_key());
            store_state(env, begun.state);
            store_clocks(env, 0u, 0u);
            shown = begun.shown;
        } else {
            load_fault(env);
            shown = world_shown(state_of(env));
        }
        store_fault(env);
    }
    if (args.shown != NOWHERE) { write_rows(args.shown, group, local, shown); }
}
