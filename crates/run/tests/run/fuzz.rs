//! Tests that fuzzed input is read or rejected with an error. A test fails if the code panics, or if the code uses more than about twice
//! the memory that valid input of the same kind needs. The input is a checkpoint, a link, a monitor, a line of another program, a sweep or
//! a circuit. `npm test -- --all` and `FUZZ=10000` run more cases.

use crate::common::*;
use run::backgammon::{Board, PlayerLines, Reply, Results, Roll, RulesLines, baselines, decisions, fibs};
use run::monitor::{Reader, Writer, heap};
use run::protocol::{Command, Config, Digest, SweepSpec};
use run::{Host, permalink};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use testkit::{Apart, Counting, Mutator, cases, fuzz, peak_bytes};

#[global_allocator]
static COUNTING: Counting = Counting;

const CASES: u32 = 300;
/// Number of bytes that are added to every memory limit, for error texts and for containers that grow by doubling.
const SLACK: u64 = 65_536;

/// Bit patterns of numbers that training does not produce.
const WILD: [u32; 8] = [0x7fc0_0000, 0x7f80_0000, 0xff80_0000, 0x7f7f_ffff, 0, 1, 0x8000_0000, u32::MAX];

/// Returns a checkpoint with a changed header or tensor and a valid checksum.
fn changed(mutator: &mut Mutator, good: &Apart) -> Vec<u8> {
    let mut parts = good.clone();
    if mutator.below(3) > 0 {
        let header = mutator.json(&parts.header);
        if header.is_object() {
            parts.header = header;
        }
        return parts.together();
    }
    let (chosen, other) = (mutator.below(parts.tensors.len()), mutator.below(parts.tensors.len()));
    let width = match format!("{:?}", parts.tensors[chosen].1).as_str() {
        "U8" => 1,
        "F64" | "U64" => 8,
        _ => 4,
    };
    let tensor = &mut parts.tensors[chosen];
    match mutator.below(6) {
        0 => drop(parts.tensors.remove(chosen)),
        1 => {
            let bytes = parts.tensors[other].3.clone();
            let (dtype, shape) = (parts.tensors[other].1, parts.tensors[other].2.clone());
            let name = parts.tensors[chosen].0.clone();
            parts.tensors[chosen] = (name, dtype, shape, bytes);
        }
        2 => {
            let keep = mutator.below(tensor.3.len() / width + 1);
            tensor.3.truncate(keep * width);
            tensor.2 = vec![keep];
        }
        3 => {
            let twice = tensor.3.repeat(2);
            tensor.2 = vec![twice.len() / width];
            tensor.3 = twice;
        }
        // The tensor keeps its values, but gets another shape.
        4 => tensor.2 = vec![1, tensor.3.len() / width],
        _ => {
            for _ in 0..1 + mutator.below(8) {
                if tensor.3.len() >= 4 {
                    let at = mutator.below(tensor.3.len() / 4) * 4;
                    let wild = mutator.one_of(&WILD).to_le_bytes();
                    tensor.3[at..at + 4].copy_from_slice(&wild);
                }
            }
        }
    }
    parts.together()
}

fn checkpoints(id: &str) {
    let mut files: Vec<(String, Vec<u8>)> = Vec::new();
    for (_, config) in every(1).into_iter().filter(|(room, _)| room.schema().id == id) {
        let mut run = trained(&config, 1);
        if id == "backgammon" {
            start_session(&mut *run);
        }
        // The run records a mark if `lr` is a live knob.
        let _ = run.command(set("lr", 0.002));
        train(&mut *run, 2);
        files.push((config.variant.clone(), run.save().unwrap()));
    }
    // A case restores a run, which takes longer than the reading of other inputs.
    let most = if testkit::all() { CASES } else { CASES / 5 };
    let each = cases(most).div_ceil(files.len() as u32);
    for (name, file) in &files {
        let parts = apart(file);
        let (run, usual) = peak_bytes(|| run::restore(file, host()).unwrap());
        let estimated = room(id).bytes(&run.config_now(), host()).unwrap();
        // This host rejects a file that needs more than twice the estimated memory.
        let narrow = Host { memory_bytes: 2 * estimated, ..host() };
        fuzz(&format!("checkpoint of {id}, {name}"), each, |mutator| {
            let bytes = match mutator.below(5) {
                0 => mutator.bytes(file),
                _ => changed(mutator, &parts),
            };
            let (read, took) = peak_bytes(|| run::restore(&bytes, narrow));
            let most = 2 * usual.max(estimated) + 4 * bytes.len() as u64 + SLACK;
            assert!(took <= most, "{took} bytes; valid: {usual}, estimated: {estimated}");
            match read {
                Err(error) => assert!(error.to_string().len() > 15, "{error}"),
                Ok(mut run) => {
                    run.command(Command::Start).unwrap();
                    for _ in 0..3 {
                        run.advance(0.0);
                    }
                    run.events();
                    run.digest();
                    let config = run.config_now();
                    assert!(!run::native_command(&config).contains(char::is_control));
                    assert!(!permalink::encode(&config, None).contains(char::is_control));
                }
            }
        });
    }
}

macro_rules! of_checkpoints {
    ($($test:ident: $room:literal,)*) => {
        $(#[test]
        fn $test() {
            checkpoints($room);
        })*
    };
}

of_checkpoints! {
    checkpoints_of_control_fuzz: "control",
    checkpoints_of_backgammon_fuzz: "backgammon",
    checkpoints_of_cubes_fuzz: "cube",
    checkpoints_of_logic_fuzz: "logic",
    checkpoints_of_words_fuzz: "words",
}

/// Returns the config with a value for every knob, including text knobs.
fn full(config: &Config) -> Config {
    let knobs = room(&config.room).knobs(&config.variant).into_iter().map(|knob| (knob.name.into(), knob.default));
    Config { knobs: knobs.chain(config.knobs.clone()).collect(), ..config.clone() }
}

#[test]
fn links_fuzz() {
    let digest = Digest { iteration: 32, weights: "0123456789abcdef".into(), arithmetic: "fused".into() };
    let links: Vec<String> = every(1)
        .iter()
        .flat_map(|(_, config)| [config.clone(), full(config)])
        .map(|config| permalink::encode(&config, Some(&digest)))
        .collect();
    let take = |link: &str| peak_bytes(|| permalink::decode(link, host()));
    let usual = links.iter().map(|link| take(link).1).max().unwrap();
    fuzz("link", cases(CASES), |mutator| {
        let good = mutator.one_of(&links).clone();
        let link = mutator.text(&good);
        let (read, took) = take(&link);
        assert!(took <= 2 * usual + 16 * link.len() as u64 + SLACK, "{took} bytes for {link:.300}");
        match read {
            Err(error) => drop(clear(&error)),
            Ok(link) => {
                let again = permalink::decode(&permalink::encode(&link.config, link.digest.as_ref()), host());
                assert_eq!(again.unwrap(), link);
                assert!(!run::native_command(&link.config).contains(char::is_control));
            }
        }
    });
}

#[test]
fn lines_of_backgammon_fuzz() {
    let lines = ["4HPwATDgc/ABMA 3 1", "points 4HPwATDgc/ABMA", "move 4HPwATDgc/ABMA 6 6", "hello", "batch 2"];
    let (mut rules, mut player) = (RulesLines::new(), PlayerLines::new(Box::new(baselines::Random::new(1))));
    fuzz("line", cases(CASES), |mutator| {
        let good = mutator.one_of(&lines);
        let line = mutator.text(good);
        let ((), took) = peak_bytes(|| {
            if let Err(error) = rules.answer(&line) {
                assert!(error.to_string().len() > 10, "{error}");
            }
            // `Later` means that the player waits for the announced number of lines of a batch. The test ends the batch early.
            if player.answer(Some(&line)) == Reply::Later {
                player.end();
            }
        });
        assert!(took <= 64 * line.len() as u64 + SLACK, "{took} bytes for {line:.300}");
    });
    let mut scratch = Results::new();
    let (board, roll) = (Board::from_id("4HPwATDgc/ABMA").unwrap(), Roll::new(3, 1).unwrap());
    let results: Vec<(String, f64)> =
        board.results(roll, &mut scratch).iter().map(|board| (board.id().as_str().to_string(), 0.25)).collect();
    let decision = json!({ "id": "4HPwATDgc/ABMA", "dice": [3, 1], "moves": results });
    decisions::Decision::read(&decision.to_string(), &mut scratch).unwrap();
    fuzz("decision", cases(CASES), |mutator| {
        let line = match mutator.below(2) {
            0 => mutator.text(&decision.to_string()),
            _ => mutator.json(&decision).to_string(),
        };
        if let Err(error) = decisions::Decision::read(&line, &mut scratch) {
            assert!(error.to_string().len() > 10, "{error}");
        }
        let question = fibs::question(&board, roll);
        fibs::answer(&board, roll, &mutator.text(&question)).ok();
    });
}

#[test]
fn circuits_fuzz() {
    let good = learn::logic::circuit::Circuit::life().to_json();
    let document: serde_json::Value = serde_json::from_str(&good).unwrap();
    let take = |text: &str| peak_bytes(|| learn::logic::circuit::Circuit::from_json(text));
    let usual = take(&good).1;
    fuzz("circuit", cases(CASES), |mutator| {
        let text = match mutator.below(2) {
            0 => mutator.text(&good),
            _ => mutator.json(&document).to_string(),
        };
        let (read, took) = take(&text);
        assert!(took <= 2 * usual.max(32 * text.len() as u64) + SLACK, "{took} bytes for {text:.300}");
        match read {
            Err(error) => assert!(error.to_string().len() > 15, "{error}"),
            Ok(circuit) => {
                circuit.counts();
                circuit.layers();
                circuit.alive();
                circuit.to_json();
            }
        }
    });
}

#[test]
fn sweeps_fuzz() {
    let spec =
        |config: &Config, knob: &str| json!({ "config": config, "knob": knob, "values": [0.001, 0.002], "seeds": 2, "budget": 4096.0 });
    let good: Vec<serde_json::Value> = first(1)
        .iter()
        .filter(|(room, _)| room.knobs(&room.variants()[0].id).iter().any(|knob| knob.name == "lr"))
        .map(|(_, config)| spec(config, "lr"))
        .collect();
    // The host has as little memory as a page with 256 MiB.
    let narrow = Host { memory_bytes: 1 << 28, ..host() };
    fuzz("sweep", cases(CASES / 6), |mutator| {
        let document = mutator.one_of(&good).clone();
        let document = mutator.json(&document);
        let Ok(spec) = serde_json::from_value::<SweepSpec>(document) else { return };
        let (made, took) = peak_bytes(|| run::Sweep::new(spec, narrow));
        assert!(took <= 2 * narrow.memory_bytes, "{took} bytes");
        match made {
            Err(error) => assert!(error.to_string().len() > 15, "{error}"),
            Ok(mut sweep) => {
                sweep.advance(0.0);
                sweep.cells();
            }
        }
    });
}

#[test]
fn monitors_fuzz() {
    for room in rooms() {
        let schema = room.schema();
        let memory = heap(schema);
        let mut writer = Writer::new(Box::new(memory.clone()), schema, "about").unwrap();
        let mut run = start(&small(schema.id, &room.variants()[0].id, 1));
        while run.progress().iteration < 2 {
            run.advance(0.0);
            run.events().iter().for_each(|event| writer.event(event));
            writer.beat(&run.progress());
        }
        writer.say("{\"kind\":\"file_saved\"}");
        let words: Vec<u64> = memory.iter().map(|word| word.load(Relaxed)).collect();
        let look = |words: &[u64]| {
            let memory: Arc<[AtomicU64]> = words.iter().map(|&word| AtomicU64::new(word)).collect();
            peak_bytes(|| -> Result<(usize, usize), run::RunError> {
                let mut reader = Reader::open(Box::new(memory.clone()))?;
                reader.about();
                reader.progress();
                reader.heartbeat();
                reader.parts_s();
                // The second poll continues where the first poll ended.
                Ok((reader.poll().len(), reader.poll().len()))
            })
        };
        let (read, usual) = look(&words);
        assert!(read.unwrap().0 > 2);
        let head = words.len().min(256);
        fuzz(&format!("monitor of {}", schema.id), cases(CASES / 5), |mutator| {
            let mut words = words.clone();
            for _ in 0..1 + mutator.below(6) {
                // Half of the changes are in the head of the memory, which contains lengths and positions.
                let len = if mutator.below(2) == 0 { head } else { words.len() };
                let at = mutator.below(len);
                words[at] = match mutator.below(5) {
                    0 => mutator.word(),
                    1 => mutator.below(70_000) as u64,
                    2 => u64::MAX - mutator.below(3) as u64,
                    3 => words[at] ^ 1 << mutator.below(64),
                    _ => words[mutator.below(words.len())],
                };
            }
            if mutator.below(10) == 0 {
                words.truncate(mutator.below(words.len() + 1));
            }
            let (read, took) = look(&words);
            assert!(took <= 2 * usual.max(16 * words.len() as u64) + SLACK, "{took} bytes, usually {usual}");
            if let Err(error) = read {
                clear(&error);
            }
        });
    }
}
