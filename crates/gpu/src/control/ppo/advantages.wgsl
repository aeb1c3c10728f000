// Computes the advantages A backwards through the rollout, one thread per environment: δ = r + γ·V' - V, A = δ + γλ·A' (Schulman et al.
// 2016). V' and A' are the value and the advantage of the next step. At the end of an episode, A' is 0. V' is then the critic's value of
// the state before the restart if the episode was truncated, else 0.
//
// Also computes moments for each block of environments. The quantities are R = A + V, A, and each number of an observation minus the
// normaliser's mean of this number.

struct Args {
    envs: u32, blocks: u32,
    samples: u32, rewards: u32, ended: u32, truncations: u32, last: u32, bootstraps: u32,
    input: u32, return_moments: u32, normalizer: u32, partial: u32,
}

fn reward_scale() -> f32 {
    if (!REWARDS_NORMALIZED) { return 1.0; }
    let before = mem[args.input + RETURN_SHARE];
    let now = mem[args.input + NEW_SHARE];
    let apart = mem[args.return_moments + 1u] - mem[args.input + RETURN_MEAN];
    let within = before * mem[args.input + RETURN_VARIANCE] + now * (mem[args.return_moments + 2u] / mem[args.return_moments]);
    return 1.0 / sqrt(fma(apart * apart, before * now, within) + 1e-8);
}

// Stores a block's moments of one quantity. All threads of a workgroup must call this function.
fn store(quantity: u32, mine: vec3<f32>, block: u32, local: u32) {
    let all = merged_by_all(mine, local);
    if (local < 3u && block < args.blocks) {
        mem[args.partial + 3u * (quantity * args.blocks + block) + local] = all[local];
    }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let block = group_index(group, many);
    let env = block * THREADS + local;
    var returned = vec3<f32>(0.0);
    var gained = vec3<f32>(0.0);
    #OBSERVED var seen_# = vec3<f32>(0.0);
    if (env < args.envs) {
        let gamma = mem[args.input + GAMMA];
        let decay = mem[args.input + DECAY];
        let scale = reward_scale();
        var cut = words[args.truncations + env];
        var following = mem[args.last + env];
        var later = 0.0;
        for (var back = 0u; back < STEPS; back++) {
            let at = (STEPS - 1u - back) * args.envs + env;
            let sample = args.samples + at * SAMPLE_LEN;
            let end = words[args.ended + at];
            if (end != 0u) {
                following = 0.0;
                later = 0.0;
                if ((end & TERMINATED) == 0u) {
                    cut -= 1u;
                    following = mem[args.bootstraps + cut * args.envs + env];
                }
            }
            var reward = mem[args.rewards + at];
            if (REWARDS_NORMALIZED) { reward = clamp(reward * scale, -NORMALIZED_LIMIT, NORMALIZED_LIMIT); }
            let value = mem[sample + FEATURES + NUMBERS + 2u];
            later = fma(decay, later, fma(gamma, following, reward) - value);
            following = value;
            mem[sample + FEATURES + NUMBERS + 1u] = later;

            let share = 1.0 / f32(back + 1u);
            returned = with_one(returned, later + value, share);
            gained = with_one(gained, later, share);
            #OBSERVED seen_# = with_one(seen_#, mem[sample + #u] - mem[args.normalizer + #u], share);
        }
    }
    store(0u, returned, block, local);
    store(1u, gained, block, local);
    #OBSERVED store(2u + #u, seen_#, block, local);
}
