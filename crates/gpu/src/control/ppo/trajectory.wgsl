// Records the steps of the first RECORDED environments. The observations before each step are stored in panels, `[steps][RECORDED / 32,
// rounded up][FEATURES][32]`. The flags `[steps][RECORDED]` are nonzero for steps that ended an episode.

struct Args { envs: u32, steps: u32, samples: u32, ended: u32, observations: u32, ends: u32 }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let i = group_index(group, many) * THREADS + local;
    const LANES = (RECORDED + 31u) / 32u * 32u;
    let t = i / LANES;
    let env = i % LANES;
    if (t >= args.steps) { return; }
    let place = t * args.envs + env;
    let observation = args.observations + (t * LANES + env / 32u * 32u) * FEATURES + env % 32u;
    if (env >= RECORDED) { return; }
    let sample = args.samples + place * SAMPLE_LEN;
    #FEATURES mem[observation + #u * 32u] = mem[sample + #u];
    words[args.ends + t * RECORDED + env] = select(0u, 1u, words[args.ended + place] != 0u);
}
