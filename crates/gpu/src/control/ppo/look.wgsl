// Before a rollout: what every environment shows, raw as the first samples and through the lens for the policy.

struct Args { envs: u32, state: u32, samples: u32, shown: u32, lens: u32, cuts: u32 }

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
    #FEATURES mem[to + #u] = through_lens(shown[#], #u);
    words[args.cuts + env] = 0u;
}
