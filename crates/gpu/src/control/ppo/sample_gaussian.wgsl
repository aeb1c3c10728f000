// Draws each number of a continuous action from a Gaussian distribution. The policy computes the mean of the distribution; the standard
// deviation is a parameter.

// ½·ln 2π
const HALF_LN_TAU: f32 = 0.9189385;

struct Number { drawn: f32, log_prob: f32, given: f32 }

fn draw_number(env: u32, number: u32) -> Number {
    let log_spread = mem[args.spread + number];
    let block = draw_words(env, number);
    let word = env / 32u % 4u;
    let pair = select(block.xy, block.zw, word >= 2u);
    let both = normals(pair.x, pair.y);
    let noise = select(both.x, both.y, word % 2u == 1u);
    let drawn = fma(noise, poly_exp(log_spread), mem[args.policy + env * NUMBERS + number]);
    let log_prob = fma(noise * noise, -0.5, -log_spread - HALF_LN_TAU);
    var within = clamp(drawn, -1.0, 1.0);
    if (SQUASHED) { within = poly_tanh(drawn); }
    return Number(drawn, log_prob, fma(within, args.half_range, args.middle));
}

fn draw(env: u32, mask: u32) -> Drawn {
    var log_prob = 0.0;
    #NUMBERS let number_# = draw_number(env, #u); log_prob += number_#.log_prob;
    let action = Action(
        #NUMBERS number_#.drawn,
    );
    let given = Action(
        #NUMBERS number_#.given,
    );
    return Drawn(action, log_prob, given);
}
