//! Tests of user data. The room `bandit` learns from a file of payouts; rooms without user data reject all data.

use crate::common::*;
use run::protocol::{Command, Config, Dataset, Event, SweepSpec};
use run::{AnyRun, Host, RunError, permalink};
use serde_json::json;

const PAYOUTS: &[u8] = b"0.1 0.3 0.2 0.95 0.4";

fn payouts() -> Dataset {
    Dataset::new("payouts.txt", PAYOUTS.to_vec())
}

fn on(data: Dataset) -> Config {
    Config { data: Some(data), ..small("bandit", "three-arms", 5) }
}

/// Returns the data without their content, as a link or an event describes user data.
fn without_content(data: &Dataset) -> Dataset {
    let json = serde_json::to_value(data).unwrap();
    assert!(json.get("content").is_none(), "{json}");
    serde_json::from_value(json).unwrap()
}

fn arms(run: &mut dyn AnyRun) -> usize {
    ask::<Vec<f64>>(run, json!({ "ask": "policy" })).unwrap().len()
}

fn missing(error: &RunError) {
    assert!(matches!(error, RunError::DataMissing { .. }), "{error}");
    let text = clear(error);
    assert!(text.contains("payouts.txt") && text.contains("Provide exactly that file"), "{text}");
}

/// Returns data that are too large for a checkpoint: numbers followed by blanks.
fn large() -> Dataset {
    let mut content = PAYOUTS.to_vec();
    content.resize((16 << 20) + 1, b' ');
    Dataset::new("payouts.txt", content)
}

#[test]
fn rooms_without_data_reject_it() {
    for (room, config) in first(1) {
        let takes = room.info().data.is_some();
        assert!(takes || room.schema().id != "bandit");
        if !takes {
            let config = Config { data: Some(payouts()), ..config };
            let link = permalink::encode(&config, None);
            for error in [run::validate(&config, host()).unwrap_err(), begin_error(&config), permalink::decode(&link, host()).unwrap_err()]
            {
                assert!(matches!(error, RunError::NoData { .. }), "{error}");
                clear(&error);
            }
        }
    }
}

#[test]
fn run_learns_from_user_data() {
    let mut own = start(&small("bandit", "three-arms", 5));
    let mut provided = start(&on(payouts()));
    assert_eq!((arms(&mut *own), arms(&mut *provided)), (3, 5));
    for run in [&mut own, &mut provided] {
        train(&mut **run, 40);
    }
    assert_ne!(own.digest(), provided.digest());
    let policy: Vec<f64> = ask(&mut *provided, json!({ "ask": "policy" })).unwrap();
    assert!(policy[3] > 0.5, "{policy:?}");
    // The room rejects data that it cannot use.
    clear(&begin_error(&on(Dataset::new("one.txt", b"0.5".to_vec()))));
    clear(&begin_error(&on(Dataset::new("none.txt", Vec::new()))));
    clear(&run::begin(on(Dataset::new("program", vec![0xFF; 100])), host()).err().unwrap());
    // Events contain no bytes of the data. A run cannot begin from the config of an event, because the bytes are missing.
    let began = serde_json::to_value(Events::drain(&mut *provided).began()).unwrap();
    assert_eq!(began["config"]["data"], json!({ "name": "payouts.txt", "bytes": 20, "hash": payouts().hash }));
    missing(&begin_error(&on(without_content(&payouts()))));
    run::validate(&on(without_content(&payouts())), host()).unwrap();
}

#[test]
fn checkpoint_contains_its_data() {
    let mut run = trained(&on(payouts()), 7);
    let file = saved(&mut *run);
    assert_eq!(run::data_wanted(&file).unwrap(), None);
    let mut again = resume(&file);
    assert_eq!(again.config().data.as_ref().unwrap().content.as_deref().unwrap(), PAYOUTS);
    for run in [&mut run, &mut again] {
        train(&mut **run, 20);
    }
    assert_eq!(again.digest(), run.digest());
    // In three files, the data are replaced by other bytes, have no description, or are missing.
    let mut other = apart(&file);
    other.tensor("run.data")[0] ^= 1;
    assert!(clear(&run::restore(&other.together(), host()).err().unwrap()).contains("damaged"));
    let mut undescribed = apart(&file);
    undescribed.header["config"].as_object_mut().unwrap().remove("data");
    assert!(clear(&run::restore(&undescribed.together(), host()).err().unwrap()).contains("damaged"));
    let mut without = apart(&file);
    without.tensors.retain(|(name, ..)| name != "run.data");
    missing(&run::restore(&without.together(), host()).err().unwrap());
}

#[test]
fn large_data_must_be_provided_on_restore() {
    let data = large();
    let mut run = trained(&on(data.clone()), 3);
    let file = saved(&mut *run);
    assert!(file.len() < 1 << 20, "{}", file.len());
    assert_eq!(run::data_wanted(&file).unwrap(), Some(without_content(&data)));
    missing(&run::restore(&file, host()).err().unwrap());
    missing(&run::restore_with(&file, host(), Some(&payouts())).err().unwrap());
    let mut again = run::restore_with(&file, host(), Some(&data)).unwrap();
    assert_eq!(again.digest(), run.digest());
    // A run that has the data uses these data to restore its file. Another run must receive the data again.
    let restore = |data| Command::Restore { bytes: file.clone(), data, follow: false };
    train(&mut *run, 4);
    run.command(restore(None)).unwrap();
    assert_eq!(run.progress().iteration, 3);
    let mut other = begin(&small("bandit", "three-arms", 5));
    missing(&other.command(restore(None)).unwrap_err());
    missing(&other.command(restore(Some(payouts()))).unwrap_err());
    assert_eq!(arms(&mut *other), 3, "a rejected restore changed the run");
    other.command(restore(Some(data.clone()))).unwrap();
    assert_eq!(arms(&mut *other), 5);
    again.command(Command::Reset { config: None }).unwrap();
    assert_eq!((again.progress().iteration, arms(&mut *again)), (0, 5));
}

#[test]
fn reset_reuses_matching_data() {
    let mut run = begin(&on(payouts()));
    let reset = |data: Option<Dataset>| {
        let json = json!({ "kind": "reset", "config": Config { data, seed: 9, ..on(payouts()) } });
        serde_json::from_value::<Command>(json).unwrap()
    };
    run.command(reset(Some(payouts()))).unwrap();
    assert_eq!((run.config().seed, arms(&mut *run)), (9, 5));
    let other = Dataset::new("payouts.txt", b"1 2".to_vec());
    missing(&run.command(reset(Some(other))).unwrap_err());
    run.command(reset(None)).unwrap();
    assert_eq!(arms(&mut *run), 3);
    missing(&run.command(reset(Some(payouts()))).unwrap_err());
}

#[test]
fn dataset_deserializes_with_and_without_a_hash() {
    let given = |json| serde_json::from_value::<Dataset>(json).unwrap();
    let content = PAYOUTS;
    let provided = given(json!({ "name": "a", "bytes": 0, "hash": "", "content": content }));
    assert!(provided == payouts() && provided.name == "a" && provided.content.is_some());
    let claimed = given(json!({ "name": "a", "bytes": 20, "hash": payouts().hash, "content": content }));
    assert!(claimed == payouts() && claimed.content.is_some());
    for wrong in [
        json!({ "name": "a", "bytes": 21, "hash": payouts().hash, "content": content }),
        json!({ "name": "a", "bytes": 20, "hash": "0123456789abcdef", "content": content }),
    ] {
        let wrong = given(wrong);
        assert!(wrong != payouts() && wrong.content.is_none());
    }
    assert_eq!(format!("{:?}", payouts()), format!("payouts.txt (20 bytes, {})", payouts().hash));
}

#[test]
fn links_and_commands_name_the_data() {
    let mut data = payouts();
    data.name = "it's 100% a.b & c.txt".into();
    let config = on(data.clone());
    let link = permalink::encode(&config, None);
    let read = permalink::decode(&link, host()).unwrap().config;
    assert_eq!(read, config);
    let found = read.data.clone().unwrap();
    assert!(found.name == data.name && found.content.is_none());
    let error = begin_error(&read);
    assert!(matches!(error, RunError::DataMissing { .. }) && clear(&error).contains("a.b & c.txt"));
    assert!(permalink::native_command(&config).ends_with(r" --data 'it'\''s 100% a.b & c.txt'"));
    // If the user provides the file, the link starts the same run.
    let provided = Config { data: Some(data), ..read };
    assert_eq!(begin(&provided).digest(), begin(&config).digest());
    let hash = payouts().hash;
    for bad in [
        "x".into(),
        hash.clone(),
        format!("{hash}.20"),
        format!("{hash}.20."),
        format!("{hash}.many.a"),
        format!("{}.20.a", &hash[1..]),
        format!("{hash}.20.a%0Ab"),
    ] {
        let error = permalink::decode(&format!("#/bandit?data={bad}"), host()).unwrap_err();
        assert!(matches!(error, RunError::Link { .. }) && clear(&error).contains("data"), "{bad}: {error}");
    }
}

#[test]
fn oversized_data_is_rejected_by_its_length() {
    let claimed = |bytes| on(Dataset { name: "payouts.txt".into(), bytes, hash: String::new(), content: None });
    let host = Host { memory_bytes: 900 << 20, ..host() };
    run::validate(&claimed(100 << 20), host).unwrap();
    for bytes in [1 << 30, u64::MAX / 8] {
        let error = run::validate(&claimed(bytes), host).unwrap_err();
        assert!(matches!(error, RunError::DataTooLarge { .. }), "{error}");
        let text = clear(&error);
        assert!(text.contains("900 MB") && text.contains("natively"), "{text}");
    }
    // If the settings do not fit into memory even without the data, the error is about the settings.
    let none = Host { memory_bytes: 1 << 10, ..host };
    assert!(matches!(run::validate(&claimed(100), none), Err(RunError::TooMuchMemory { .. })));
    assert_eq!(run::bytes(&claimed(1 << 20), host).unwrap(), (1 << 16) + (5 << 20));
}

#[test]
fn sweep_learns_from_the_data_of_its_config() {
    let spec = |config| SweepSpec { config, knob: "baseline".into(), values: vec!["mean".into(), "none".into()], seeds: 1, budget: 4096.0 };
    let mut sweep = run::Sweep::new(spec(on(payouts())), host()).unwrap();
    while sweep.advance(0.0) {}
    let mut own = run::Sweep::new(spec(small("bandit", "three-arms", 5)), host()).unwrap();
    while own.advance(0.0) {}
    assert_ne!(sweep.cells()[0].curve, own.cells()[0].curve);
    missing(&run::Sweep::new(spec(on(without_content(&payouts()))), host()).err().unwrap());
}

#[test]
fn events_never_contain_user_data() {
    let mut run = trained(&on(Dataset::new("secret.txt", b"0.123456 0.654321".to_vec())), 20);
    for event in run.events() {
        if !matches!(event, Event::Saved { .. }) {
            let json = serde_json::to_string(&event).unwrap();
            assert!(!json.contains("0.123456 ") && !json.contains("\"content\""), "{json}");
        }
    }
}
