// Before a rollout: what every environment shows, raw as the first samples and through the lens for the policy.

struct Args { envs: u32, state: u32, samples: u32, shown: u32, lens: u32, cuts: u32 }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let env = group_index(group, many) * THREADS + local;
    if (env >= args.envs) { return; }
    var state: State;
    for (var i = 0u; i < STATE; i++) { state[i] = mem[args.state + i * args.envs + env]; }
    var shown = world_shown(state);
    for (var i = 0u; i < FEATURES; i++) {
        mem[args.samples + env * WIDTH + i] = shown[i];
        mem[args.shown + env * FEATURES + i] = through_lens(shown[i], i);
    }
    words[args.cuts + env] = 0u;
}
