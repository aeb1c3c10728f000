//! Probabilities of a game's six outcomes, for the player who has just moved.

/// Number of outcomes: single game, gammon and backgammon won, then the same lost, as in `Chances`.
pub const OUTCOMES: usize = 6;

pub type OutcomeProbs = [f32; OUTCOMES];

pub fn turned(probs: &OutcomeProbs) -> OutcomeProbs {
    let [a, b, c, d, e, f] = *probs;
    [d, e, f, a, b, c]
}

/// Probabilities of a game that has ended with these points; negative points are a loss.
pub fn ended(points: i32) -> OutcomeProbs {
    let ending = if points > 0 { points - 1 } else { 2 - points };
    std::array::from_fn(|i| if i as i32 == ending { 1.0 } else { 0.0 })
}

/// Expected points per game. The order of additions is fixed.
pub fn equity(probs: &OutcomeProbs) -> f32 {
    let [a, b, c, d, e, f] = *probs;
    (a - d) + 2.0 * (b - e) + 3.0 * (c - f)
}

/// Index of the entry with the highest equity; the first of equal ones.
pub fn best(all: &[OutcomeProbs]) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (i, probs) in all.iter().enumerate() {
        let equity = equity(probs);
        if equity > best.1 {
            best = (i, equity);
        }
    }
    best.0
}
