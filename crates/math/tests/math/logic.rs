//! Layers of soft gates, compared with their definitions on every instruction set.

use math::logic::{
    CELLS, Form, Layer, Rows, Run, SLACK, SUMS, Slopes, backward, clip, coefficients, forward, forward_moved, gather, scatter, slopes,
    soft_len,
};
use math::{Isa, Rng};
use testkit::test;

fn uniform(seed: u32, len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    Rng::new(seed, 1).fill_uniform(Isa::best(), 0, &mut values);
    values
}

/// Asserts equal bits within each class of instruction sets.
fn same_bits<T: PartialEq + Clone>(f: impl Fn(Isa) -> T) {
    for fused in [true, false] {
        let mut sets = Isa::available().into_iter().filter(|isa| isa.fused() == fused);
        let Some(first) = sets.next().map(&f) else { continue };
        assert!(sets.all(|isa| f(isa) == first));
    }
}

#[test]
fn layers_evaluate_their_polynomials() {
    // The gates include gates with a shared input, a gate that uses one input twice, gates with equal pairs of inputs, and paths and fans
    // longer than a walk. One input is read by no gate.
    let long = 40;
    let mut pairs = vec![(0, 1), (2, 3), (1, 2), (4, 4), (4, 0), (3, 1), (0, 5), (3, 1), (4, 4), (1, 0), (3, 5)];
    pairs.extend((7..long - 1).map(|i| (i, i + 1)));
    pairs.extend((7..long - 2).step_by(2).map(|i| (i, i + 2)));
    pairs.extend([(8, 7); 19]);
    let (a, b): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    let (inputs, gates) = (long as usize, a.len());
    for width in [32, 64] {
        let mut layer = Layer::new(width, inputs, &a, &b);
        let mut rows = Rows::new(inputs, 1);
        let inputs_at: Vec<u32> = (0..inputs as u32).collect();
        let outputs_at = layer.move_in(&mut rows, &inputs_at);
        assert!(rows.count() < inputs + gates);
        let (x, dy) = (uniform(1, inputs * width), uniform(2, gates * width));
        let c: Vec<[f32; 4]> = uniform(3, 4 * gates).as_chunks().0.to_vec();
        let of = |isa| {
            let (mut y, mut dx) = (vec![f32::NAN; gates * width], vec![f32::NAN; inputs * width]);
            let mut sums = vec![1.0; SUMS * gates];
            let layers = std::slice::from_ref(&layer);
            forward(isa, layers, &c, &x, &mut [], &mut y);
            let back = |dx: &mut [f32], sums: &mut [f32], adds| {
                let slopes = Slopes { dy: &dy, between: [&mut [], &mut []], dx, adds, sums };
                backward(isa, layers, &c, &x, &[], slopes);
            };
            back(&mut dx, &mut sums, false);
            let (mut twice, mut ignored) = (dx.clone(), sums.clone());
            back(&mut twice, &mut ignored, true);
            for (twice, once) in twice.iter().zip(&dx) {
                assert!((twice - 2.0 * once).abs() <= 1e-5 * once.abs());
            }
            // If the outputs are in the shared memory, the results are the same, and the first input is not overwritten.
            let mut memory = vec![f32::NAN; rows.count() * width];
            for (x, &row) in x.chunks(width).zip(&inputs_at) {
                memory[row as usize * width..][..width].copy_from_slice(x);
            }
            forward_moved(isa, layers, &c, &mut memory);
            assert!(memory[..width] == x[..width]);
            for (y, &row) in y.chunks(width).zip(&outputs_at) {
                assert!(memory[row as usize * width..][..width] == *y);
            }
            (y, dx, sums)
        };
        same_bits(of);
        let (y, dx, sums) = of(Isa::best());
        let mut expected_dx = vec![0.0; dx.len()];
        for (i, &gate) in layer.order().iter().enumerate() {
            let g = gate as usize;
            let c = c[i].map(f64::from);
            let mut dc = [0.0; 4];
            for lane in 0..width {
                let (at_a, at_b) = (a[g] as usize * width + lane, b[g] as usize * width + lane);
                let [a, b] = [at_a, at_b].map(|at| f64::from(x[at]));
                let d = f64::from(dy[g * width + lane]);
                let value = c[0] + c[1] * a + c[2] * b + c[3] * a * b;
                assert!((f64::from(y[g * width + lane]) - value).abs() < 1e-6);
                expected_dx[at_a] += d * (c[1] + c[3] * b);
                expected_dx[at_b] += d * (c[2] + c[3] * a);
                for (dc, x) in dc.iter_mut().zip([1.0, a, b, a * b]) {
                    *dc += d * x;
                }
            }
            for (dc, four) in dc.iter().zip(sums[SUMS * i..][..SUMS].chunks(4)) {
                let sum: f64 = four.iter().map(|&x| f64::from(x) - 1.0).sum();
                assert!((sum - dc).abs() < 1e-5 * dc.abs(), "{sum} {dc}");
            }
        }
        for (x, y) in dx.iter().zip(&expected_dx) {
            assert!((f64::from(*x) - y).abs() < 1e-5, "{x} {y}");
        }
    }
}

#[test]
fn scatter_is_the_backward_pass_of_gather() {
    let (group, stride) = (2, 13);
    let plane = 9 * stride;
    let runs = [(0, 20, 9), (9, 33, 11), (20, 46, 1), (21, 60, 3)].map(|(lane, at, len)| Run { lane, at, len });
    let x = uniform(1, group * plane + SLACK);
    let dy = uniform(2, 9 * group * CELLS);
    let of = |isa| {
        let mut y = vec![0.0; 9 * group * CELLS + SLACK];
        let mut dx = vec![0.0; group * plane];
        gather(isa, &runs, [stride, plane, group], &x, &mut y);
        scatter(isa, &runs, [stride, plane, group], &dy, &mut dx);
        (y, dx)
    };
    let (y, dx) = of(Isa::best());
    let mut expected = vec![0.0; group * plane];
    for (k, c) in (0..9).flat_map(|k| (0..group).map(move |c| (k, c))) {
        for run in runs {
            for i in 0..run.len as usize {
                let from = c * plane + run.at as usize + i + k / 3 * stride + k % 3 - stride - 1;
                let to = (k * group + c) * CELLS + run.lane as usize + i;
                assert_eq!(y[to], x[from]);
                expected[from] += dy[to];
            }
        }
    }
    assert!(dx.iter().zip(&expected).all(|(x, y)| (x - y).abs() < 1e-5));
    for isa in Isa::available() {
        assert!(of(isa).1 == dx, "{isa:?}"); // sums only, so both classes have the same bits
    }
}

#[test]
fn forms_agree_on_all_instruction_sets() {
    let gates = 37; // not a multiple of the number of gates per tile
    let places: Vec<u32> = (0..gates as u32).map(|g| (g * 5) % gates as u32).collect();
    let sums = uniform(2, SUMS * gates);
    let noise = uniform(3, 16 * gates);
    for form in [Form::Softmax, Form::Four, Form::StraightThrough { noise: &noise, temperature: 0.7 }] {
        let params: Vec<f32> = uniform(1, form.width() * gates).into_iter().map(|x| 6.0 * x - 3.0).collect();
        let of = |isa| {
            let mut soft = vec![0.0; soft_len(form, gates)];
            let mut c = vec![[0.0; 4]; gates];
            let mut grads = vec![0.0; params.len()];
            coefficients(isa, form, &params, &places, &mut soft, &mut c);
            slopes(isa, form, &soft, &places, &sums, &mut grads);
            (c, grads)
        };
        same_bits(of);
        // In every form, the value of a gate for each pair of bits is a probability. A constant added to all logits has no effect, so the
        // slopes of the logits sum to 0.
        let (c, grads) = of(Isa::best());
        for [c0, c1, c2, c3] in c {
            for corner in [c0, c0 + c1, c0 + c2, c0 + c1 + c2 + c3] {
                assert!((-1e-6..1.0 + 1e-6).contains(&corner));
            }
        }
        if form.width() == 16 {
            assert!(grads.chunks(16).all(|gate| gate.iter().sum::<f32>().abs() < 1e-5));
        }
    }
    let mut x = [-3.0, 0.5, 2.0, f32::NAN, 1.0].repeat(7);
    clip(Isa::best(), 1.0, &mut x);
    for five in x.chunks(5) {
        assert!(five[..3] == [-1.0, 0.5, 1.0] && five[3].is_nan() && five[4] == 1.0);
    }
}
