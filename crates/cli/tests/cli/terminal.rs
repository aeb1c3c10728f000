//! The program in a terminal of its own, that of `script`.

use crate::common::*;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ALTERNATE: &str = "\u{1b}[?1049h";

/// Starts a command there. The terminal goes away with it.
fn script(scratch: &Scratch, options: &[&str], command: &str) -> Child {
    let mut script = Command::new("script");
    script.arg("--quiet").args(options).args(["--command", command, "/dev/null"]);
    script.env("XDG_CACHE_HOME", scratch.cache()).env("TERM", "xterm").env_remove("NO_COLOR");
    script.current_dir(&scratch.0).stdin(Stdio::piped()).stdout(Stdio::piped());
    script.spawn().expect("util-linux has `script`")
}

/// What it shows while these keys are pressed; words before the program are its environment.
fn typed(scratch: &Scratch, before: &str, args: &str, keys: &str) -> String {
    // A terminal of this size, which that of `script` has not by itself.
    let inside = format!("stty rows 24 columns 80; {before} {HOTHOUSE} {args}");
    let mut script = script(scratch, &["--return"], &inside);
    std::io::Write::write_all(script.stdin.as_mut().unwrap(), keys.as_bytes()).unwrap();
    good(&inside, &script.wait_with_output().unwrap())
}

/// Whoever gave no place for it finds it all the same.
#[test]
fn a_run_that_ends_on_the_screen_says_where_it_is_kept() {
    let scratch = Scratch::new();
    let said = typed(&scratch, "", &format!("train --steps 4096 {SMALL}"), "");
    let [kept] = &scratch.cached("safetensors")[..] else { panic!("{said}") };
    let resume = format!("resume {}", kept.display());
    assert!(said.contains(&resume), "{said}");
}

/// The full screen takes the terminal and gives it back; who leaves reads how to go on, and goes on.
#[test]
fn a_person_plays_on_the_screen_and_goes_on_another_time() {
    const GREEN: &str = "\u{1b}[38;5;2";
    let scratch = Scratch::new();
    let said = typed(&scratch, "", "play backgammon random --seed 5 --length 3", "rq");
    assert!(said.contains(ALTERNATE) && said.contains("\u{1b}[?1049l"), "{said:?}");
    let games = scratch.cache().join("hothouse").join("games");
    let kept = fs::read_dir(&games).unwrap().next().expect("a kept game").unwrap().path();
    let args = format!("play backgammon {}", kept.display());
    assert!(said.contains(&format!("go on with  {HOTHOUSE} {args}")), "{said:?}");
    let lines = typed(&scratch, "", &format!("{args} --plain"), "quit\n");
    assert!(!lines.contains(ALTERNATE) && lines.contains("goes on"), "{lines:?}");
    let again = typed(&scratch, "", &args, "q");
    assert!(again.contains(ALTERNATE) && again.contains(GREEN), "{again:?}");
    assert_eq!(fs::read_dir(&games).unwrap().count(), 1, "it is kept where it was");
    assert!(scratch.cached("safetensors").is_empty(), "no run to resume");
    let said = typed(&scratch, "NO_COLOR=1", &args, "q");
    assert!(said.contains(ALTERNATE) && !said.contains("\u{1b}[38;"), "{said:?}");
    let said = typed(&scratch, "TERM=dumb", &args, "quit\n");
    assert!(!said.contains(ALTERNATE) && said.contains("13-14-15"), "{said:?}");
}

#[test]
fn without_a_file_a_person_is_asked_which_run_goes_on() {
    let scratch = Scratch::new();
    for seed in [5, 6] {
        scratch.train(format!("--steps 1 --seed {seed}"));
    }
    let none = typed(&scratch, "", "resume --plain --steps 8192", "q\n");
    assert!(none.contains("1  CartPole-v1-seed6") && none.contains("2  CartPole-v1-seed5"), "{none}");
    assert!(!none.contains("digest"), "{none}");
    let second = typed(&scratch, "", "resume --plain --steps 8192", "7\n2\n");
    assert!(second.contains("There is no 7 in the list"), "{second}");
    assert!(second.contains("control / CartPole-v1, seed 5") && second.contains("8,192 steps"), "{second}");
    // It is the newest now.
    let again = typed(&scratch, "", "resume --plain --steps 12288", "\n");
    assert!(again.contains("control / CartPole-v1, seed 5") && again.contains("12,288 steps"), "{again}");
}

#[test]
fn a_terminal_that_goes_away_ends_the_run_and_keeps_it() {
    let scratch = Scratch::new();
    let inside = format!("echo $$ > pid; exec {HOTHOUSE} train --seed 6 --threads 1");
    let mut script = script(&scratch, &[], &inside);
    // Something was drawn: the run is under way.
    let mut drawn = [0; 200];
    std::io::Read::read_exact(script.stdout.as_mut().unwrap(), &mut drawn).unwrap();
    let pid = scratch.text("pid");
    script.kill().unwrap();
    script.wait().unwrap();
    let alive = || Path::new("/proc").join(pid.trim()).join("exe").exists();
    let waited = std::iter::repeat_n(Duration::from_millis(50), 400).any(|nap| {
        std::thread::sleep(nap);
        !alive()
    });
    assert!(waited, "the program is still there 20 s after its terminal went away");
    // It may have been hung up on within its first iteration.
    assert!(scratch.cached("safetensors").len() <= 1);
}
