//! The six outcomes of a game and how likely they are, as who has just moved sees them.

/// Outcomes of a game, in the order of `Chances`.
pub const OUTCOMES: usize = 6;

pub type OutcomeProbs = [f32; OUTCOMES];

pub fn turned(probs: &OutcomeProbs) -> OutcomeProbs {
    let [a, b, c, d, e, f] = *probs;
    [d, e, f, a, b, c]
}

/// Of a game that has ended, by its points: below 0 where it is lost.
pub fn ended(points: i32) -> OutcomeProbs {
    let ending = if points > 0 { points - 1 } else { 2 - points };
    std::array::from_fn(|i| if i as i32 == ending { 1.0 } else { 0.0 })
}

/// Points a game, in one order of additions.
pub fn equity(probs: &OutcomeProbs) -> f32 {
    let [a, b, c, d, e, f] = *probs;
    (a - d) + 2.0 * (b - e) + 3.0 * (c - f)
}

/// The place of the best one for who moved: the first where several are.
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
