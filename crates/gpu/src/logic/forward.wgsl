// Computes the outputs of the gates of one layer.
@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let member = args.member + group.z;
    if (!learns(member)) { return; }
    let row = args.row + group.y;
    let inputs = inputs_of(member, row);
    let c = coefficients_of(member, row);
    let lane = 4u * SIZE * group.x + local;
    let a = lanes_at(row_at(args.x, member, inputs.x) + lane);
    let b = lanes_at(row_at(args.x, member, inputs.y) + lane);
    let y = fma(fma(vec4<f32>(c.w), b, vec4<f32>(c.y)), a, fma(vec4<f32>(c.z), b, vec4<f32>(c.x)));
    set_lanes(row_at(args.x, member, row) + lane, y);
}
