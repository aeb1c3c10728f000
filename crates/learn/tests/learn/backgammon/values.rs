//! Values of the strong learner's networks on boards, for drawings.

use learn::NetworkValues;
use learn::backgammon::positions;
use learn::internals::strong::{Network, OUTCOMES, Shape, Valuer, open, values};
use math::Isa;
use worlds::backgammon::Board;

/// The softmax of the last layer over the possible outcomes equals the estimate of the player.
#[test]
fn last_layer_has_the_estimates_of_the_player() {
    let isa = Isa::best();
    for (handmade, depth) in [(true, 1), (false, 2)] {
        let shape = Shape { hidden: 64, narrow: 32, depth, handmade, bearoff: false };
        let weights = shape.first_weights(isa, 3, 1);
        let boards: Vec<Board> = positions(400).iter().map(|(board, _)| board.turned()).collect();
        let found = values(shape, &weights, &boards, isa).unwrap();
        assert_eq!(found.len(), 2, "boards in contact and races");
        let mut valuer = Valuer::default();
        valuer.value(&Network::new(isa, shape, &weights), &Board::START, &boards);
        for (net, values) in found.iter().enumerate() {
            let here = (0..boards.len()).filter(|&i| valuer.nets[i] == Some(net));
            let logits = values.layers.last().unwrap().values.as_chunks::<OUTCOMES>().0;
            assert_eq!(values.layers.len(), depth + 2);
            assert_eq!(logits.len(), here.clone().count());
            for (logits, board) in logits.iter().zip(here) {
                let odds: Vec<f32> = (0..OUTCOMES).map(|i| f32::from(open(&boards[board]) >> i & 1) * logits[i].exp()).collect();
                let sum: f32 = odds.iter().sum();
                let odds: Vec<f32> = odds.iter().map(|odds| odds / sum).collect();
                testkit::close("probabilities", &odds, &valuer.probs[board], 1e-4, 1e-4);
            }
        }
    }
}

/// The drawn weights of the inputs sum to the sums of the first hidden layer.
#[test]
fn inputs_sum_to_the_first_layer() {
    let (isa, shape) = (Isa::best(), Shape { hidden: 32, narrow: 32, depth: 1, handmade: true, bearoff: false });
    let weights = shape.first_weights(isa, 3, 1);
    let NetworkValues { inputs, layers, .. } = values(shape, &weights, &[Board::START], isa).unwrap().remove(0);
    assert!(inputs.len() > 30, "the start has {} inputs", inputs.len());
    for (unit, &found) in layers[0].values.iter().enumerate() {
        let terms = inputs.iter().flat_map(|input| &input.terms);
        let sum: f32 = terms.map(|&(step, scale)| scale * weights[step * shape.hidden + unit]).sum();
        assert!((sum.max(0.0) - found).abs() < 1e-4, "{sum} {found}");
    }
}
