// How observations are shown to the networks. A lens is means and then scales at `args.lens`.

fn through_lens(x: f32, i: u32) -> f32 {
    if (!NORMALIZED) { return x; }
    let y = (x - mem[args.lens + i]) * mem[args.lens + FEATURES + i];
    return clamp(y, -FARTHEST, FARTHEST);
}
