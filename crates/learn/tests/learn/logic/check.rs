//! Tests of three procedures: the test whether an automaton is perfect, the confirmation of its result on more grids, and restarts of a
//! population's members.

use learn::logic::automaton::{Automaton, GateForm};
use learn::logic::check::{Fresh, check, harden};
use learn::logic::experiment::{Config, Experiment, Preset, Starts, Task};
use learn::logic::generalise::{Confirmation, Generalisation};
use learn::logic::population::{Population, Progress};
use learn::logic::{Wiring, Wirings};
use learn::{Learner, Slice, part};
use math::{Isa, Rng};
use testkit::test;
use worlds::logic::Grid;

const AND: usize = 1;
const PASS: usize = 3;
const TRUE: usize = 15;

/// Returns an experiment with random starts. Its target is that all cells are off after one step.
fn blank() -> Experiment {
    let mut experiment = Config::preset(Preset::Checkerboard).experiment().unwrap();
    let (width, height) = (experiment.rollout.width, experiment.rollout.height);
    experiment.rollout.steps = 1;
    experiment.task = Task::Pattern { target: Grid::blank(1, width, height), starts: Starts::Random };
    experiment
}

/// Returns an automaton whose cells turn on only if several neighbours are on. With more AND gates, more neighbours must be on, and a cell
/// turns on more rarely.
fn rarely_on(experiment: &Experiment, seed: u32) -> Automaton {
    let wirings = Wirings::new(&experiment.architecture, Wiring::Random, seed).unwrap();
    let mut automaton = Automaton::new(experiment.architecture.clone(), wirings, GateForm::Softmax);
    let mut numbers = Rng::new(seed, 1).sequence(0);
    let share = numbers.uniform();
    for gate in automaton.params.chunks_mut(16) {
        gate.fill(0.0);
        gate[if numbers.uniform() < share { AND } else { PASS }] = 1.0;
    }
    automaton
}

#[test]
fn perfection_and_confirmation_need_many_grids() {
    let (isa, experiment) = (Isa::best(), blank());
    let (mut past_four, mut past_sixteen) = (0, 0);
    for seed in 0..4000 {
        if past_four > 3 && past_sixteen > 3 {
            return;
        }
        let automaton = rarely_on(&experiment, seed);
        let circuit = harden(&experiment, &automaton).pruned();
        let mut fresh = Fresh::new(isa, &experiment, &circuit, seed, 5);
        if fresh.wrong(4) > 0.0 {
            continue;
        }
        let wrong = fresh.wrong(60);
        assert_eq!(check(isa, &experiment, &automaton, seed, 5).wrong, wrong, "seed {seed}");
        past_four += u32::from(wrong > 0.0);
        let mut fresh = Fresh::new(isa, &experiment, &circuit, seed, 6);
        if fresh.wrong(16) > 0.0 || Fresh::new(isa, &experiment, &circuit, seed, 7).wrong(1000) == 0.0 {
            continue;
        }
        // The circuit is right on 16 grids, but wrong on some of 1,000 other grids. The confirmation uses another 1,000 grids and detects
        // nearly all such circuits.
        let mut confirmation = Confirmation::new(isa, &experiment, circuit, seed);
        let mut slices = 1;
        let right = loop {
            match confirmation.advance() {
                Some(right) => break right,
                None => slices += 1,
            }
        };
        assert!(slices > 20, "{slices}");
        past_sixteen += u32::from(right < 1.0);
    }
    panic!("only {past_four} were right on 4 grids and wrong on 60, and {past_sixteen} right on 16 and not confirmed");
}

/// A cell turns on when it fires. If each step has its own mask, only cells that fire in none of the steps stay off.
#[test]
fn cells_fire_anew_in_each_step_of_a_test() {
    const STEPS: i32 = 8;
    let (isa, mut experiment) = (Isa::best(), blank());
    (experiment.rollout.steps, experiment.rollout.fire_rate) = (STEPS as usize, Some(0.3));
    let mut automaton = rarely_on(&experiment, 1);
    automaton.params.chunks_mut(16).for_each(|gate| {
        gate.fill(0.0);
        gate[TRUE] = 1.0;
    });
    // Half of the cells are off in a random start.
    let off = 0.5 * 0.7f64.powi(STEPS);
    let circuit = harden(&experiment, &automaton).pruned();
    let wrong = f64::from(Fresh::new(isa, &experiment, &circuit, 3, 5).wrong(60));
    assert!((1.0 - wrong - off).abs() < 0.01, "{wrong}");
    let mut test = Generalisation::new(isa, &experiment, circuit, 3);
    let right = std::iter::repeat_with(|| test.advance()).flatten().next().unwrap().perfect.unwrap();
    assert!((right - off).abs() < 0.02, "{right}");
}

/// With learning rate 0, no member improves. The first iteration sets the lowest hard loss of a member. After three more updates without
/// improvement, the member restarts.
#[test]
fn a_stagnant_member_restarts_from_another_seed() {
    let preset = Config::preset(Preset::Life);
    let config = Config { population: 2, batch: 2, updates: 1, patience: 3, lr: 0.0, ..preset };
    let mut population = Population::new(config, 7, Isa::best()).unwrap();
    let seeds = |of: &Population| of.members().iter().map(|member| member.seed).collect::<Vec<_>>();
    let first = seeds(&population);
    for (iterations, ended) in [(1, 0), (2, 0), (3, 0), (4, 2)] {
        while population.progress().iterations < iterations {
            population.advance();
        }
        let expected = Progress { iterations, updates: 2 * iterations, perfect_runs: 0, ended };
        assert_eq!(population.progress(), expected);
        assert_eq!(seeds(&population) == first, ended == 0);
    }
    assert!(population.members().iter().all(|member| member.trainer.updates() == 0));
}

/// With learning rate 0, no member improves, so all seven members are replaced in the fourth iteration. The last slices of this iteration
/// test the members and then their replacements.
#[test]
fn saves_between_final_slices_resume_exactly() {
    let preset = Config::preset(Preset::Life);
    let config = Config { population: 7, batch: 2, updates: 1, patience: 3, lr: 0.0, ..preset };
    let mut population = Population::new(config.clone(), 7, Isa::best()).unwrap();
    let state = |of: &Population| format!("{:?} {:?} {:?}", of.progress(), of.parts(), of.weights());
    let end = |of: &mut Population| while !matches!(of.advance(), Slice::Ended(_)) {};
    (0..3).for_each(|_| end(&mut population));
    let mut saves = Vec::new();
    while !matches!(population.advance(), Slice::Ended(_)) {
        saves.push(population.parts());
    }
    let groups = 7_usize.div_ceil(math::par::threads());
    assert_eq!(saves.len(), 3 * groups + 1, "updates, tests, choice of replacements, and their tests");
    assert_eq!(population.progress(), Progress { iterations: 4, updates: 28, perfect_runs: 0, ended: 7 });
    for parts in saves {
        let mut resumed = Population::restore(config.clone(), 7, Isa::best(), &|name| part(&parts, name)).unwrap();
        end(&mut resumed);
        assert_eq!(state(&resumed), state(&population));
    }
}
