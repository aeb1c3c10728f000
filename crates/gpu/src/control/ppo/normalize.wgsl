// Observations as the networks see them. Means and then scales stand at `args.normalizer`.

fn normalized(x: f32, i: u32) -> f32 {
    if (!NORMALIZED) { return x; }
    let y = (x - mem[args.normalizer + i]) * mem[args.normalizer + FEATURES + i];
    return clamp(y, -NORMALIZED_LIMIT, NORMALIZED_LIMIT);
}
