// Counts the episodes that ended in each block of SPAN elements of `ended`, which is `[T][envs]`.

struct Args { places: u32, blocks: u32, ended: u32, counts: u32 }

var<workgroup> parts: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let block = group_index(group, many);
    var mine = 0u;
    for (var i = local; i < SPAN; i += THREADS) {
        let at = block * SPAN + i;
        if (at < args.places) { mine += select(0u, 1u, words[args.ended + at] != 0u); }
    }
    parts[local] = mine;
    for (var width = THREADS / 2u; width > 0u; width /= 2u) {
        workgroupBarrier();
        if (local < width) { parts[local] += parts[local + width]; }
    }
    workgroupBarrier();
    if (local == 0u && block < args.blocks) { words[args.counts + block] = parts[0]; }
}
