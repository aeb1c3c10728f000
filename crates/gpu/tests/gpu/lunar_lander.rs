//! Tests of LunarLander on the device, compared with the CPU: single steps from states of every kind, and complete episodes with different
//! pilots (sources of actions).
//!
//! In flight, a step differs from the CPU only by rounding. On the ground, the solver makes 180 sweeps without convergence, which amplify
//! rounding. Occasionally, rounding decides whether there is a contact or whether a leg is at its stop. The tests limit the size and the
//! frequency of such differences.

use crate::fleet::{Fleet, wide};
use crate::submit;
use gpu::control::world;
use gpu::{Gpu, Program, Readback, Space, groups};
use math::Isa;
use math::rng::hash_1;
use worlds::control::lunar_lander::{OBSERVATION, STATE, heuristic};
use worlds::control::vector::{LENGTH_SHIFT, TERMINATED};

const ID: &str = "LunarLander-v3";
const SEED: u32 = 21;

/// Pilot whose actions are given by the row [`ACTION`].
const GIVEN: u32 = 0;
/// Pilot with random actions.
const ANY: u32 = 1;
/// Gymnasium's heuristic as pilot.
const EXAMPLE: u32 = 2;

/// Maximum number of recorded episodes per environment.
const EPISODES: usize = 3;
/// Row of the action in [`Rows::floats`], after state and observation.
const ACTION: usize = STATE + OBSERVATION;
/// First row of the returns of episodes in [`Rows::floats`].
const TOTALS: usize = ACTION + 1;
/// Number of rows in [`Rows::floats`].
const FLOATS: usize = TOTALS + EPISODES;
/// First row of the episodes' final words in [`Rows::words`]: flags and length of an ended episode.
const ENDS: usize = 4;
/// Number of rows in [`Rows::words`].
const WORDS: usize = ENDS + EPISODES;

/// Kernel that advances each environment in memory by `steps` steps, or until `episodes` episodes have ended. Floats and words are
/// `[row][len]`. The rows of floats are: state, observation after the step, action, returns. The rows of words are: environment, episode,
/// step, initial episode, end of each episode.
const PLAY: &str = "
struct Args { len: u32, steps: u32, pilot: u32, episodes: u32, key: vec4<u32> }
const TAKEN: u32 = STATE + OBSERVATION;

fn heuristic_action(seen: Shown) -> f32 {
    let lean = clamp(seen[0] * 0.5 + seen[2], -0.4, 0.4);
    var turn = (lean - seen[4]) * 0.5 - seen[5];
    var lift = (0.55 * abs(seen[0]) - seen[1]) * 0.5 - seen[3] * 0.5;
    if (seen[6] != 0.0 || seen[7] != 0.0) {
        turn = 0.0;
        lift = -0.5 * seen[3];
    }
    if (lift > abs(turn) && lift > 0.05) { return 2.0; }
    if (turn < -0.05) { return 3.0; }
    return select(0.0, 1.0, turn > 0.05);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let len = args.len;
    if (i >= len) { return; }
    var at: EnvState;
    for (var s = 0u; s < STATE; s++) { at.state[s] = mem[s * len + i]; }
    at.shown = world_shown(at.state);
    at.episodes = words[len + i];
    at.steps = words[2u * len + i];
    let env = words[i];
    let first = words[3u * len + i];
    var reached = at.shown;
    for (var t = 0u; t < args.steps && at.episodes - first < args.episodes; t++) {
        var action = mem[TAKEN * len + i];
        if (args.pilot == 1u) { action = f32(hash(vec2<u32>(5u, at.episodes), vec2<u32>(env, at.steps)).x >> 30u); }
        if (args.pilot == 2u) { action = heuristic_action(at.shown); }
        let e = at.episodes - first;
        let result = world_go(at, Action(action), env, args.key);
        at = result.now;
        reached = result.reached;
        mem[(TAKEN + 1u + e) * len + i] += result.reward;
        words[(4u + e) * len + i] = result.ended;
    }
    for (var s = 0u; s < STATE; s++) { mem[s * len + i] = at.state[s]; }
    for (var o = 0u; o < OBSERVATION; o++) { mem[(STATE + o) * len + i] = reached[o]; }
    words[len + i] = at.episodes;
    words[2u * len + i] = at.steps;
}
";

/// Environments in the kernel's row layout.
struct Rows {
    len: usize,
    floats: Vec<f32>,
    words: Vec<u32>,
}

impl Rows {
    fn new(len: usize) -> Rows {
        Rows { len, floats: vec![0.0; len * FLOATS], words: vec![0; len * WORDS] }
    }

    fn float(&self, row: usize, i: usize) -> f32 {
        self.floats[row * self.len + i]
    }

    fn word(&self, row: usize, i: usize) -> u32 {
        self.words[row * self.len + i]
    }

    fn set(&mut self, i: usize, floats: impl IntoIterator<Item = f32>, words: impl IntoIterator<Item = u32>) {
        floats.into_iter().enumerate().for_each(|(row, x)| self.floats[row * self.len + i] = x);
        words.into_iter().enumerate().for_each(|(row, x)| self.words[row * self.len + i] = x);
    }
}

/// Runs the kernel `rounds` times on the device, with `steps` steps each time.
async fn play(gpu: &Gpu, pilot: u32, [steps, rounds, episodes]: [u32; 3], from: &Rows) -> Rows {
    let world = world(worlds::control::kind(ID).unwrap()).unwrap();
    let mut space = Space::default();
    let (floats, words) = (space.floats(from.floats.len()), space.words(from.words.len()));
    let mut program = Program::new(gpu);
    let kernel = program.kernel(ID, &format!("{}{PLAY}", world.text));
    let key = (world.kernels.key)(SEED);
    let args = [from.len as u32, steps, pilot, episodes, key[0], key[1], key[2], key[3]];
    program.dispatch(&kernel, &args, groups(from.len, 64));
    let memory = space.allocate(gpu).unwrap();
    program.bind(&memory);
    memory.write_floats(floats, &from.floats);
    memory.write_words(words, &from.words);
    for _ in 0..rounds {
        submit(gpu, &program, 0..1);
    }
    let (mut floats, mut words) = Readback::new(&memory, &[floats], &[words]).fetch().await.unwrap();
    Rows { len: from.len, floats: floats.remove(0), words: words.remove(0) }
}

/// Returns a random action, a function of environment, episode and step.
fn random_action(env: usize, episode: u32, steps: u32) -> f32 {
    (hash_1([5, episode], [env as u32, steps])[0] >> 30) as f32
}

/// Creates environments on the CPU.
fn fleet(count: usize) -> Fleet {
    Fleet::new(ID, Isa::best(), SEED, 0, count)
}

fn heuristic_action(shown: &[f32]) -> f32 {
    heuristic::<f32>(shown.try_into().unwrap()) as f32
}

/// Runs different pilots on the CPU, and samples one step in `every`. Returns the environments before and after each sampled step.
fn sampled_steps(count: usize, steps: usize, every: usize) -> [Rows; 2] {
    let mut fleet = fleet(count);
    let [mut from, mut to] = [(); 2].map(|()| Rows::new(count * steps / every));
    for t in 0..steps {
        let states = fleet.states();
        // Environments use these pilots in turn: the heuristic, the heuristic mixed with random actions, no action, the main engine at
        // every other step, and random actions.
        fleet.step_by(|env, shown| {
            let (_, steps, episode) = states[env];
            match env % 5 {
                0 => heuristic_action(shown),
                1 if random_action(!env, episode, steps) > 0.0 => heuristic_action(shown),
                2 => 0.0,
                3 if t % 2 == 0 => 2.0,
                _ => random_action(env, episode, steps),
            }
        });
        if t % every != every - 1 {
            continue;
        }
        for (env, (state, steps, episode)) in states.into_iter().enumerate() {
            let (n, action) = (t / every * count + env, fleet.actions[env]);
            let floats = state.into_iter().chain([0.0; OBSERVATION]).chain([action]);
            from.set(n, floats, [env as u32, episode, steps, episode]);
            let (state, steps, episodes) = fleet.state(env);
            let floats = state.into_iter().chain(fleet.reached(env));
            let floats = floats.chain([action, fleet.rewards[env]]);
            to.set(n, floats, [env as u32, episodes, steps, episode, fleet.ended[env]]);
        }
    }
    [from, to]
}

/// Kind of a step, which depends on the contacts before the step and on the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StepKind {
    Flight,
    Touch,
    Ground,
    Still,
    Rest,
    Crash,
    Lost,
}

fn kind_of(from: &Rows, to: &Rows, i: usize) -> StepKind {
    let legs = |rows: &Rows, row| rows.float(row, i) + rows.float(row + 1, i) > 0.0;
    if to.word(ENDS, i) & TERMINATED != 0 {
        match to.float(TOTALS, i) > 0.0 {
            true => StepKind::Rest,
            false if to.float(STATE, i).abs() >= 1.0 => StepKind::Lost,
            false => StepKind::Crash,
        }
    } else if from.float(28, i) > 0.0 {
        StepKind::Still
    } else if legs(from, 26) {
        StepKind::Ground
    } else if legs(to, STATE + 6) {
        StepKind::Touch
    } else {
        StepKind::Flight
    }
}

/// For each kind of step: limits for the median and for the 99th percentile of the differences in observations.
const FAR: [(StepKind, f32, f32); 7] = [
    (StepKind::Flight, 1e-6, 5e-6),
    (StepKind::Touch, 2e-6, 1e-5),
    (StepKind::Ground, 1e-6, 2e-5),
    (StepKind::Still, 1e-6, 2e-5),
    (StepKind::Rest, 1e-6, 2e-6),
    // An impact of the hull amplifies differences in the last digits to differences in the fourth digit.
    (StepKind::Crash, 1e-5, 2e-3),
    (StepKind::Lost, 2e-6, 2e-5),
];

/// Returns the quantile of the numbers at `share` (0 to 1).
fn quantile(numbers: &mut [f32], share: f32) -> f32 {
    numbers.sort_by(f32::total_cmp);
    numbers[((numbers.len() - 1) as f32 * share) as usize]
}

async fn single_steps_match_the_cpu(gpu: Gpu) {
    let [from, to] = sampled_steps(320, 600, 6);
    let ours = play(&gpu, GIVEN, [1, 1, 1], &from).await;
    let steps: Vec<usize> = (0..from.len).collect();
    let apart = |rows: std::ops::Range<usize>, i| testkit::worst(rows.map(|row| (ours.float(row, i) - to.float(row, i)).abs())) as f32;
    let count = |wrong: &dyn Fn(usize) -> bool| steps.iter().filter(|&&i| wrong(i)).count();

    // Integer results must be equal in almost all steps: ends, episodes, steps, engines, leg contacts, terrain pieces and features.
    let otherwise = count(&|i| (1..WORDS).any(|row| ours.word(row, i) != to.word(row, i)));
    assert!(otherwise * 10_000 <= steps.len(), "{otherwise} of {} steps ended differently", steps.len());
    let low = steps.iter().filter(|&&i| kind_of(&from, &to, i) != StepKind::Flight).count();
    let decided = |row: usize| (26..29).contains(&row) || row >= 43 && (row - 43) % 7 < 3;
    let otherwise = count(&|i| (0..STATE).any(|row| decided(row) && apart(row..row + 1, i) > 0.0));
    assert!(otherwise * 1000 <= low, "contacts differ in {otherwise} of {low} steps");
    let fired = count(&|i| apart(30..32, i) > 0.0);
    assert_eq!(fired, 0, "another engine fired");
    // Large differences occur although the contacts are equal, if a leg is at its stop only on the device or only on the CPU.
    let far = count(&|i| apart(STATE..ACTION, i) > 5e-3 || apart(TOTALS..TOTALS + 1, i) > 2e-2);
    assert!(far * 5000 <= steps.len(), "{far} of {} steps differ much", steps.len());

    for (kind, half, most) in FAR {
        let these = || steps.iter().filter(|&&i| kind_of(&from, &to, i) == kind);
        assert!(these().count() >= 10, "{} steps are {kind:?}", these().count());
        // If the step ends an episode, the compared state is that of the next episode.
        let parts = [
            ("observations", STATE..ACTION, [half, most]),
            ("rewards", TOTALS..TOTALS + 1, [1e-4, 1e-3]),
            ("states", 0..STATE, [1e-4, 5e-3]),
        ];
        for (what, rows, most) in parts {
            let mut off: Vec<f32> = these().map(|&i| apart(rows.clone(), i)).collect();
            let found = [0.5, 0.99].map(|share| quantile(&mut off, share));
            assert!(found[0] <= most[0] && found[1] <= most[1], "{kind:?}: {what} differ by {found:?}");
        }
    }
}

/// Asserts that the mean of the differences `ours` - `theirs` is within four standard errors of 0.
fn agree(what: &str, ours: &[f64], theirs: &[f64]) {
    let n = ours.len() as f64;
    let mean = |of: &dyn Fn(usize) -> f64| (0..ours.len()).map(of).sum::<f64>() / n;
    let by = mean(&|i| ours[i] - theirs[i]);
    let error = (mean(&|i| (ours[i] - theirs[i] - by).powi(2)) / n).sqrt();
    assert!(by.abs() <= 4.0 * error, "{what}: off by {by:.4}, {:.1} standard errors", by.abs() / error);
}

async fn pilots_reach_the_same_results_as_on_the_cpu(gpu: Gpu) {
    const COUNT: usize = 512;
    for (pilot, rounds) in [(ANY, 20), (EXAMPLE, 80)] {
        let mut fleet = fleet(COUNT);
        let [mut from, mut to] = [(); 2].map(|()| Rows::new(COUNT));
        for env in 0..COUNT {
            from.set(env, fleet.state(env).0, [env as u32]);
        }
        let ours = play(&gpu, pilot, [50, rounds, EPISODES as u32], &from).await;

        let mut going = COUNT * EPISODES;
        while going > 0 {
            let states = fleet.states();
            fleet.step_by(|env, shown| match (pilot, &states[env]) {
                (ANY, (_, steps, episode)) => random_action(env, *episode, *steps),
                _ => heuristic_action(shown),
            });
            let episodes = states.iter().map(|state| state.2 as usize);
            for (env, e) in episodes.enumerate().filter(|&(_, e)| e < EPISODES) {
                to.floats[(TOTALS + e) * COUNT + env] += fleet.rewards[env];
                to.words[(ENDS + e) * COUNT + env] = fleet.ended[env];
                going -= usize::from(fleet.ended[env] != 0);
            }
        }

        let ends = |rows: &Rows| rows.words[ENDS * COUNT..].to_vec();
        assert!(ends(&ours).iter().all(|&end| end != 0), "an episode has not ended");
        let numbers = |words: Vec<u32>, of: fn(u32) -> u32| -> Vec<f64> { words.into_iter().map(|word| f64::from(of(word))).collect() };
        let returns = |rows: &Rows| wide(&rows.floats[TOTALS * COUNT..]);
        agree("returns", &returns(&ours), &returns(&to));
        for (what, of) in [("lengths", (|end| end >> LENGTH_SHIFT) as fn(u32) -> u32), ("terminated", |end| end & TERMINATED)] {
            agree(what, &numbers(ends(&ours), of), &numbers(ends(&to), of));
        }
        // With random actions, hard landings end most episodes soon. With the heuristic, long contact with the ground lets trajectories
        // diverge.
        let same = returns(&ours).iter().zip(returns(&to)).filter(|(a, b)| (*a - b).abs() < 0.1).count();
        let least = if pilot == ANY { 0.95 } else { 0.75 };
        assert!(same as f64 >= least * (COUNT * EPISODES) as f64, "{same} episodes are the same");
    }
}

crate::common::tests!(
    single_steps_match_the_cpu;
    natively:
    #[ignore = "all: single_steps_match_the_cpu"]
    fn pilots_reach_the_same_results_as_on_the_cpu,
);
