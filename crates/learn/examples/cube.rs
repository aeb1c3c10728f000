//! Trains a network for the cube for so many seconds of processor time, and tells what it is worth: the greedy share over all
//! states of the 2x2x2, and beams on uniform states.
//! `cargo run --release -p learn --example cube -- --seconds 60 --set walk=20 --beam 64,256 --states 1000`
//! `cargo run --release -p learn --example cube -- --cube 3 --seconds 420 --beam 1024,4096 --states 20`
//! Judging is not counted in the seconds; with `--every 10` it judges after every ten as well. `--keep FILE` writes the weights
//! whenever it judges, and where there is such a file trains nothing and judges those.

use learn::Learner;
use learn::cube::{
    Cube, CubeLearner, Evaluator, Exhaustive, Greedy, Judge, Limits, Method, Scores, Search, Signal, Supervised, SupervisedConfig,
};
use learn::settings::Settings;
use math::{Isa, Rng};
use std::sync::Arc;
use std::time::Instant;
use worlds::cube::{Actions, Distances, Metric, Three, Two};

struct Asked {
    seconds: f64,
    every: f64,
    seed: u32,
    states: usize,
    beams: Vec<usize>,
    exhaustive: bool,
    settings: Vec<String>,
    signal: Signal,
    /// Where weights are kept: read where they are there, else written.
    keep: Option<String>,
}

fn main() {
    let mut asked = Asked {
        seconds: 20.0,
        every: f64::INFINITY,
        seed: 1,
        states: 1000,
        beams: vec![64, 256],
        exhaustive: true,
        settings: Vec::new(),
        signal: Signal::WalkLength,
        keep: None,
    };
    let (mut cube, mut threads) = (2, 2);
    let mut arguments = std::env::args().skip(1);
    while let Some(flag) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| panic!("{flag} needs a value"));
        let number = || value.parse().unwrap_or_else(|_| panic!("{flag} needs a number, not {value}"));
        match flag.as_str() {
            "--cube" => cube = number() as u32,
            "--seconds" => asked.seconds = number(),
            "--every" => asked.every = number(),
            "--seed" => asked.seed = number() as u32,
            "--states" => asked.states = number() as usize,
            "--threads" => threads = number() as usize,
            "--exhaustive" => asked.exhaustive = value == "yes",
            "--beam" => asked.beams = value.split(',').map(|width| width.parse().expect("a width")).collect(),
            "--signal" => {
                let found = Signal::ALL.into_iter().find(|signal| signal.id() == value);
                asked.signal = found.unwrap_or_else(|| panic!("no signal {value}; there are walk, last, exact"));
            }
            "--keep" => asked.keep = Some(value),
            "--set" => asked.settings.push(value),
            _ => panic!(
                "unknown {flag}; there are --cube --signal --seconds --every --seed --states --threads --exhaustive --beam --keep --set"
            ),
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| match cube {
        2 => two(&asked),
        3 => drop(train::<Three>(&asked, config::<Three>(&asked), None, |_| ())),
        _ => panic!("no cube {cube}; there are 2 and 3"),
    });
}

fn config<P: Cube>(asked: &Asked) -> SupervisedConfig {
    let mut config = SupervisedConfig::preset::<P>(asked.signal);
    for setting in &asked.settings {
        let (name, value) = setting.split_once('=').unwrap_or_else(|| panic!("{setting} sets nothing"));
        let set = config.parse(name, value).unwrap_or_else(|error| panic!("{error}"));
        assert!(set, "no setting {name}");
    }
    config
}

fn two(asked: &Asked) {
    let config = config::<Two>(asked);
    let exact = Arc::new(Distances::new(config.metric));
    let mut all = Exhaustive::new(exact.clone());
    let mut judge_all = |judge: &mut Evaluator<Two>| {
        if !asked.exhaustive {
            return;
        }
        let (start, cpu) = (Instant::now(), cpu_s());
        let report = all.run(judge);
        println!("  all states in {:.1} s, {:.1} CPU-s", start.elapsed().as_secs_f64(), cpu_s() - cpu);
        for greedy in Greedy::ALL {
            let total = report.total(greedy);
            let by_distance = report.rows(greedy).iter().map(|row| format!("{:.1}", 100.0 * row.share()));
            println!(
                "  greedy {greedy:?} {:.2}%, {:.2}% optimally, {:.3} moves too many; by distance {}",
                100.0 * total.share(),
                100.0 * total.optimal_share(),
                total.mean_excess(),
                by_distance.collect::<Vec<_>>().join(" ")
            );
        }
    };
    let mut judge = train::<Two>(asked, config.clone(), Some(exact.clone()), &mut judge_all);
    for &width in &asked.beams {
        let mut search = Search::new(Method::Beam { width }, Limits::default(), Actions::of::<Two>(config.metric)).expect("sound");
        let mut numbers = Rng::new(77, 7).sequence(0);
        let (mut solved, mut optimal, mut nodes, start, cpu) = (0, 0, 0, Instant::now(), cpu_s());
        for _ in 0..asked.states {
            let state = <Two as worlds::cube::Puzzle>::drawn(&mut numbers);
            let outcome = search.solve(state, &mut judge).expect("a beam goes with any judge");
            nodes += outcome.nodes;
            if let Ok(actions) = outcome.solution {
                solved += 1;
                optimal += usize::from(actions.len() == usize::from(exact.of(state)));
            }
        }
        let n = asked.states as f64;
        println!(
            "  beam {width}: {:.1}% of {n} solved, {:.1}% optimally; {:.0} nodes, {:.2} ms, {:.2} CPU-ms each",
            100.0 * solved as f64 / n,
            100.0 * optimal as f64 / n,
            nodes as f64 / n,
            1e3 * start.elapsed().as_secs_f64() / n,
            1e3 * (cpu_s() - cpu) / n
        );
    }
}

fn train<P: Cube>(
    asked: &Asked,
    config: SupervisedConfig,
    exact: Option<Arc<Distances>>,
    mut look: impl FnMut(&mut Evaluator<P>),
) -> Evaluator<P> {
    println!("{config:?}");
    let (metric, walk) = (config.metric, config.walk);
    let actions = Actions::of::<P>(metric);
    let mut learner = Supervised::<P>::new(config, exact, asked.seed, Isa::best()).expect("sound settings");
    let mut judge = learner.judge().expect("a plan");
    let (start, mut counted, mut wall, mut due) = (cpu_s(), 0.0, 0.0, asked.every);
    let mut began = start;
    let kept = asked.keep.as_ref().and_then(|path| std::fs::read(path).ok());
    if let Some(bytes) = &kept {
        let weights: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect();
        judge.set(&weights);
        look(&mut judge);
    }
    while kept.is_none() && counted < asked.seconds {
        let clock = Instant::now();
        let stats = loop {
            if let learn::Slice::Ended(stats) = learner.advance() {
                break stats;
            }
        };
        wall += clock.elapsed().as_secs_f64();
        counted += cpu_s() - began;
        if counted >= due || counted >= asked.seconds {
            let progress = learner.progress();
            println!(
                "{counted:.1} CPU-s, {wall:.1} s: {} updates, {:.2}M states, {:.2} CPU-ms an update, loss {:.4}, gradient {:.3}",
                progress.updates,
                progress.states as f64 / 1e6,
                1e3 * counted / progress.updates as f64,
                stats.loss,
                stats.grad_norm
            );
            judge.set(learner.weights());
            if let Some(path) = &asked.keep {
                let bytes: Vec<u8> = learner.weights().iter().flat_map(|weight| weight.to_le_bytes()).collect();
                std::fs::write(path, bytes).expect("a file that can be written");
            }
            if asked.signal == Signal::WalkLength {
                lengths::<P>(&actions, walk, &mut judge);
            }
            look(&mut judge);
            due += asked.every;
        }
        began = cpu_s();
    }
    if P::SIZE == 3 {
        three(asked, metric, &mut judge);
    }
    judge
}

/// How well it tells the lengths of walks that it was not trained on.
fn lengths<P: Cube>(actions: &Actions, walk: usize, judge: &mut Evaluator<P>) {
    if judge.scores() != Scores::Value {
        return;
    }
    let mut numbers = Rng::new(99, 9).sequence(0);
    let (mut states, mut taken) = (vec![P::SOLVED; 8000 * walk], vec![0; walk]);
    states.chunks_exact_mut(walk).for_each(|states| P::fill_walk(actions, &mut numbers, states, &mut taken));
    let mut values = vec![0.0; states.len()];
    judge.judge(&states, &mut values);
    let square = |(i, value): (usize, &f32)| (f64::from(*value) - (i % walk + 1) as f64).powi(2);
    let sum: f64 = values.iter().enumerate().map(square).sum();
    println!("  lengths of other walks: mean square of what is missing {:.4}", sum / states.len() as f64);
}

fn three<P: Cube>(asked: &Asked, metric: Metric, judge: &mut Evaluator<P>) {
    for &width in &asked.beams {
        let mut search = Search::new(Method::Beam { width }, Limits::default(), Actions::of::<P>(metric)).expect("sound");
        let mut numbers = Rng::new(77, 7).sequence(0);
        let (mut solved, mut length, mut longest, start, cpu) = (0, 0, 0.0f64, Instant::now(), cpu_s());
        for _ in 0..asked.states {
            let before = cpu_s();
            let outcome = search.solve(P::drawn(&mut numbers), judge).expect("a beam goes with any judge");
            if let Ok(actions) = outcome.solution {
                solved += 1;
                length += actions.len();
            }
            longest = longest.max(cpu_s() - before);
        }
        let n = asked.states as f64;
        println!(
            "  beam {width}: {solved} of {n} solved in {:.2} moves; {:.2} s, {:.2} CPU-s each, {longest:.2} at most",
            length as f64 / f64::from(solved).max(1.0),
            start.elapsed().as_secs_f64() / n,
            (cpu_s() - cpu) / n
        );
    }
}

/// Seconds that all threads of this process have worked.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a Linux system");
    let ticks = |field: &str| field.parse::<f64>().expect("a number of ticks");
    let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
    (ticks(fields[11]) + ticks(fields[12])) / 100.0
}
