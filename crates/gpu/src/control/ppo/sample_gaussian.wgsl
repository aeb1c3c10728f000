// Draws a continuous action from a Gaussian distribution. The policy computes its mean; its standard deviation is a parameter.

// ½·ln 2π
const HALF_LN_TAU: f32 = 0.9189385;

fn draw(env: u32) -> Drawn {
    let log_spread = mem[args.spread];
    let block = draw_words(env);
    let word = env / 32u % 4u;
    let pair = select(block.xy, block.zw, word >= 2u);
    let both = normals(pair.x, pair.y);
    let noise = select(both.x, both.y, word % 2u == 1u);
    let drawn = fma(noise, poly_exp(log_spread), mem[args.policy + env]);
    let log_prob = fma(noise * noise, -0.5, -log_spread - HALF_LN_TAU);
    var within = clamp(drawn, -1.0, 1.0);
    if (SQUASHED) { within = poly_tanh(drawn); }
    return Drawn(drawn, log_prob, fma(within, args.half_range, args.middle));
}
