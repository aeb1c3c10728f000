// One of CHOICES: the first whose cumulative probability is above a uniform number.

fn draw(env: u32) -> Drawn {
    var reached: array<f32, CHOICES>;
    let logits = args.policy + env * CHOICES;
    var top = mem[logits];
    for (var i = 1u; i < CHOICES; i++) { top = max(top, mem[logits + i]); }
    var sum = 0.0;
    for (var i = 0u; i < CHOICES; i++) {
        sum += poly_exp(mem[logits + i] - top);
        reached[i] = sum;
    }
    let block = draw_words(env);
    let place = uniform_of(block[env / 32u % 4u]) * sum;
    var choice = 0u;
    for (var i = 1u; i < CHOICES; i++) { choice += select(0u, 1u, place >= reached[i - 1u]); }
    return Drawn(f32(choice), mem[logits + choice] - top - poly_ln(sum), f32(choice));
}
