// Definitions shared by all kernels of a population. A row has one number for each cell of each sample; a lane is one cell of one sample.
// The first rows are the nine cells of the neighbourhood in each channel, `[channel][place]`. The next rows are the outputs of the
// evaluated gates, layer by layer; for the perception, `[channel][kernel][gate]`. The last rows are the cell's next channels. Constants in
// capitals precede this text.

struct Args {
    // In `mem`, of all members: [member][gate][parameter]
    params: u32, m: u32, v: u32,
    // [member][gate][c0, c1, c2, c3]; slopes of the loss in these coefficients
    coefficients: u32, slopes: u32,
    // [step][member][sample][channel][cell]; slopes in the newest state; [member][sample][channel][cell]
    states: u32, d_state: u32, targets: u32,
    // For the members of the dispatch: [member][row][lane]; slopes in these numbers
    x: u32, d: u32,
    // Squared gradient norms [member][gate]; [member](loss, gradient norm)
    squares: u32, sums: u32,
    // (lr, beta1, beta2, eps, weight decay, clip); [member](1/(1 - beta1^t), 1/(1 - beta2^t))
    knobs: u32, corrections: u32,
    // In `words`: [member](seed, updates, nonzero if it trains, 0); [member][row - INPUTS] two inputs, 16 bits each
    standing: u32, wires: u32,
    // [member][row] index of the first reader; [member] readers, each 2 * its row, + 1 if it reads as second input
    readers_begin: u32, readers: u32,
    // [row - INPUTS] gate; [gate](first row, stride, number of rows)
    gate_of: u32, rows_of: u32,
    // First member, row and step of this dispatch
    member: u32, row: u32, step: u32,
}

fn learns(member: u32) -> bool { return words[args.standing + 4u * member + 2u] != 0u; }

fn row_at(base: u32, member: u32, row: u32) -> u32 {
    return base + ((member - args.member) * ROWS + row) * ROW;
}

fn gate_at(base: u32, member: u32, gate: u32) -> u32 { return base + 4u * (member * GATES + gate); }

fn four_at(at: u32) -> vec4<f32> { return vec4<f32>(mem[at], mem[at + 1u], mem[at + 2u], mem[at + 3u]); }

// Numbers of the four lanes of a thread. They are SIZE apart, so that adjacent threads read adjacent numbers.
fn lanes_at(at: u32) -> vec4<f32> {
    return vec4<f32>(mem[at], mem[at + SIZE], mem[at + 2u * SIZE], mem[at + 3u * SIZE]);
}

fn set_lanes(at: u32, x: vec4<f32>) {
    mem[at] = x.x;
    mem[at + SIZE] = x.y;
    mem[at + 2u * SIZE] = x.z;
    mem[at + 3u * SIZE] = x.w;
}

// Rows of both inputs of the gate in row `row`.
fn inputs_of(member: u32, row: u32) -> vec2<u32> {
    let both = words[args.wires + member * (ROWS - INPUTS) + row - INPUTS];
    return vec2<u32>(both & 0xffffu, both >> 16u);
}

fn coefficients_of(member: u32, row: u32) -> vec4<f32> {
    return four_at(gate_at(args.coefficients, member, words[args.gate_of + row - INPUTS]));
}

// Index of a channel's cell within one state.
fn cell_at(member: u32, lane: u32, channel: u32, cell: u32) -> u32 {
    return (member * BATCH + lane / PLANE) * CHANNELS * PLANE + channel * PLANE + cell;
}

fn state_at(step: u32, member: u32, lane: u32, channel: u32, cell: u32) -> u32 {
    return args.states + step * MEMBERS * BATCH * CHANNELS * PLANE + cell_at(member, lane, channel, cell);
}

// Index of the cell at offset `by` from a cell, or PLANE outside the grid.
fn cell_from(cell: u32, by: vec2<i32>) -> u32 {
    let size = vec2<i32>(WIDTH, HEIGHT);
    let at = vec2<i32>(i32(cell) % WIDTH, i32(cell) / WIDTH) + by;
    let inside = (at + size) % size;
    if (!PERIODIC && any(inside != at)) { return PLANE; }
    return u32(inside.y * WIDTH + inside.x);
}

fn place(k: u32) -> vec2<i32> { return vec2<i32>(i32(k % 3u), i32(k / 3u)) - 1; }

// `learn::logic::fire` for one cell: number i of a filling is word (i / 16) % 4 of block 16 * (i / 64) + i % 16.
fn fires(member: u32, lane: u32) -> bool {
    if (!ASYNCHRONOUS) { return true; }
    let at = args.standing + 4u * member;
    let key = vec4<u32>(words[at], PURPOSE_FIRE, words[at + 1u], args.step);
    let cell = lane % PLANE;
    let block = threefry(key, vec4<u32>(16u * (cell / 64u) + cell % 16u, lane / PLANE, 0u, 2u));
    return uniform_of(block[(cell / 16u) % 4u]) <= RATE;
}
