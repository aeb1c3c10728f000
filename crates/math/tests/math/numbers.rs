//! Functions of `poly`, compared with those of std in f64 over their whole range. The generator is compared with the known answers of
//! Random123 1.14 (its `tests/kat_vectors`).

use math::{Isa, Rng, Simd, Unfused, kernel, poly, rng};
use testkit::test;

/// Returns the largest error of `f` for x in [from, to] over all sets. An error is relative to the expected value, or to `absolute` if
/// `absolute` is larger.
fn worst(from: f32, to: f32, absolute: f64, f: impl Fn(Isa, f32) -> f32, want: impl Fn(f64) -> f64) -> f64 {
    let steps = if testkit::all() { 40_000 } else { 10_000 };
    let error = |isa, i| {
        let x = from + (to - from) * (i as f32 / steps as f32);
        let want = want(f64::from(x));
        (f64::from(f(isa, x)) - want).abs() / want.abs().max(absolute)
    };
    let error = &error;
    testkit::worst(Isa::available().into_iter().flat_map(|isa| (0..=steps).map(move |i| error(isa, i))))
}

#[test]
fn functions_are_within_two_units() {
    let figures = [
        ("exp", worst(-87.0, 88.7, 0.0, poly::exp_1, f64::exp)),
        ("exp near 0", worst(-0.5, 0.5, 0.0, poly::exp_1, f64::exp)),
        ("2^x, x below 1", worst(-125.0, 1.0, 0.0, poly::exp2_below_1, f64::exp2)),
        ("exp within", worst(-87.0, 88.0, 0.0, poly::exp_within_1, f64::exp)),
        ("ln", worst(1e-30, 1e30, 0.0, poly::ln_1, f64::ln)),
        ("ln near 1", worst(0.5, 2.0, 1e-30, poly::ln_1, f64::ln)),
        ("ln, small", worst(1e-42, 1e-36, 0.0, poly::ln_1, f64::ln)),
        ("tanh", worst(-10.0, 10.0, 1e-30, poly::tanh_1, f64::tanh)),
        ("tanh near 0", worst(-1e-3, 1e-3, 1e-30, poly::tanh_1, f64::tanh)),
        ("sigmoid", worst(-80.0, 80.0, 0.0, poly::sigmoid_1, |x| 1.0 / (1.0 + (-x).exp()))),
        ("sin", worst(-100.0, 100.0, 1.0, |isa, x| poly::sin_cos_1(isa, x).0, f64::sin)),
        ("cos", worst(-100.0, 100.0, 1.0, |isa, x| poly::sin_cos_1(isa, x).1, f64::cos)),
        ("tan", worst(-1.5, 1.5, 1e-3, poly::tan_1, f64::tan)),
        ("atan2 of (x, 1)", worst(-20.0, 20.0, 1e-30, |isa, x| poly::atan2_1(isa, x, 1.0), f64::atan)),
        ("atan2 of (1, x)", worst(-20.0, 20.0, 1e-30, |isa, x| poly::atan2_1(isa, 1.0, x), |x| 1f64.atan2(x))),
        ("atan2 of (-1, x)", worst(-20.0, 20.0, 1e-30, |isa, x| poly::atan2_1(isa, -1.0, x), |x| (-1f64).atan2(x))),
    ];
    println!("{figures:?}");
    for (name, error) in figures {
        assert!(error <= 3e-7, "{name}: {error:e}");
    }
}

#[test]
fn functions_at_the_edges() {
    for isa in Isa::available() {
        let name = isa.name();
        let inf = f32::INFINITY;
        assert_eq!(poly::exp_1(isa, 0.0), 1.0, "{name}");
        assert_eq!(poly::exp_1(isa, 200.0), inf, "{name}");
        assert_eq!(poly::exp_1(isa, -200.0), 0.0, "{name}");
        assert_eq!(poly::exp_1(isa, inf), inf, "{name}");
        assert_eq!(poly::exp_1(isa, -inf), 0.0, "{name}");
        assert_eq!(poly::exp2_below_1(isa, 0.0), 1.0, "{name}");
        assert_eq!(poly::exp2_below_1(isa, -inf), 0.0, "{name}");
        assert_eq!(poly::exp_within_1(isa, -inf), poly::exp_within_1(isa, -87.0), "{name}");
        assert_eq!(poly::exp_within_1(isa, inf), poly::exp_within_1(isa, 88.0), "{name}");
        assert_eq!(poly::ln_1(isa, 1.0), 0.0, "{name}");
        assert_eq!(poly::ln_1(isa, 0.0), -inf, "{name}");
        assert_eq!(poly::ln_1(isa, inf), inf, "{name}");
        assert!(poly::ln_1(isa, -1.0).is_nan(), "{name}");
        assert_eq!(poly::tanh_1(isa, 0.0), 0.0, "{name}");
        assert_eq!(poly::tanh_1(isa, inf), 1.0, "{name}");
        assert_eq!(poly::tanh_1(isa, -inf), -1.0, "{name}");
        for f in [poly::exp_1, poly::exp2_below_1, poly::exp_within_1, poly::ln_1, poly::tanh_1, poly::sigmoid_1] {
            assert!(f(isa, f32::NAN).is_nan(), "{name}");
        }
        assert_eq!(poly::sin_cos_1(isa, 0.0), (0.0, 1.0), "{name}");
        for zero in [0.0f32, -0.0] {
            for (function, found) in
                [("sin", poly::sin_cos_1(isa, zero).0), ("tan", poly::tan_1(isa, zero)), ("tanh", poly::tanh_1(isa, zero))]
            {
                assert_eq!(found.to_bits(), zero.to_bits(), "{name}: {function} of {zero:?}");
            }
        }
        for y in [0.0, -0.0, 1.0, -1.0, inf, -inf, f32::NAN] {
            for x in [0.0, -0.0, 1.0, -1.0, inf, -inf, f32::NAN] {
                let (found, expected) = (poly::atan2_1(isa, y, x), y.atan2(x));
                let equal = (found - expected).abs() <= 1e-6 && found.is_sign_negative() == expected.is_sign_negative();
                assert!(equal || (found.is_nan() && expected.is_nan()), "{name}: atan2({y}, {x}) = {found}, not {expected}");
            }
        }
    }
}

#[test]
fn every_vector_operation() {
    let all = |isa: Isa, a: f32, b: f32, u: u32| {
        kernel!(isa, |s: S, a: f32, b: f32, u: u32| -> Vec<u32> {
            let start = u;
            let (a, b, u) = (s.splat(a), s.splat(b), s.splat_u(u));
            let truth = |m| s.mask_bits(m) & 1;
            let (one, two) = (s.splat_u(1), s.splat_u(2));
            let less = s.lt(a, b);
            let mut out: Vec<u32> = [
                s.add(a, b),
                s.sub(a, b),
                s.mul(a, b),
                s.div(a, b),
                s.sqrt(s.abs(a)),
                s.neg(a),
                s.min(a, b),
                s.max(a, b),
                s.round(a),
                s.select(less, a, b),
                s.f32_from_i32(u),
                s.f32_from_bits(s.to_bits(a)),
            ]
            .map(|x| s.first(x).to_bits())
            .to_vec();
            out.extend([truth(less), truth(s.le(a, b)), truth(s.eq(a, b)), truth(s.gt(a, b)), truth(s.ge(a, b))]);
            out.extend([truth(s.not_mask(less)), truth(s.and_mask(less, s.eq(a, a)))]);
            out.push(truth(s.or_mask(less, s.eq(a, b))));
            out.extend(
                [
                    s.add_u(u, u),
                    s.sub_u(one, u),
                    s.xor_u(u, two),
                    s.and_u(u, two),
                    s.or_u(u, one),
                    s.shl_u(u, 5),
                    s.shr_u(u, 7),
                    s.rotl_u(u, 13),
                    s.select_u(s.eq_u(u, one), one, two),
                    s.i32_from_f32(a),
                    s.mul_u(u, s.add_u(u, two)),
                ]
                .map(|x| s.first_u(x)),
            );
            let mut lanes = [0u32; 16];
            s.store_u(s.count_u(start), &mut lanes);
            out.push(lanes[S::LANES - 1].wrapping_sub(S::LANES as u32));
            out
        })
    };
    let values = [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 0.49999997, 1e-40, 8388609.0, -7e6, f32::NAN, 1e4];
    for a in values {
        for b in values {
            for u in [0, 1, 0x8000_0001, 0xDEAD_BEEF] {
                let isas = Isa::available();
                let first = all(isas[0], a, b, u);
                // The results of f32_from_i32 and i32_from_f32 for NaN depend on the machine.
                let whole = if a.is_finite() { a as i32 as u32 } else { first[29] };
                let sum = if (a + b).is_nan() { first[0] } else { (a + b).to_bits() };
                assert_eq!((first[0], first[29]), (sum, whole), "{a} {b}");
                if a.is_finite() {
                    let rounded = a.round_ties_even();
                    assert_eq!(first[8], rounded.to_bits(), "round {a}");
                }
                assert_eq!(first[10], (u as i32 as f32).to_bits());
                assert_eq!(first[27], u.rotate_left(13));
                assert_eq!(first[30], u.wrapping_mul(u.wrapping_add(2)));
                for &isa in &isas[1..] {
                    if a.is_finite() && b.is_finite() && b != 0.0 {
                        assert_eq!(all(isa, a, b, u), first, "{} {a} {b} {u}", isa.name());
                    }
                }
            }
        }
    }
}

#[test]
fn threefry_matches_known_answers() {
    // Each case: counter, key, answer.
    let cases: [[[u32; 4]; 3]; 3] = [
        [[0; 4], [0; 4], [0x531c7e4f, 0x39491ee5, 0x2c855a92, 0x3d6abf9a]],
        [[u32::MAX; 4], [u32::MAX; 4], [0xc4189358, 0x1c9cc83a, 0xd5881c67, 0x6a0a89e0]],
        [
            [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
            [0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89],
            [0x4aa71d8f, 0x734738c2, 0x431fc6a8, 0xae6debf1],
        ],
    ];
    let lanes = |isa: Isa, key: [u32; 4], counter: [u32; 4]| {
        kernel!(isa, |s: S, key: [u32; 4], counter: [u32; 4]| -> [u32; 4] {
            let counter = [s.splat_u(counter[0]), s.splat_u(counter[1]), s.splat_u(counter[2]), s.splat_u(counter[3])];
            let [a, b, c, d] = rng::threefry(s, key, counter);
            [s.first_u(a), s.first_u(b), s.first_u(c), s.first_u(d)]
        })
    };
    for [counter, key, answer] in cases {
        assert_eq!(Rng { key }.block(counter), answer);
        for isa in Isa::available() {
            assert_eq!(lanes(isa, key, counter), answer, "{}", isa.name());
        }
    }
}

#[test]
fn streams_do_not_depend_on_the_order_of_calls() {
    const N: usize = 1000;
    let rng = Rng::new(3, 5);
    let mut want = vec![0.0; N];
    rng.fill_uniform(Isa::Portable, 9, &mut want);
    for isa in Isa::available() {
        let (mut all, mut few) = (vec![0.0; N], vec![0.0; 77]);
        rng.fill_uniform(isa, 9, &mut all);
        rng.fill_uniform(isa, 9, &mut few);
        assert_eq!(all, want, "{}", isa.name());
        assert_eq!(few, want[..77], "{}", isa.name());
        let mut other = vec![0.0; N];
        Rng::new(3, 6).fill_uniform(isa, 9, &mut other);
        assert_ne!(other, want);
    }
    // A sequence that is resumed at its position continues unchanged.
    let mut sequence = rng.sequence(0);
    let words: Vec<u32> = (0..50).map(|_| sequence.word()).collect();
    for from in 0..50 {
        let mut again = rng.sequence(from as u64);
        assert_eq!(again.word(), words[from]);
        assert_eq!(again.position(), from as u64 + 1);
    }
}

#[test]
fn numbers_have_their_moments() {
    const N: usize = 100_000;
    let rng = Rng::new(1, 2);
    let moments = |x: &[f32]| {
        let n = x.len() as f64;
        let mean = x.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let var = x.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        (mean, var)
    };
    for isa in Isa::available() {
        let mut x = vec![0.0; N];
        rng.fill_uniform(isa, 0, &mut x);
        assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
        let (mean, var) = moments(&x);
        assert!((mean - 0.5).abs() < 5e-3 && (var - 1.0 / 12.0).abs() < 2e-3, "{mean} {var}");
        rng.fill_normal(isa, 0, &mut x);
        let (mean, var) = moments(&x);
        assert!(mean.abs() < 1e-2 && (var - 1.0).abs() < 2e-2, "{mean} {var}");
        let within = x.iter().filter(|x| x.abs() < 1.0).count() as f64 / N as f64;
        assert!((within - 0.6827).abs() < 5e-3, "{within}");
    }
    let mut items: Vec<usize> = (0..100).collect();
    rng.sequence(0).shuffle(&mut items);
    assert_ne!(items, (0..100).collect::<Vec<_>>());
    items.sort_unstable();
    assert_eq!(items, (0..100).collect::<Vec<_>>());
}

#[test]
fn pcg_matches_its_definition() {
    // Input words and expected output, computed from the paper's listing with Python integers.
    let cases: [([u32; 4], [u32; 4]); 4] = [
        ([0x0000_0000, 0x0000_0000, 0x0000_0000, 0x0000_0000], [0x0F02_F829, 0x2D56_8769, 0x32B0_C43B, 0xD325_48EA]),
        ([0x0000_0001, 0x0000_0002, 0x0000_0003, 0x0000_0004], [0x3622_CD16, 0xF114_71D8, 0xE110_9B3F, 0x02B9_4C2F]),
        ([0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF], [0x974E_D892, 0xC015_DC67, 0x9F95_5760, 0xA1BB_A208]),
        ([0xDEAD_BEEF, 0x0000_004D, 0x9E37_79B8, 0x243F_6A88], [0xC7FA_DE9C, 0xAEEC_29F7, 0xFB6F_7FAC, 0xC22B_24C9]),
    ];
    let lanes = |isa: Isa, words: [u32; 4]| {
        kernel!(isa, |s: S, words: [u32; 4]| -> [u32; 4] {
            let [a, b, c, d] = words;
            let words = rng::pcg(s, [s.splat_u(a), s.splat_u(b), s.splat_u(c), s.splat_u(d)]);
            [s.first_u(words[0]), s.first_u(words[1]), s.first_u(words[2]), s.first_u(words[3])]
        })
    };
    for (words, answer) in cases {
        for isa in Isa::available() {
            assert_eq!(lanes(isa, words), answer, "{}", isa.name());
        }
    }
}

/// Hashes pairs of small numbers under a key: an index of an environment and an index of an episode. Two groups of five output bits, used
/// as coordinates, are uniform on a board of 32 by 32. The groups are from two words, from one word, or from the hashes of adjacent inputs.
/// If one input bit is flipped, each of the upper 24 bits of every output word flips half of the time.
#[test]
fn hash_is_uniform_and_flips_half_of_the_bits() {
    const SIDE: u32 = 256;
    let seeds = [0, 1, 0xFFFF_FFFF].into_iter().take(if testkit::all() { 3 } else { 1 });
    for seed in seeds {
        let [c, d, ..] = Rng::new(seed, 5).block([0; 4]);
        let at = |env: u32, episode: u32| rng::hash_1([c, d], [env, episode]);
        let board = |name: &str, pair: &dyn Fn(u32, u32) -> (u32, u32)| {
            let mut counts = vec![0.0f64; 1024];
            for (env, episode) in (0..SIDE * SIDE).map(|i| (i % SIDE, i / SIDE)) {
                let (a, b) = pair(env, episode);
                counts[((a >> 27) * 32 + (b >> 27)) as usize] += 1.0;
            }
            let want = f64::from(SIDE * SIDE) / 1024.0;
            let chi: f64 = counts.iter().map(|n| (n - want) * (n - want) / want).sum();
            // With 1023 degrees of freedom, chi-squared has standard deviation 45. The limit is five standard deviations.
            assert!((chi - 1023.0).abs() < 226.0, "seed {seed}, {name}: {chi}");
        };
        for i in 0..4 {
            board(&format!("environments, word {i}"), &|e, t| (at(e, t)[i], at(e + 1, t)[i]));
            board(&format!("episodes, word {i}"), &|e, t| (at(e, t)[i], at(e, t + 1)[i]));
            board(&format!("word {i}, finer"), &|e, t| (at(e, t)[i], at(e, t)[i] << 5));
            for j in 0..i {
                board(&format!("words {i} and {j}"), &|e, t| (at(e, t)[i], at(e, t)[j]));
            }
        }
        for bit in 0..64 {
            let mut flips = [[0u32; 24]; 4];
            for (env, episode) in (0..4096).map(|i| (i % 64, i / 64)) {
                let (e, t) = if bit < 32 { (1 << bit, 0) } else { (0, 1 << (bit - 32)) };
                let (a, b) = (at(env, episode), at(env ^ e, episode ^ t));
                for (w, flips) in flips.iter_mut().enumerate() {
                    let changed = (a[w] ^ b[w]) >> 8;
                    flips.iter_mut().enumerate().for_each(|(i, n)| *n += changed >> i & 1);
                }
            }
            for (word, flips) in flips.iter().enumerate() {
                for (i, &n) in flips.iter().enumerate() {
                    // The expected number is 2048, with standard deviation 32.
                    assert!(n.abs_diff(2048) < 200, "seed {seed}, bit {bit}: {n} of 4096 at {word}.{i}");
                }
            }
        }
    }
}

/// [`Unfused`] gives the same bits on the sets of both classes.
#[test]
fn unfused_functions_have_equal_bits_on_every_set() {
    let all = |isa: Isa, x: f32, y: f32| {
        kernel!(isa, |s: S, x: f32, y: f32| -> Vec<u32> {
            let s = Unfused(s);
            let (x, y) = (s.splat(x), s.splat(y));
            let (sin, cos) = poly::sin_cos(s, x);
            let of = [sin, cos, poly::tan(s, x), poly::tanh(s, x), poly::exp(s, x), poly::ln(s, s.abs(x)), poly::atan2(s, x, y)];
            let more = [s.mul_add(x, y, x), s.neg_mul_add(x, y, x)];
            of.into_iter().chain(more).map(|z| s.first(z).to_bits()).collect()
        })
    };
    let rng = Rng::new(4, 4);
    for k in 0..2000 {
        let [x, y] = [0, 1].map(|i| 40.0 * rng::uniform_from_word(rng.block([k, i, 0, 0])[0]) - 20.0);
        let results: Vec<Vec<u32>> = Isa::available().into_iter().map(|isa| all(isa, x, y)).collect();
        assert!(results.iter().all(|result| *result == results[0]), "{x} {y}: {results:?}");
    }
}

#[test]
fn signed_comparison_of_lanes() {
    for isa in Isa::available() {
        for a in [0, 1, -1, i32::MAX, i32::MIN, 77] {
            for b in [0, 1, -1, i32::MAX, i32::MIN, 77] {
                let less =
                    kernel!(isa, |s: S, a: i32, b: i32| -> u32 { s.mask_bits(s.lt_i(s.splat_u(a as u32), s.splat_u(b as u32))) & 1 });
                assert_eq!(less == 1, a < b, "{}: {a} < {b}", isa.name());
            }
        }
    }
}
