// Returns 0 if the random number of x is below p, else x / (1 - p), as on the CPU. Among 64 consecutive numbers, number i uses word i / 16
// of random block i % 16.
fn dropped(x: f32, place: u32, p: f32, scale: f32, key: vec4<u32>, step: u32) -> f32 {
    let drawn = threefry(key, vec4<u32>(place / 64u * 16u + place % 16u, step, 0u, 2u));
    let word = place % 64u / 16u;
    let half = select(drawn.xy, drawn.zw, word >= 2u);
    let chance = uniform_of(select(half.x, half.y, word % 2u == 1u));
    return select(x * scale, 0.0, chance < p);
}
