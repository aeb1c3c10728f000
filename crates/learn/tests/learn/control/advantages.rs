//! Generalised advantage estimation.

use super::close;
use learn::internals::ppo::{Advantages, LANES};
use math::{Isa, dispatch};
use serde_json::Value;

/// Compares with two references: the definition in NumPy, which computes each sum separately (`tests/golden/ppo_loss.py`), and the
/// recursion in f64 with scaled and limited rewards.
#[test]
fn advantages_match_their_definition() {
    let golden: Value = serde_json::from_str(include_str!("../../../../../tests/golden/ppo_loss.json")).unwrap();
    let golden = &golden["advantages"];
    let list = |name: &str| -> Vec<f64> { golden[name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect() };
    let (gamma, lambda) = (golden["gamma"].as_f64().unwrap(), golden["lambda"].as_f64().unwrap());
    let [rewards, values, next_observations, ends] = ["rewards", "values", "reached", "ends"].map(list);
    let steps = rewards.len();
    // Lane l contains the golden sequence, rotated by l steps.
    let turned = |list: &[f64], lane: usize, t: usize| list[(t + lane) % steps] as f32;
    let grid = |list: &[f64]| -> Vec<f32> { (0..steps * LANES).map(|i| turned(list, i % LANES, i / LANES)).collect() };
    let (rewards, bootstraps) = (grid(&rewards), grid(&next_observations));
    let ended: Vec<u32> = grid(&ends).iter().map(|&end| end as u32).collect();
    let mut all_values = grid(&values);
    all_values.extend((0..LANES).map(|lane| if lane == 0 { values[steps] as f32 } else { 0.25 }));
    for isa in Isa::available() {
        let run = |scale, limit| {
            let mut advantages = vec![0.0; steps * LANES];
            let kernel = Advantages {
                gamma: gamma as f32,
                decay: (gamma * lambda) as f32,
                scale,
                limit,
                rewards: &rewards,
                values: &all_values,
                bootstraps: &bootstraps,
                ended: &ended,
                advantages: &mut advantages,
            };
            dispatch(isa, kernel);
            advantages
        };
        for (t, expected) in list("advantages").into_iter().enumerate() {
            close(&format!("step {t}"), run(1.0, f32::MAX)[t * LANES], expected, 2e-6);
        }
        let (scale, limit) = (0.7, 0.9);
        let found = run(scale as f32, limit as f32);
        for lane in 0..LANES {
            let mut later = 0.0;
            for at in (0..steps).rev().map(|t| t * LANES + lane) {
                let reward = (f64::from(rewards[at]) * scale).clamp(-limit, limit);
                let going = ended[at] == 0;
                let next = if going { all_values[at + LANES] } else { bootstraps[at] };
                let delta = reward + gamma * f64::from(next) - f64::from(all_values[at]);
                later = delta + if going { gamma * lambda * later } else { 0.0 };
                close(&format!("lane {lane}"), found[at], later, 2e-6);
            }
        }
    }
}
