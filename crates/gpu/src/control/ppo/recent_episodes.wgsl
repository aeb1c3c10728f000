// Writes the number of episodes that ended in the rollout, and the returns and lengths of the latest RECENT episodes. The latest episode is
// first. Episodes are ordered by step, then by environment.

struct Args {
    places: u32, blocks: u32, ended: u32, counts: u32, returns: u32,
    finished: u32, lengths: u32, all: u32,
}

var<workgroup> parts: array<u32, THREADS>;
var<workgroup> idle: u32;

// Returns the sum of `mine` over this thread and all threads with a higher index.
fn sum_from_here(mine: u32, local: u32) -> u32 {
    workgroupBarrier();
    parts[local] = mine;
    for (var ahead = 1u; ahead < THREADS; ahead *= 2u) {
        workgroupBarrier();
        var more = 0u;
        if (local + ahead < THREADS) { more = parts[local + ahead]; }
        workgroupBarrier();
        parts[local] += more;
    }
    workgroupBarrier();
    return parts[local];
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let block = group_index(group, many);
    var counted = 0u;
    for (var i = block + 1u + local; i < args.blocks; i += THREADS) { counted += words[args.counts + i]; }
    sum_from_here(counted, local);
    let newer = parts[0];
    if (local == 0u) {
        var here = 0u;
        if (block < args.blocks) { here = words[args.counts + block]; }
        if (block == 0u) { words[args.all] = newer + here; }
        idle = select(0u, 1u, here == 0u || newer >= RECENT);
    }
    if (workgroupUniformLoad(&idle) == 1u) { return; }

    const EACH = SPAN / THREADS;
    let first = block * SPAN + local * EACH;
    let beyond = min(first + EACH, args.places);
    var mine = 0u;
    for (var at = first; at < beyond; at++) { mine += select(0u, 1u, words[args.ended + at] != 0u); }
    // Number of episodes that ended in the elements from `first` on.
    var after = newer + sum_from_here(mine, local);
    for (var at = first; at < beyond; at++) {
        let end = words[args.ended + at];
        if (end == 0u) { continue; }
        after -= 1u;
        if (after < RECENT) {
            mem[args.finished + after] = mem[args.returns + at];
            words[args.lengths + after] = end >> LENGTH_SHIFT;
        }
    }
}
