// Draws a discrete action: the first of CHOICES permitted actions whose cumulative probability exceeds a uniform random number. `mask` is
// the place of the mask, which exists if PERMITTED is not 0. A forbidden action has the probability 0.

fn draw(env: u32, mask: u32) -> Drawn {
    let logits = args.policy + env * CHOICES;
    #CHOICES let logit_# = mem[logits + #u];
    #CHOICES var permitted_# = true;
    #PERMITTED permitted_# = mem[mask + #u] > 0.0;
    var top = LOWEST;
    #CHOICES top = max(top, select(LOWEST, logit_#, permitted_#));
    var sum = 0.0;
    #CHOICES sum += select(0.0, poly_exp(logit_# - top), permitted_#); let reached_# = sum;
    let block = draw_words(env, 0u);
    let place = uniform_of(block[env / 32u % 4u]) * sum;
    // Rounding can make `place` equal to the last cumulative sum. The choice is then the last permitted action.
    var choice = 0u;
    var is_chosen = false;
    #CHOICES if (permitted_# && !is_chosen) { choice = #u; is_chosen = place < reached_#; }
    let action = Action(f32(choice));
    // Only an environment with an error permits no action.
    if (sum == 0.0) { return Drawn(action, 0.0, action); }
    return Drawn(action, mem[logits + choice] - top - poly_ln(sum), action);
}

// Lower than every logit.
const LOWEST: f32 = -3.4e38;
