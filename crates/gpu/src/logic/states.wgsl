// Converts between grid states and rows. WHAT selects one of the four functions below.

fn see(member: u32, row: u32, lane: u32) {
    let cell = cell_from(lane % PLANE, place(row % 9u));
    var x = 0.0;
    if (cell < PLANE) { x = mem[state_at(args.step, member, lane, row / 9u, cell)]; }
    mem[row_at(args.x, member, row) + lane] = x;
}

// Writes the next state of a cell. A cell that does not fire keeps its state.
fn go_on(member: u32, lane: u32) {
    let fire = fires(member, lane);
    for (var channel = 0u; channel < CHANNELS; channel++) {
        var x = mem[state_at(args.step, member, lane, channel, lane % PLANE)];
        if (fire) { x = mem[row_at(args.x, member, ROWS - CHANNELS + channel) + lane]; }
        mem[state_at(args.step + 1u, member, lane, channel, lane % PLANE)] = x;
    }
}

// Writes the slopes of the next state to the last rows, which hold the cell's next channels. If the cell does not fire, these slopes are 0.
fn go_back(member: u32, lane: u32) {
    let fire = fires(member, lane);
    for (var channel = 0u; channel < CHANNELS; channel++) {
        let d = mem[args.d_state + cell_at(member, lane, channel, lane % PLANE)];
        mem[row_at(args.d, member, ROWS - CHANNELS + channel) + lane] = select(0.0, d, fire);
    }
}

// Writes the slope of one channel of a cell's previous state: the sum of the slopes of this number in all neighbourhoods that contain the
// cell. If the cell does not fire, the slope of the next state is added.
fn unsee(member: u32, channel: u32, lane: u32) {
    let cell = lane % PLANE;
    let at = args.d_state + cell_at(member, lane, channel, cell);
    var d = 0.0;
    if (!fires(member, lane)) { d = mem[at]; }
    for (var k = 0u; k < 9u; k++) {
        let by = cell_from(cell, -place(k));
        if (by < PLANE) { d += mem[row_at(args.d, member, 9u * channel + k) + lane - cell + by]; }
    }
    mem[at] = d;
}

@compute @workgroup_size(SIZE)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let member = args.member + group.z;
    let lane = group.x * SIZE + local;
    if (lane >= LANES || !learns(member)) { return; }
    switch WHAT {
        case 0u: { see(member, group.y, lane); }
        case 1u: { go_on(member, lane); }
        case 2u: { go_back(member, lane); }
        default: { unsee(member, group.y, lane); }
    }
}
