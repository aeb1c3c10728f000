//! Probabilities of the six outcomes of a game, for the player who has just moved.

/// Number of outcomes. Their order is that of `Chances`: single game, gammon and backgammon won, then single game, gammon and backgammon
/// lost.
pub const OUTCOMES: usize = 6;

pub type OutcomeProbs = [f32; OUTCOMES];

pub fn turned(probs: &OutcomeProbs) -> OutcomeProbs {
    let [a, b, c, d, e, f] = *probs;
    [d, e, f, a, b, c]
}

/// Returns the outcome probabilities of a finished game in which the player won `points`; negative points are a loss.
pub fn ended(points: i32) -> OutcomeProbs {
    let ending = if points > 0 { points - 1 } else { 2 - points };
    std::array::from_fn(|i| if i as i32 == ending { 1.0 } else { 0.0 })
}

/// Returns the expected points per game. The terms are added in a fixed order.
pub fn equity(probs: &OutcomeProbs) -> f32 {
    let [a, b, c, d, e, f] = *probs;
    (a - d) + 2.0 * (b - e) + 3.0 * (c - f)
}

/// Returns the index of the entry with the highest equity, or the first such index if several entries are equal.
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
