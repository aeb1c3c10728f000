//! Tests of updates of populations of logic automata on a device. Loss and gradient are compared with the f64 reference. Several successive
//! updates are compared with the local accelerator on the CPU.

use crate::{close, pause};
use gpu::logic::GpuPopulation;
use gpu::{Fault, Gpu, OpenOptions};
use learn::Machine;
use learn::logic::automaton::{Automaton, GateForm, gumbel};
use learn::logic::offload::{Accelerator, Local, OffloadSpec, Trained};
use learn::logic::reference::loss_and_gradient;
use learn::logic::train::{Optimiser, Rollout, Trainer};
use learn::logic::{Architecture, Wiring, Wirings, fire};
use learn::offload::request;
use math::{Isa, Rng};

const FORMS: [GateForm; 3] = [GateForm::Softmax, GateForm::Four, GateForm::Gumbel { temperature: 0.7 }];

/// Tolerance for losses, gradients and gradient norms, relative to the largest value: the difference between f32 and f64.
const SUM: f32 = 1e-4;
/// Tolerance for parameters, moments and sums after several updates. AdamW amplifies the rounding of small gradients.
const UPDATES: f32 = 2e-3;

fn small() -> Architecture {
    Architecture { channels: 2, kernels: 3, perception: vec![8, 4, 2], update: vec![16, 12, 8, 4, 2] }
}

/// Returns the published architecture for the Game of Life.
fn life() -> Architecture {
    let update = [vec![128; 17], vec![64, 32, 16, 8, 4, 2, 1]].concat();
    Architecture { channels: 1, kernels: 16, perception: vec![8, 4, 2, 1], update }
}

fn spec(architecture: Architecture, form: GateForm, rollout: Rollout, members: usize) -> OffloadSpec {
    OffloadSpec { architecture, form, rollout, loss_channels: 1, members }
}

/// Creates members with different wires, gates and seeds. Each member has a different number of earlier updates.
fn members(spec: &OffloadSpec) -> Vec<Trainer> {
    let isa = Isa::best();
    let member = |i: usize| {
        let (seed, wiring) = (11 + i as u32, [Wiring::Unique, Wiring::Random][i % 2]);
        let wirings = Wirings::new(&spec.architecture, wiring, seed).unwrap();
        let mut automaton = Automaton::new(spec.architecture.clone(), wirings, spec.form);
        Rng::new(seed, 100).fill_normal(isa, 0, &mut automaton.params);
        let zeros = vec![0.0; automaton.params.len()];
        let mut trainer = Trainer::new(isa, automaton.clone(), spec.rollout.clone(), Optimiser::default(), seed);
        let (weights, m, v, steps) = (&automaton.params, &zeros, &zeros, 3 * i as u64);
        trainer.set_state(&learn::offload::TrainStateRef { weights, m, v, steps });
        trainer
    };
    (0..spec.members).map(member).collect()
}

/// Returns the initial states and the target states of all members.
fn batch(spec: &OffloadSpec, draw: u32) -> [Vec<f32>; 2] {
    let mut kind = 0;
    spec.sizes().map(|size| {
        kind += 1;
        let mut bits = vec![0.0; spec.members * size];
        Rng::new(5, kind).fill_uniform(Isa::best(), draw, &mut bits);
        bits.iter_mut().for_each(|x| *x = x.round());
        bits
    })
}

/// Requests the state and waits for it.
async fn answer(gpu: &Gpu, there: &mut dyn Accelerator) -> Trained {
    let mut trained = Trained::default();
    there.ask().unwrap();
    while !there.poll(&mut trained).unwrap() {
        pause(gpu).await;
    }
    trained
}

fn begin(machine: &dyn Machine, spec: &OffloadSpec, members: &[Trainer]) -> Box<dyn Accelerator> {
    let mut there = request(machine, spec).unwrap();
    for (i, member) in members.iter().enumerate() {
        there.set_member(i, member).unwrap();
    }
    there
}

/// Compares the gradient of the first update with the reference. The initial moments are 0, so the first moment is proportional to the
/// gradient.
async fn gradient(gpu: &Gpu, spec: &OffloadSpec) {
    let isa = Isa::best();
    let members = members(spec);
    let [starts, targets] = batch(spec, 0);
    let mut there = begin(gpu, spec, &members);
    let optimiser = Optimiser { clip: 1e9, ..Optimiser::default() };
    there.step(&optimiser, &vec![true; spec.members], &starts, &targets).unwrap();
    let trained = answer(gpu, &mut *there).await;
    let Rollout { width, height, batch, steps, fire_rate, .. } = spec.rollout;
    for (i, member) in members.iter().enumerate() {
        let draw = member.updates() as u32;
        let mut noise = vec![0.0; spec.params()];
        gumbel(isa, member.seed(), draw, &mut noise);
        let mut masks = vec![1.0; steps * batch * width * height];
        if let Some(rate) = fire_rate {
            for (at, mask) in masks.chunks_mut(width * height).enumerate() {
                fire(isa, member.seed(), rate, [draw, (at / batch) as u32, (at % batch) as u32], mask);
            }
        }
        let fires = |step, sample, cell| masks[(step * batch + sample) * width * height + cell] > 0.0;
        let of = |all: &[f32], size: usize| all[i * size..][..size].to_vec();
        let [start, target] = spec.sizes();
        let (start, target) = (of(&starts, start), of(&targets, target));
        let (loss, expected) = loss_and_gradient(member.automaton(), &spec.rollout, &start, &target, 1, fires, &noise);
        let expected: Vec<f32> = expected.iter().map(|&x| x as f32).collect();
        let norm = expected.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!(norm > 1e-3, "the gradient is almost 0: {norm} of {spec:?}");
        let what = |name: &str| format!("{name} of member {i} of {spec:?}");
        let state = trained.state(i, member.updates() + 1);
        let found: Vec<f32> = state.m.iter().map(|m| m / (1.0 - optimiser.beta1)).collect();
        close(&what("loss"), &[trained.sums[i].loss], &[loss as f32], SUM);
        close(&what("gradient"), &found, &expected, SUM);
        close(&what("length"), &[trained.sums[i].grad_norm], &[norm], SUM);
    }
}

async fn gradients_match_the_reference(gpu: Gpu) {
    let rollout = |width, height, periodic, steps, batch, fire_rate| Rollout { width, height, periodic, steps, batch, fire_rate };
    for form in FORMS {
        gradient(&gpu, &spec(small(), form, rollout(5, 4, true, 3, 2, None), 3)).await;
    }
    // Covers grids with more cells than a workgroup has threads, and grids whose width, height and batch size differ.
    gradient(&gpu, &spec(small(), GateForm::Softmax, rollout(9, 8, false, 3, 4, Some(0.6)), 2)).await;
    gradient(&gpu, &spec(small(), GateForm::Four, rollout(2, 7, true, 2, 1, Some(0.4)), 2)).await;
    gradient(&gpu, &spec(life(), GateForm::Softmax, rollout(3, 3, true, 1, 20, None), 2)).await;
}

async fn updates_match_the_processor(gpu: Gpu) {
    for form in FORMS {
        let rollout = Rollout { width: 6, height: 5, periodic: false, steps: 4, batch: 2, fire_rate: Some(0.7) };
        let spec = spec(small(), form, rollout, 3);
        let members = members(&spec);
        let mut there = begin(&gpu, &spec, &members);
        let mut here = begin(&Local(Isa::best()), &spec, &members);
        // The second member pauses in updates 3 and 4 (counted from 0) and then continues.
        let steps = |accelerator: &mut dyn Accelerator, range: std::ops::Range<u32>| {
            for draw in range {
                let [starts, targets] = batch(&spec, draw);
                let lr = if draw < 2 { 0.05 } else { 0.02 };
                let optimiser = Optimiser { lr, clip: 0.5, ..Optimiser::default() };
                accelerator.step(&optimiser, &[true, !(3..5).contains(&draw), true], &starts, &targets).unwrap();
            }
        };
        let mut both = async |there: &mut dyn Accelerator, range: std::ops::Range<u32>| {
            steps(there, range.clone());
            steps(&mut *here, range.clone());
            let (found, mut expected) = (answer(&gpu, there).await, Trained::default());
            here.ask().unwrap();
            assert!(here.poll(&mut expected).unwrap());
            let what = |name: &str| format!("{name} of {form:?} after {}", range.end);
            close(&what("params"), &found.params, &expected.params, UPDATES);
            close(&what("m"), &found.m, &expected.m, UPDATES);
            close(&what("v"), &found.v, &expected.v, UPDATES);
            let sums = |t: &Trained| t.sums.iter().flat_map(|s| [s.loss, s.grad_norm]).collect::<Vec<f32>>();
            close(&what("sums"), &sums(&found), &sums(&expected), UPDATES);
            here.set_member(1, &members[1]).unwrap();
            there.set_member(1, &members[1]).unwrap();
            found
        };
        both(&mut *there, 0..3).await;
        let second = both(&mut *there, 3..6).await;
        assert_eq!(second.state(1, 0).m.len(), spec.params());

        // The same state gives the same bits, even if a device with less memory processes the members one by one. The kernels of the other
        // forms compute the same members.
        if form != GateForm::Softmax && !testkit::all() {
            continue;
        }
        let one_by_one = Gpu::open(OpenOptions { largest_buffer: Some(400_000), ..OpenOptions::default() });
        let one_by_one = one_by_one.await.unwrap();
        let whole = GpuPopulation::new(&gpu, &spec).unwrap().dispatches();
        assert_eq!(GpuPopulation::new(&one_by_one, &spec).unwrap().dispatches(), 3 * whole);
        let mut trained = Vec::new();
        for gpu in [&gpu, &one_by_one] {
            let mut there = begin(gpu, &spec, &members);
            steps(&mut *there, 0..2);
            trained.push(answer(gpu, &mut *there).await);
        }
        assert!(trained[0] == trained[1], "{form:?}");
    }
}

/// Covers a population that is too large for the device, and a population whose architecture is too large for the kernels.
async fn oversized_populations_are_rejected(gpu: Gpu) {
    let rollout = Rollout { width: 16, height: 16, periodic: true, steps: 4, batch: 2, fire_rate: None };
    let large = spec(small(), GateForm::Softmax, rollout, 3);
    let tiny = Gpu::open(OpenOptions { largest_buffer: Some(100_000), ..OpenOptions::default() }).await.unwrap();
    match GpuPopulation::new(&tiny, &large).err() {
        Some(Fault::TooSmall { needs, has: 100_000 }) => assert!(needs > 100_000),
        other => panic!("{other:?}"),
    }
    let wide = Architecture { channels: 512, kernels: 16, perception: vec![8], update: vec![512] };
    let fault = GpuPopulation::new(&gpu, &OffloadSpec { architecture: wide, ..large.clone() }).err();
    assert!(matches!(fault, Some(Fault::Unknown { .. })), "{fault:?}");
    // `large` fits on this device, because the rejections have released all memory.
    GpuPopulation::new(&gpu, &large).unwrap();
}

crate::common::tests!(
    gradients_match_the_reference;
    natively: updates_match_the_processor, oversized_populations_are_rejected,
);
