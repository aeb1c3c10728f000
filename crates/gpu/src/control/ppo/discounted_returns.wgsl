// Computes the sums of discounted earlier rewards, forwards in time, with one thread per environment. The standard deviation of these sums
// scales the rewards.

struct Args {
    envs: u32, rewards: u32, ended: u32, discounted_returns: u32, input: u32, partial: u32,
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let block = group_index(group, many);
    let env = block * THREADS + local;
    var mine = vec3<f32>(0.0);
    if (env < args.envs) {
        let gamma = mem[args.input + GAMMA];
        var discounted_returns = mem[args.discounted_returns + env];
        for (var t = 0u; t < STEPS; t++) {
            let at = t * args.envs + env;
            let sum = fma(discounted_returns, gamma, mem[args.rewards + at]);
            discounted_returns = select(0.0, sum, words[args.ended + at] == 0u);
            mine = with_one(mine, sum, 1.0 / f32(t + 1u));
        }
        mem[args.discounted_returns + env] = discounted_returns;
    }
    let all = merged_by_all(mine, local);
    if (local < 3u && block * THREADS < args.envs) { mem[args.partial + 3u * block + local] = all[local]; }
}
