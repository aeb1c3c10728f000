//! Actions from the policy's outputs: random samples, compared with probabilities in f64, and greedy actions.

use super::close;
use learn::internals::ppo::{Draw, GreedyActions, GreedyMasked, KEPT, LANES, SampleChoice, SampleGaussian, SampleMasked, greedy};
use math::rng::uniform_from_word;
use math::{Isa, PANEL, Rng, dispatch};

const KEY: Rng = Rng { key: [11, 22, 33, 44] };

#[test]
fn greedy_actions_of_a_panel_match_single_environments() {
    for choices in (1..=KEPT).chain([33, 1024]) {
        // The logits have few distinct values, so that ties are frequent. One logit is NaN.
        let word = |at: usize| KEY.block([at as u32, choices as u32, 0, 0])[0];
        let mut logits: Vec<f32> = (0..choices * PANEL).map(|at| (word(at) % 5) as f32 - 2.0).collect();
        logits[(choices - 1) * PANEL + 3] = f32::NAN;
        for isa in Isa::available() {
            let mut actions = [f32::NAN; PANEL];
            dispatch(isa, GreedyActions { logits: &logits, choices, env_actions: &mut actions });
            for (lane, &action) in actions.iter().enumerate() {
                let expected = greedy(|i| logits[i * PANEL + lane], choices);
                assert_eq!(action, expected as f32, "{} {choices} choices, lane {lane}", isa.name());
            }
        }
    }
}

/// First step number. It is above 2³², so that the upper half of the counter is not 0.
const FIRST: u64 = (1 << 33) + 5;

const LANE: u32 = 96;

/// Random words of a step, `[LANES]`.
fn words(step: u64) -> [u32; LANES] {
    std::array::from_fn(|at| {
        let lane = LANE + (at % PANEL) as u32;
        KEY.block([lane, step as u32, (step >> 32) as u32, 0])[at / PANEL]
    })
}

fn draw<'a>(step: u64, policy: &'a [f32], actions: &'a mut [f32], log_probs: &'a mut [f32]) -> Draw<'a> {
    Draw { key: KEY.key, counter: [LANE, step as u32, (step >> 32) as u32], policy, actions, log_probs }
}

/// Pearson's χ² statistic: Σ (found - expected)² / expected.
fn chi_square(found: &[u32], probabilities: &[f64]) -> f64 {
    let n = f64::from(found.iter().sum::<u32>());
    found.iter().zip(probabilities).map(|(&f, p)| (f64::from(f) - n * p).powi(2) / (n * p)).sum()
}

#[test]
fn choices_are_sampled_with_their_probabilities() {
    let logits = [[0.3, -0.4, 1.1, -1.6], [-20.0, 3.0, 3.5, 2.0], [0.0; 4], [60.0, 59.0, -60.0, 58.0]];
    // Critical values of χ² with 1 to 3 degrees of freedom at p = 0.001.
    let beyond = [10.8, 13.8, 16.3];
    for isa in Isa::available() {
        for (logits, count) in logits.iter().flat_map(|logits| (2..=4).map(move |n| (logits, n))) {
            let top = logits[..count].iter().fold(f64::MIN, |top: f64, &x| top.max(x));
            let sum: f64 = logits[..count].iter().map(|x| (x - top).exp()).sum();
            let probabilities: Vec<f64> = logits[..count].iter().map(|x| (x - top).exp() / sum).collect();
            let policy: Vec<f32> = (0..LANES * count).map(|i| logits[i / PANEL % count] as f32).collect();
            let (mut actions, mut log_probs) = ([9.0; LANES], [9.0; LANES]);
            let mut found = vec![0; count];
            for step in FIRST..FIRST + 300 {
                dispatch(isa, SampleChoice { draw: draw(step, &policy, &mut actions, &mut log_probs), count });
                for (at, word) in words(step).into_iter().enumerate() {
                    let choice = actions[at] as usize;
                    found[choice] += 1;
                    let below: f64 = probabilities[..choice].iter().sum();
                    let u = f64::from(uniform_from_word(word));
                    let (low, high) = (below - 1e-6, below + probabilities[choice] + 1e-6);
                    assert!((low..=high).contains(&u), "{u} is not of choice {choice} of {logits:?}");
                    close("the log-probability", log_probs[at], probabilities[choice].ln(), 2e-6);
                }
            }
            // Choices with a negligible expected count never occur.
            let rare = |p: f64| p * 300.0 * (LANES as f64) < 1e-3;
            let impossible: u32 = found.iter().zip(&probabilities).filter(|(_, p)| rare(**p)).map(|(f, _)| f).sum();
            assert_eq!(impossible, 0, "{logits:?}");
            let (found, expected): (Vec<u32>, Vec<f64>) = found.iter().zip(&probabilities).filter(|(_, p)| !rare(**p)).unzip();
            let apart = chi_square(&found, &expected);
            assert!(found.len() < 2 || apart < beyond[found.len() - 2], "{apart}: {found:?} for {expected:?}");
        }
    }
}

/// Returns unequal logits of one state.
fn uneven(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i as f64 * 0.7).sin() - 2.0 * f64::from(i == 3)).collect()
}

/// Checks the choices that are sampled in one state, and their log-probabilities. `permitted` has one element per choice. `sample` runs
/// the kernel under test.
fn check_samples(isa: Isa, permitted: &[bool], sample: impl Fn(Draw, &[f32])) {
    let (count, logits) = (permitted.len(), uneven(permitted.len()));
    let powers: Vec<f64> = logits.iter().zip(permitted).map(|(x, &permitted)| if permitted { x.exp() } else { 0.0 }).collect();
    let sum: f64 = powers.iter().sum();
    let policy: Vec<f32> = (0..LANES * count).map(|i| logits[i / PANEL % count] as f32).collect();
    let masks: Vec<f32> = (0..LANES * count).map(|i| f32::from(u8::from(permitted[i / PANEL % count]))).collect();
    let (mut actions, mut log_probs) = ([-1.0; LANES], [9.0; LANES]);
    for step in FIRST..FIRST + 20 {
        sample(draw(step, &policy, &mut actions, &mut log_probs), &masks);
        for (at, word) in words(step).into_iter().enumerate() {
            let choice = actions[at] as usize;
            assert!(permitted[choice], "{}: the forbidden choice {choice} of {count}", isa.name());
            let below = powers[..choice].iter().sum::<f64>() / sum;
            let (low, high) = (below - 1e-5, below + powers[choice] / sum + 1e-5);
            let u = f64::from(uniform_from_word(word));
            assert!((low..=high).contains(&u), "{u} is not of choice {choice} of {count}");
            close("the log-probability", log_probs[at], (powers[choice] / sum).ln(), 1e-5);
        }
    }
}

#[test]
fn many_choices_are_sampled_with_their_probabilities() {
    for (isa, count) in Isa::available().into_iter().flat_map(|isa| [KEPT - 1, KEPT, KEPT + 1, 100, 1024].map(|count| (isa, count))) {
        check_samples(isa, &vec![true; count], |draw, _| dispatch(isa, SampleChoice { draw, count }));
    }
}

#[test]
fn forbidden_choices_are_never_sampled() {
    for isa in Isa::available() {
        let only = |count: usize, which: &[usize]| (0..count).map(|i| which.contains(&i)).collect::<Vec<_>>();
        for permitted in
            [vec![true; 5], only(5, &[4]), only(5, &[0]), only(5, &[1, 3]), only(2, &[1]), only(40, &[2, 17, 38]), only(1, &[0])]
        {
            let count = permitted.len();
            check_samples(isa, &permitted, |draw, masks| dispatch(isa, SampleMasked { draw, count, masks }));
        }
    }
}

/// A forbidden choice has the highest logit. The logit of the permitted choice is much lower, -∞ or NaN.
#[test]
fn extreme_logits_do_not_select_forbidden_choices() {
    for (isa, low) in Isa::available().into_iter().flat_map(|isa| [-3e3, f32::NEG_INFINITY, f32::NAN].map(|low| (isa, low))) {
        let policy: Vec<f32> = (0..LANES * 3).map(|i| [1e3, low, 2e3][i / PANEL % 3]).collect();
        let masks: Vec<f32> = (0..LANES * 3).map(|i| [0.0, 1.0, 0.0][i / PANEL % 3]).collect();
        let (mut actions, mut log_probs) = ([-1.0; LANES], [9.0; LANES]);
        dispatch(isa, SampleMasked { draw: draw(FIRST, &policy, &mut actions, &mut log_probs), count: 3, masks: &masks });
        assert_eq!(actions, [1.0; LANES], "{}: {low}", isa.name());
        let mut greedy = [-1.0; PANEL];
        dispatch(isa, GreedyMasked { logits: &policy, masks: &masks, choices: 3, env_actions: &mut greedy });
        assert_eq!(greedy, [1.0; PANEL], "{}: {low}", isa.name());
    }
}

#[test]
fn greedy_actions_are_the_best_permitted_choices() {
    for (isa, choices) in Isa::available().into_iter().flat_map(|isa| [1, 2, 5, 17].map(|choices| (isa, choices))) {
        let word = |at: usize, of: u32| KEY.block([at as u32, choices as u32, of, 0])[0];
        let logits: Vec<f32> = (0..choices * PANEL).map(|at| (word(at, 0) % 5) as f32 - 2.0).collect();
        let allowed = |i: usize, lane: usize| word(i * PANEL + lane, 1) % 2 == 0 || i == lane % choices;
        let masks: Vec<f32> = (0..choices * PANEL).map(|at| f32::from(u8::from(allowed(at / PANEL, at % PANEL)))).collect();
        let mut actions = [-1.0; PANEL];
        dispatch(isa, GreedyMasked { logits: &logits, masks: &masks, choices, env_actions: &mut actions });
        for (lane, &action) in actions.iter().enumerate() {
            let all: Vec<usize> = (0..choices).filter(|&i| allowed(i, lane)).collect();
            let best = all[greedy(|n| logits[all[n] * PANEL + lane], all.len())];
            assert_eq!(action, best as f32, "{} {choices} choices, lane {lane}", isa.name());
        }
    }
}

#[test]
fn lanes_panels_and_steps_have_independent_samples() {
    let policy = [0.0; LANES * 2];
    let steps: Vec<[f32; LANES]> = (0..400)
        .map(|step| {
            let (mut actions, mut log_probs) = ([0.0; LANES], [0.0; LANES]);
            let draw = draw(step, &policy, &mut actions, &mut log_probs);
            dispatch(Isa::best(), SampleChoice { draw, count: 2 });
            actions
        })
        .collect();
    // Compares each sample with the sample of the next lane, of the next panel, and of the next step. The four pairs of binary choices
    // must be equally frequent.
    for (name, lanes, ahead) in [("lane", 1, 0), ("panel", PANEL, 0), ("step", 0, 1)] {
        let mut found = [0; 4];
        for t in 0..steps.len() - ahead {
            for lane in 0..LANES - lanes {
                found[(steps[t][lane] + 2.0 * steps[t + ahead][lane + lanes]) as usize] += 1;
            }
        }
        let apart = chi_square(&found, &[0.25; 4]);
        assert!(apart < 16.3, "{name}: {apart}, {found:?}");
    }
}

/// The first number of an action equals the only number of a one-number action with the same key. Every number has its own random
/// words. The log-probability is the sum over the numbers.
#[test]
fn numbers_of_an_action_are_independent() {
    let logs = [-0.5f32, 0.25, 0.0];
    for isa in Isa::available() {
        let means: Vec<f32> = (0..3 * LANES).map(|i| 0.01 * (i / PANEL % 3) as f32 - 0.002 * (i % PANEL) as f32).collect();
        let (mut actions, mut log_probs, mut env_actions) = (vec![9.0; 3 * LANES], [9.0; LANES], vec![9.0; 3 * LANES]);
        let all = draw(FIRST, &means, &mut actions, &mut log_probs);
        dispatch(
            isa,
            SampleGaussian { draw: all, log_spreads: &logs, middle: 1.0, half: 3.0, squash: false, env_actions: &mut env_actions },
        );
        let first: Vec<f32> = means.chunks_exact(3 * PANEL).flat_map(|panel| &panel[..PANEL]).copied().collect();
        let (mut alone, mut own, mut given) = ([9.0; LANES], [9.0; LANES], [9.0; LANES]);
        let one = draw(FIRST, &first, &mut alone, &mut own);
        dispatch(
            isa,
            SampleGaussian { draw: one, log_spreads: &logs[..1], middle: 1.0, half: 3.0, squash: false, env_actions: &mut given },
        );
        let noise = |lane: usize, number: usize| {
            let at = (lane / PANEL * 3 + number) * PANEL + lane % PANEL;
            let given = (1.0 + 3.0 * f64::from(actions[at]).clamp(-1.0, 1.0)) as f32;
            close("the environment action", env_actions[at], given.into(), 1e-5);
            (f64::from(actions[at]) - f64::from(means[at])) / f64::from(logs[number]).exp()
        };
        let mut products = [0.0; 3];
        for lane in 0..LANES {
            assert_eq!(actions[lane / PANEL * 3 * PANEL + lane % PANEL], alone[lane]);
            let noises = [0, 1, 2].map(|number| noise(lane, number));
            let density = |(noise, log): (f64, &f32)| -0.5 * noise * noise - f64::from(*log) - 0.5 * std::f64::consts::TAU.ln();
            close("the log-probability", log_probs[lane], noises.into_iter().zip(&logs).map(density).sum(), 1e-5);
            for (sum, [a, b]) in products.iter_mut().zip([[0, 1], [0, 2], [1, 2]]) {
                *sum += noises[a] * noises[b] / (LANES as f64).sqrt();
            }
        }
        assert!(products.iter().all(|sum| sum.abs() < 3.3), "{products:?}");
    }
}

/// Error function, computed by its series. It is accurate to 1e-12 in the range used here.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > 1e-17 {
        n += 1.0;
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn numbers_are_sampled_from_the_gaussian() {
    let (middle, half) = (1.0, 3.0);
    let means: Vec<f32> = (0..LANES).map(|lane| -1.5 + 0.025 * lane as f32).collect();
    for (isa, squash, spread) in Isa::available().into_iter().flat_map(|isa| [(isa, false, 0.5f32), (isa, true, 1.25)]) {
        let log_spread = spread.ln();
        let (mut actions, mut log_probs, mut env_actions) = ([9.0; LANES], [9.0; LANES], [9.0; LANES]);
        let mut noises = Vec::new();
        for step in FIRST..FIRST + 400 {
            let draw = draw(step, &means, &mut actions, &mut log_probs);
            dispatch(isa, SampleGaussian { draw, log_spreads: &[log_spread], middle, half, squash, env_actions: &mut env_actions });
            let words = words(step).map(|word| f64::from(uniform_from_word(word)));
            for at in 0..LANES {
                // Panels 0 and 1 share two random words per lane, as do panels 2 and 3. `pair` is the index of the first word.
                let pair = at / PANEL / 2 * 2 * PANEL + at % PANEL;
                let radius = (-2.0 * (1.0 - words[pair]).ln()).sqrt();
                let angle = std::f64::consts::TAU * words[pair + PANEL] - std::f64::consts::PI;
                let noise = radius * if (at / PANEL).is_multiple_of(2) { angle.cos() } else { angle.sin() };
                let drawn = f64::from(means[at]) + f64::from(spread) * noise;
                close("the number", actions[at], drawn, 3e-6);
                let density = -0.5 * noise * noise - f64::from(log_spread) - 0.5 * std::f64::consts::TAU.ln();
                close("the log-probability", log_probs[at], density, 5e-6);
                let within = if squash { drawn.tanh() } else { drawn.clamp(-1.0, 1.0) };
                close("the environment action", env_actions[at], f64::from(middle) + f64::from(half) * within, 5e-6);
                assert!((-2.0..=4.0).contains(&env_actions[at]), "{}", env_actions[at]);
                noises.push((f64::from(actions[at]) - f64::from(means[at])) / f64::from(spread));
            }
        }
        let n = noises.len() as f64;
        let mean = |power: i32| noises.iter().map(|x| x.powi(power)).sum::<f64>() / n;
        // Each moment must be within 3.3 standard errors of its expected value. `spread` is the variance of x raised to `power`.
        for (power, expected, spread) in [(1, 0.0, 1.0f64), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let apart = (mean(power) - expected).abs() / (spread / n).sqrt();
            assert!(apart < 3.3, "moment {power} is {}", mean(power));
        }
        // Kolmogorov–Smirnov test: the distance from the normal distribution exceeds 1.95/√n with probability 0.001.
        noises.sort_by(f64::total_cmp);
        let farthest = noises.iter().enumerate().fold(0.0, |far: f64, (i, x)| {
            let below = 0.5 * (1.0 + erf(x / 2f64.sqrt()));
            far.max((below - i as f64 / n).abs()).max((below - (i + 1) as f64 / n).abs())
        });
        assert!(farthest * n.sqrt() < 1.95, "{farthest}");
    }
}
