// Computes each member's loss, and the slopes of the last state. With LENGTH, computes the norm of each member's gradient instead. Each
// workgroup computes one member.

var<workgroup> shares: array<f32, 256>;

fn whole_sum(x: f32, local: u32) -> f32 {
    shares[local] = x;
    workgroupBarrier();
    for (var half = 128u; half > 0u; half >>= 1u) {
        if (local < half) { shares[local] += shares[local + half]; }
        workgroupBarrier();
    }
    return shares[0];
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let member = args.member + group.z;
    let awake = learns(member);
    var sum = 0.0;
    if (LENGTH) {
        for (var i = local; i < select(0u, GATES, awake); i += 256u) { sum += mem[args.squares + member * GATES + i]; }
    } else {
        let size = BATCH * CHANNELS * PLANE;
        for (var i = local; i < select(0u, size, awake); i += 256u) {
            let channel = i / PLANE % CHANNELS;
            var error = 0.0;
            if (channel < LOSS_CHANNELS) {
                let sample = member * BATCH + i / (CHANNELS * PLANE);
                let target_at = args.targets + (sample * LOSS_CHANNELS + channel) * PLANE + i % PLANE;
                error = mem[args.states + (args.step * MEMBERS + member) * size + i] - mem[target_at];
            }
            mem[args.d_state + member * size + i] = 2.0 * error;
            sum = fma(error, error, sum);
        }
    }
    let all = whole_sum(sum, local);
    if (local == 0u && awake) {
        if (LENGTH) { mem[args.sums + 2u * member + 1u] += sqrt(all); } else { mem[args.sums + 2u * member] += all; }
    }
}
