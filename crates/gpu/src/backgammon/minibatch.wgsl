// Gathers a minibatch from the samples at the drawn indices, one workgroup per sample. A sample begins with the nine words of its decision.
// From bit 16 on, the ninth word holds the number of shares. The tenth word is the game's outcome for the player who decided. Each share
// follows as one word: an action and its number of visits. From word SAMPLE_WORDS on, each action has one bit, which is 1 if the action is
// legal.

struct Args {
    packed_samples: u32, drawn: u32, rows: u32,
    inputs: u32, mask: u32, share: u32, outcome: u32,
}

// Value that is added to the logits of illegal actions. The value is far below any logit, but so small in magnitude that its f32 sum with a
// logit is exact enough.
const ILLEGAL = -1e9;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let row = group_index(group, many);
    if (row >= args.rows) { return; }
    let packed_sample = args.packed_samples + words[args.drawn + row] * PACKED_SAMPLE_WORDS;
    for (var i = local; i < INPUTS; i += 256u) { mem[args.inputs + row * INPUTS + i] = input(packed_sample, i); }
    for (var i = local; i < ACTIONS; i += 256u) {
        let legal = ((words[packed_sample + SAMPLE_WORDS + i / 32u] >> (i % 32u)) & 1u) == 1u;
        mem[args.mask + row * ACTIONS + i] = select(ILLEGAL, 0.0, legal);
        mem[args.share + row * ACTIONS + i] = 0.0;
    }
    storageBarrier();
    let shares = words[packed_sample + 8u] >> 16u;
    if (local < shares) {
        var visits = 0u;
        for (var i = 0u; i < shares; i++) { visits += words[packed_sample + 10u + i] & 0xFFFFu; }
        let share = words[packed_sample + 10u + local];
        mem[args.share + row * ACTIONS + (share >> 16u)] = f32(share & 0xFFFFu) / f32(visits);
    }
    if (local < HEADS) {
        let ending = words[packed_sample + 9u];
        // Outcomes are numbered: win, gammon won, backgammon won; loss, gammon lost, backgammon lost.
        let first = array<u32, HEADS>(0u, 1u, 2u, 4u, 5u)[local];
        let end = select(6u, 3u, local < 3u);
        mem[args.outcome + row * HEADS + local] = f32(ending >= first && ending < end);
    }
}
