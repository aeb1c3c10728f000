// Computes the slopes of the numbers in the rows of one layer, or in the rows of the neighbourhood. The slope of a number is the sum of the
// contributions of the gates that read the number, in a fixed order.
@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let member = args.member + group.z;
    if (!learns(member)) { return; }
    let row = args.row + group.y;
    let lane = 4u * SIZE * group.x + local;
    let at = args.readers_begin + member * (ROWS + 1u) + row;
    let end = words[at + 1u];
    var sum = vec4<f32>();
    for (var i = words[at]; i < end; i++) {
        let reader = words[args.readers + 2u * member * (ROWS - INPUTS) + i];
        let inputs = inputs_of(member, reader >> 1u);
        let c = coefficients_of(member, reader >> 1u);
        let second = (reader & 1u) != 0u;
        let other = lanes_at(row_at(args.x, member, select(inputs.y, inputs.x, second)) + lane);
        let slope = fma(vec4<f32>(c.w), other, vec4<f32>(select(c.y, c.z, second)));
        sum = fma(lanes_at(row_at(args.d, member, reader >> 1u) + lane), slope, sum);
    }
    set_lanes(row_at(args.d, member, row) + lane, sum);
}
