// Normalizes element i of an observation for the networks. `args.normalizer` is the offset of the means; the scales follow.

fn normalized(x: f32, i: u32) -> f32 {
    if (!NORMALIZED) { return x; }
    let y = (x - mem[args.normalizer + i]) * mem[args.normalizer + FEATURES + i];
    return clamp(y, -NORMALIZED_LIMIT, NORMALIZED_LIMIT);
}
