//! Tests of the program in a terminal, which the command `script` provides.

use crate::common::*;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ALTERNATE: &str = "\u{1b}[?1049h";

/// Starts a command in a terminal. The terminal closes when the command ends.
fn script(scratch: &Scratch, options: &[&str], command: &str) -> Child {
    let mut script = Command::new("script");
    script.arg("--quiet").args(options).args(["--command", command, "/dev/null"]);
    script.env("XDG_CACHE_HOME", scratch.cache()).env("TERM", "xterm").env_remove("NO_COLOR");
    script.current_dir(&scratch.0).stdin(Stdio::piped()).stdout(Stdio::piped());
    script.spawn().expect("util-linux has `script`")
}

/// Runs the program in a terminal, types `keys`, and returns the output. `before` contains assignments of environment variables.
fn typed(scratch: &Scratch, before: &str, args: &str, keys: &str) -> String {
    // `script` sets no terminal size, so `stty` sets it.
    let inside = format!("stty rows 24 columns 80; {before} {HOTHOUSE} {args}");
    let mut script = script(scratch, &["--return"], &inside);
    std::io::Write::write_all(script.stdin.as_mut().unwrap(), keys.as_bytes()).unwrap();
    expect_success(&inside, &script.wait_with_output().unwrap())
}

/// Without `--save`, the printed command contains the path of the checkpoint in the cache.
#[test]
fn a_run_on_the_screen_prints_its_resume_command() {
    let scratch = Scratch::new();
    let message = typed(&scratch, "", &format!("train --steps 4096 {SMALL}"), "");
    let [kept] = &scratch.cached("safetensors")[..] else { panic!("{message}") };
    let resume = format!("resume {}", kept.display());
    assert!(message.contains(&resume), "{message}");
}

/// At its end, the full screen restores the terminal and prints a command that resumes the game.
#[test]
fn a_game_on_the_screen_can_be_resumed() {
    const GREEN: &str = "\u{1b}[38;5;2";
    let scratch = Scratch::new();
    let message = typed(&scratch, "", "play backgammon random --seed 5 --length 3", "rq");
    assert!(message.contains(ALTERNATE) && message.contains("\u{1b}[?1049l"), "{message:?}");
    let games = scratch.cache().join("hothouse").join("games");
    let kept = fs::read_dir(&games).unwrap().next().expect("a kept game").unwrap().path();
    let args = format!("play backgammon {}", kept.display());
    assert!(message.contains(&format!("resume with  {HOTHOUSE} {args}")), "{message:?}");
    let lines = typed(&scratch, "", &format!("{args} --plain"), "quit\n");
    assert!(!lines.contains(ALTERNATE) && lines.contains("Resumed the game"), "{lines:?}");
    let again = typed(&scratch, "", &args, "q");
    assert!(again.contains(ALTERNATE) && again.contains(GREEN), "{again:?}");
    assert_eq!(fs::read_dir(&games).unwrap().count(), 1, "the game stays in its file");
    assert!(scratch.cached("safetensors").is_empty(), "no run to resume");
    let message = typed(&scratch, "NO_COLOR=1", &args, "q");
    assert!(message.contains(ALTERNATE) && !message.contains("\u{1b}[38;"), "{message:?}");
    let message = typed(&scratch, "TERM=dumb", &args, "quit\n");
    assert!(!message.contains(ALTERNATE) && message.contains("13-14-15"), "{message:?}");
}

/// The keys of a file move its environment, and the picture is drawn in half blocks.
#[test]
fn a_file_is_played_by_keys() {
    let scratch = Scratch::new();
    scratch.write("catch.py", include_str!("../../../worlds/src/control/script/templates/catch.py"));
    let message = typed(&scratch, "", "play control catch.py", "\u{1b}[C\u{1b}[Drq");
    assert!(message.contains(ALTERNATE) && message.contains("\u{1b}[?1049l"), "{message:?}");
    assert!(message.contains('▀') && message.contains("catch.py"), "{message:?}");
}

#[test]
fn resume_without_a_file_lists_the_saved_runs() {
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
    // The run that was just resumed is now the latest run.
    let again = typed(&scratch, "", "resume --plain --steps 12288", "\n");
    assert!(again.contains("control / CartPole-v1, seed 5") && again.contains("12,288 steps"), "{again}");
}

#[test]
fn closing_the_terminal_ends_and_saves_the_run() {
    let scratch = Scratch::new();
    let inside = format!("echo $$ > pid; exec {HOTHOUSE} train --seed 6 --threads 1");
    let mut script = script(&scratch, &[], &inside);
    // Waits for the first output, which shows that the run has begun.
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
    assert!(waited, "the program still runs 20 s after its terminal closed");
    // If the first iteration has not ended, there may be nothing to save.
    assert!(scratch.cached("safetensors").len() <= 1);
}
