// Merges the moments of all blocks of environments, one workgroup per quantity. The input is `[quantities][blocks][3]`, the output
// `[quantities][3]`.

struct Args { blocks: u32, partial: u32, episode_returns: u32 }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    var mine = vec3<f32>(0.0);
    for (var block = local; block < args.blocks; block += THREADS) {
        let at = args.partial + 3u * (group.x * args.blocks + block);
        mine = merged(mine, vec3<f32>(mem[at], mem[at + 1u], mem[at + 2u]));
    }
    let all = merged_by_all(mine, local);
    if (local < 3u) { mem[args.episode_returns + 3u * group.x + local] = all[local]; }
}
