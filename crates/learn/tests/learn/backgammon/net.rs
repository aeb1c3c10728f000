//! The strong learner's networks: evaluations and gradients.

use learn::internals::random_play;
use learn::internals::strong::{
    Block, INPUTS, Inputs, Layer, Network, OUTCOMES, OutcomeProbs, Sample, Shape, Trainer, Valuer, layout, open, read_inputs,
};
use math::{AdamStep, Isa, Rng};
use worlds::backgammon::{BAR, Board};

const SHAPE: Shape = Shape { hidden: 48, narrow: 32, depth: 1, handmade: true, bearoff: true };

/// Returns positions of random play before a roll, each with all results of the roll.
fn positions(count: usize) -> Vec<(Board, Vec<Board>)> {
    let mut positions = Vec::new();
    random_play(count, [6, 5], |board, _, results, _| positions.push((*board, results.to_vec())));
    positions
}

/// Returns initial weights with a scaled-up output layer and with biases that differ from one another.
fn weights(isa: Isa, shape: Shape) -> Vec<f32> {
    let mut weights = shape.first_weights(isa, 8, 1);
    for net in weights.chunks_exact_mut(shape.net_len()) {
        for Layer { out, w, b, .. } in shape.upper_mut(&mut net[shape.steps_len()..]) {
            let factor = if out == OUTCOMES { 20.0 } else { 1.0 };
            w.iter_mut().for_each(|w| *w *= factor);
            b.iter_mut().enumerate().for_each(|(i, b)| *b = 0.01 * i as f32);
        }
    }
    weights
}

#[test]
fn the_value_of_a_board_does_not_depend_on_its_root() {
    let mut first: [Option<Vec<OutcomeProbs>>; 2] = [None, None];
    for isa in Isa::available() {
        let network = Network::new(isa, SHAPE, &weights(Isa::best(), SHAPE));
        let (mut valuer, mut alone, mut all) = (Valuer::default(), Valuer::default(), Vec::new());
        for (root, boards) in positions(150) {
            valuer.value(&network, &root, &boards);
            for (board, probs) in boards.iter().zip(&valuer.probs) {
                alone.value(&network, board, &[*board]);
                assert_eq!(alone.probs[0], *probs, "{isa:?} {board:?}");
                assert!((probs.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{board:?} {probs:?}");
                let shut = (0..OUTCOMES).filter(|outcome| open(board) >> outcome & 1 == 0);
                assert!(valuer.probs.is_empty() || shut.clone().all(|outcome| probs[outcome] == 0.0), "{board:?}");
            }
            all.extend_from_slice(&valuer.probs);
        }
        let known = first[usize::from(isa.fused())].get_or_insert_with(|| all.clone());
        assert!(*known == all, "{isa:?}");
    }
}

#[test]
fn every_legal_board_can_be_evaluated() {
    let network = Network::new(Isa::best(), SHAPE, &weights(Isa::best(), SHAPE));
    let (mut numbers, mut valuer, mut valued) = (Rng::new(7, 7).sequence(0), Valuer::default(), 0);
    for _ in 0..20_000 {
        let mut sides = [[0; BAR]; 2];
        for side in &mut sides {
            // The checkers of a side range from widely scattered to all in one place.
            let (from, span) = (numbers.below(25), 1 + numbers.below(25));
            for _ in 0..numbers.below(16) {
                side[((from + numbers.below(span)) % 25) as usize] += 1;
            }
        }
        let Ok(board) = Board::new(sides[0], sides[1]) else { continue };
        valuer.value(&network, &board, &[board]);
        let sum: f32 = valuer.probs[0].iter().sum();
        assert!((sum - 1.0).abs() < 1e-4 && valuer.probs[0].iter().all(|p| *p >= -1e-6), "{board:?}");
        valued += 1;
    }
    assert!(valued > 4000, "{valued}");
}

/// Computes the mean cross-entropy in f64, as a reference.
fn loss(shape: Shape, weights: &[f64], samples: &[Sample]) -> f64 {
    let (layout, wide) = (layout(), shape.hidden);
    let (steps, upper) = weights.split_at(shape.steps_len());
    let mut table: Vec<Vec<f64>> = Vec::new();
    for grade in &layout.grades {
        let before = if grade.onward { table.last().cloned() } else { None };
        let mut row = before.unwrap_or(vec![0.0; wide]);
        for (sum, step) in row.iter_mut().zip(&steps[grade.step as usize * wide..]) {
            *sum += step * f64::from(grade.scale);
        }
        table.push(row);
    }
    let layer = |w: &[f64], b: &[f64], x: &[f64]| -> Vec<f64> {
        let dot = |row: &[f64]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        w.chunks_exact(x.len()).zip(b).map(|(row, b)| dot(row) + b).collect()
    };
    let relu = |x: Vec<f64>| x.into_iter().map(|x| x.max(0.0)).collect::<Vec<f64>>();
    let (mut all, mut rows) = (0.0, Vec::new());
    for sample in samples {
        layout.all(&sample.inputs, &mut rows);
        let sum = |c: usize| rows.iter().map(|&row| table[usize::from(row)][c]).sum::<f64>();
        let (mut logits, mut rest) = ((0..wide).map(sum).collect::<Vec<f64>>(), upper);
        for (out, inp) in shape.layers() {
            let (w, after) = rest.split_at(out * inp);
            let (b, after) = after.split_at(out);
            (logits, rest) = (layer(w, b, &relu(logits)), after);
        }
        let is_open = |outcome: &usize| sample.open >> outcome & 1 == 1;
        let whole: f64 = (0..OUTCOMES).filter(is_open).map(|outcome| logits[outcome].exp()).sum();
        for outcome in (0..OUTCOMES).filter(is_open) {
            all -= f64::from(sample.target[outcome]) * (logits[outcome] - whole.ln());
        }
    }
    all / samples.len() as f64
}

/// Checks the index of each layer's random numbers; see [`Shape::first_weights`].
#[test]
fn each_layer_is_initialized_from_its_own_stream() {
    let shape = Shape { hidden: 16, narrow: 8, depth: 3, handmade: true, bearoff: true };
    let (isa, rng) = (Isa::best(), Rng::new(9, 2));
    let weights = shape.first_weights(isa, 9, 2);
    let sizes = [0.1, (2.0f32 / 16.0).sqrt(), 0.5, 0.5, 0.02];
    for (net, places) in [[0, 1, 6, 8, 2], [3, 4, 7, 9, 5]].into_iter().enumerate() {
        let weights = &weights[net * shape.net_len()..][..shape.net_len()];
        let (steps, upper) = weights.split_at(shape.steps_len());
        let layers = [steps].into_iter().chain(shape.upper(upper).map(|layer| layer.w));
        for ((layer, place), size) in layers.zip(places).zip(sizes) {
            let mut drawn = vec![0.0; layer.len()];
            rng.fill_normal(isa, place, &mut drawn);
            assert!(layer.iter().zip(drawn).all(|(w, drawn)| *w == drawn * size), "network {net}, numbers {place}");
        }
    }
}

#[test]
fn gradients_match_finite_differences() {
    check_gradients(SHAPE);
    check_gradients(Shape { hidden: 32, narrow: 24, depth: 3, handmade: false, bearoff: false });
}

fn check_gradients(shape: Shape) {
    let isa = Isa::best();
    let weights = weights(isa, shape);
    let mut network = Network::new(isa, shape, &weights);
    let boards: Vec<Board> = positions(90).iter().map(|(_, results)| results[0]).collect();
    let mut inputs = vec![[0; INPUTS]; boards.len()];
    read_inputs(isa, shape.handmade, &boards, &mut inputs);
    let sample = |(i, (board, inputs)): (usize, (&Board, Inputs))| {
        let mut target = [0.0; OUTCOMES];
        (target[0], target[3]) = if i % 3 == 0 { (0.25, 0.75) } else { (0.75, 0.25) };
        Sample { inputs, open: open(board), net: 0, target }
    };
    let samples: Vec<Sample> = boards.iter().zip(inputs).enumerate().map(sample).collect();
    let net = &weights[..shape.net_len()];
    let mut trainer = Trainer::new(isa, shape);
    let before = trainer.gradients(&network, 0, net, &samples);
    let exact: Vec<f64> = net.iter().map(|&w| f64::from(w)).collect();
    assert!((f64::from(before) - loss(shape, &exact, &samples)).abs() < 1e-5);
    // The first block is full, so its buffers have their final size. They are most of the block's memory.
    let Block { hidden, narrow, logits, shares, d_narrow, d_hidden, upper, .. } = &trainer.blocks[0];
    let buffers = [hidden, narrow, logits, shares, d_narrow, d_hidden, upper];
    let bytes = 4 * buffers.iter().map(|numbers| numbers.len()).sum::<usize>();
    assert!((bytes..2 * bytes).contains(&Block::bytes(shape)), "{bytes}");
    // Checks the parameters with the greatest gradients in each half of the steps and in the upper layers. Also checks about ten evenly
    // spaced parameters of the steps, and the biases of the output layer.
    let part = |range: std::ops::Range<usize>| {
        let mut places: Vec<usize> = range.collect();
        places.sort_by(|&a, &b| trainer.grads[b].abs().total_cmp(&trainer.grads[a].abs()));
        places.truncate(12);
        places
    };
    let (steps, len) = (shape.steps_len(), shape.net_len());
    let places = part(0..steps / 2).into_iter().chain(part(steps / 2..steps)).chain(part(steps..len));
    for place in places.chain((0..steps).step_by(steps / 10)).chain(len - OUTCOMES..len) {
        let slope = |by: f64| {
            let mut moved = exact.clone();
            moved[place] += by;
            loss(shape, &moved, &samples)
        };
        let by = 1e-5;
        let (there, here) = ((slope(by) - slope(-by)) / (2.0 * by), f64::from(trainer.grads[place]));
        assert!((there - here).abs() < 1e-4 * (1.0 + 10.0 * there.abs()), "{place}: {here} {there}");
    }
    // A step reduces the loss, and `learn` loads the new weights into the network.
    let (mut learned, mut m, mut v) = (weights.clone(), vec![0.0; net.len()], vec![0.0; net.len()]);
    let step = AdamStep::new(1, 1e-3, 0.9, 0.999, 1e-8);
    trainer.learn(&mut network, 0, &mut learned[..len], [&mut m, &mut v], step, &samples);
    let less = trainer.gradients(&network, 0, &learned[..len], &samples);
    assert!(less < before - 1e-3, "{less} {before}");
    let fresh = Network::new(isa, shape, &learned);
    let layers = fresh.nets[0].layers.iter().zip(&network.nets[0].layers);
    assert!(layers.into_iter().all(|(a, b)| a.w == b.w && a.b == b.b));
    assert!(fresh.nets[0].table == network.nets[0].table);
}
