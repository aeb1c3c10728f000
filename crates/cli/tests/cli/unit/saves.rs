//! Tests of the files in the user's cache.

use cli::internals::saves::{KEPT, choose, leave_newest, stem};
use files::{CHECKPOINT, Claim};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Extension of checkpoints.
const EXTENSION: &str = "safetensors";

#[test]
fn oldest_games_are_removed_and_other_files_stay() {
    let scratch = testkit::Scratch::new("games");
    let folder = scratch.path("games");
    fs::create_dir_all(&folder).unwrap();
    let old = |name: &str, hours: u64| {
        let file = fs::File::create(folder.join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600 * hours)).unwrap();
    };
    old("notes.txt", 1000);
    old("README", 1000);
    old(&format!("favourite.{EXTENSION}"), 1000);
    let name = |game: u64| format!("{}-{game}.{EXTENSION}", stem("match", 1));
    let names: Vec<String> = (0..5).map(name).collect();
    (0..).zip(&names).for_each(|(hours, name)| old(name, hours));
    // The oldest game is being played.
    let played = Claim::new(&folder.join(&names[4]), CHECKPOINT).unwrap();
    leave_newest(&folder, 3);
    assert!(played.path().exists());
    drop(played);
    leave_newest(&folder, 3);
    let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    left.sort_unstable();
    let mut expected = names[..3].to_vec();
    expected.extend(["README", "favourite.safetensors", "notes.txt"].map(String::from));
    expected.sort_unstable();
    assert_eq!(left, expected);
}

#[test]
fn user_chooses_a_run_by_number() {
    let names = ["0000000000002-CartPole-v1-seed3-77", "0000000000001-strong-seed1-76"];
    let saves = names.map(|name| PathBuf::from(format!("{name}.{EXTENSION}")));
    let ask = |saves: &[PathBuf], typed: &str| {
        let mut output = Vec::new();
        let chosen = choose(saves, &mut typed.as_bytes(), &mut output).unwrap();
        (chosen, String::from_utf8(output).unwrap())
    };
    let (chosen, output) = ask(&saves, "\n");
    assert_eq!(chosen.as_ref(), Some(&saves[0]));
    assert!(output.contains("  1  CartPole-v1-seed3 ") && output.contains("  2  strong-seed1 "), "{output}");
    assert!(output.ends_with("Resume which run (1 to 2; Enter for 1, q to cancel)? "), "{output}");
    assert_eq!(ask(&saves, "2\n").0.as_ref(), Some(&saves[1]));
    for cancel in ["", "q\n", "Q\n2\n"] {
        assert_eq!(ask(&saves, cancel).0, None, "{cancel}");
    }
    let (chosen, output) = ask(&saves, "0\n3\nyes\n 2 \n");
    assert_eq!(chosen.as_ref(), Some(&saves[1]));
    for wrong in ["no 0 in", "no 3 in", "no yes in"] {
        assert!(output.contains(wrong), "{output}");
    }
    let many = vec![saves[0].clone(); KEPT];
    assert!(ask(&many, "10\n").1.contains("There is no 10"));
}
