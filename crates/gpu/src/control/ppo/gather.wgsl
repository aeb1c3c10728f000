// Gathers the samples of a minibatch in shuffled order and writes them to the inputs of the loss, one thread per sample. As in the learner,
// samples are numbered by actor (128 environments), then by step, then by environment within the actor.

struct Args {
    rows: u32, envs: u32, minibatches: u32, minibatch_places: u32,
    samples: u32, normalizer: u32, moments: u32, input: u32, counters: u32,
    rounds: u32, mask: u32, shift: u32,
    observation: u32, action: u32, old_log_prob: u32, advantage: u32, returned: u32, old_value: u32, permitted: u32,
}

fn shuffled(place: u32, epoch: u32) -> u32 {
    let rounds = args.rounds + 2u * ROUNDS * epoch;
    var x = place;
    loop {
        #ROUNDS x = (x * words[rounds + 2u * #u] + words[rounds + 2u * #u + 1u]) & args.mask; x ^= x >> args.shift;
        if (x < args.envs * STEPS) { break; }
    }
    return x;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let row = group_index(group, many) * THREADS + local;
    if (row >= args.rows) { return; }
    let update = words[args.counters + UPDATE];
    let minibatch = update % args.minibatches;
    let number = shuffled(minibatch * args.minibatch_places + row, update / args.minibatches);
    let actor = number / (128u * STEPS);
    let lanes = min(args.envs - 128u * actor, 128u);
    let of_actor = number - 128u * STEPS * actor;
    let env = 128u * actor + of_actor % lanes;
    let sample = args.samples + (of_actor / lanes * args.envs + env) * SAMPLE_LEN;

    let observation = args.observation + row * FEATURES;
    #FEATURES mem[observation + #u] = normalized(mem[sample + #u], #u);
    let advantage = mem[sample + FEATURES + NUMBERS + 1u];
    let value = mem[sample + FEATURES + NUMBERS + 2u];
    var shown = advantage;
    if (mem[args.input + NORMALIZED_ADVANTAGES] > 0.0) {
        // `args.moments` holds the count, the mean, and the sum of squared deviations of the advantages.
        let spread = sqrt(mem[args.moments + 2u] / mem[args.moments]);
        shown = (advantage - mem[args.moments + 1u]) / (spread + 1e-8);
    }
    #NUMBERS mem[args.action + row * NUMBERS + #u] = mem[sample + FEATURES + #u];
    mem[args.old_log_prob + row] = mem[sample + FEATURES + NUMBERS];
    mem[args.advantage + row] = shown;
    mem[args.returned + row] = advantage + value;
    if (VALUE_CLIPPED) { mem[args.old_value + row] = value; }
    #PERMITTED mem[args.permitted + row * PERMITTED + #u] = mem[sample + MASK_AT + #u];
}
