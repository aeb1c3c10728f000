// Before a rollout, writes every environment's observation twice: raw for the samples of the first step, and normalised for the policy.
// Also writes the masks of the choices, if there are any, to these samples.

struct Args { envs: u32, state: u32, samples: u32, shown: u32, normalizer: u32, truncations: u32, faults: u32 }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let env = group_index(group, many) * THREADS + local;
    if (env >= args.envs) { return; }
    let shown = world_shown(State(
        #STATE mem[args.state + #u * args.envs + env],
    ));
    let sample = args.samples + env * SAMPLE_LEN;
    let to = args.shown + env * FEATURES;
    #FEATURES mem[sample + #u] = shown[#];
    #FEATURES mem[to + #u] = normalized(shown[#], #u);
    #PERMITTED mem[sample + MASK_AT + #u] = shown[FEATURES + #u];
    words[args.truncations + env] = 0u;
    if (FAULTS) {
        words[args.faults + env] = world_fault.x;
        words[args.faults + args.envs + env] = world_fault.y;
        words[args.faults + 2u * args.envs + env] = 0u;
    }
}
