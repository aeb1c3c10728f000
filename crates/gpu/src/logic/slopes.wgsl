// Adds the contribution of one step to the slopes of a gate's coefficients. The contribution is a sum over all lanes of the rows that
// evaluate the gate, in a fixed order. Each workgroup computes one gate.

var<workgroup> shares: array<vec4<f32>, SIZE>;

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let member = args.member + group.z;
    let rows = args.rows_of + 3u * group.x;
    let count = select(0u, words[rows + 2u], learns(member));
    var sum = vec4<f32>();
    for (var i = 0u; i < count; i++) {
        let row = words[rows] + i * words[rows + 1u];
        let inputs = inputs_of(member, row);
        let a = row_at(args.x, member, inputs.x);
        let b = row_at(args.x, member, inputs.y);
        let d = row_at(args.d, member, row);
        for (var lane = local; lane < LANES; lane += SIZE) {
            let x = mem[a + lane];
            let y = mem[b + lane];
            sum = fma(vec4<f32>(mem[d + lane]), vec4<f32>(1.0, x, y, x * y), sum);
        }
    }
    shares[local] = sum;
    workgroupBarrier();
    for (var half = SIZE / 2u; half > 0u; half >>= 1u) {
        if (local < half) { shares[local] += shares[local + half]; }
        workgroupBarrier();
    }
    if (local == 0u && count > 0u) {
        let at = gate_at(args.slopes, member, group.x);
        for (var i = 0u; i < 4u; i++) { mem[at + i] += shares[0][i]; }
    }
}
