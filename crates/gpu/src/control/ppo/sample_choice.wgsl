// Draws a discrete action: the first of CHOICES actions whose cumulative probability exceeds a uniform random number.

fn draw(env: u32) -> Drawn {
    let logits = args.policy + env * CHOICES;
    #CHOICES let logit_# = mem[logits + #u];
    var top = logit_0;
    #CHOICES top = max(top, logit_#);
    var sum = 0.0;
    #CHOICES sum += poly_exp(logit_# - top); let reached_# = sum;
    let block = draw_words(env, 0u);
    let place = uniform_of(block[env / 32u % 4u]) * sum;
    var choice = 0u;
    // Rounding can make `place` equal to the last cumulative sum. The choice is then the last action.
    #CHOICES choice += select(0u, 1u, #u + 1u < CHOICES && place >= reached_#);
    let action = Action(f32(choice));
    return Drawn(action, mem[logits + choice] - top - poly_ln(sum), action);
}
