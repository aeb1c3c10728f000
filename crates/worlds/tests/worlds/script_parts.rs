//! Steps of a file's environments in parts. A step that is interrupted between two passes of a loop, and continued later, must have the
//! same results as a step without an interruption.

use crate::script_fleet::{OBSERVE, Worlds, compiled, file};
use worlds::control::Vector;

/// Loops in loops, random draws and changed lists in loops, and episodes whose start has a loop. A step has up to 64 · 200 passes, whose
/// number differs between environments.
const RESET: &str = "self.x = 0\nself.y = 0\nself.seen = [0 for k in range(7)]\nn = randint(1, 40)\nwhile n > 0:\n    n -= 1\n    \
                     self.y += randint(0, 5)";
const STEP: &str = "k = randint(0, 60) + action\nwhile k > 0:\n    for i in range(200):\n        self.x = (self.x * 31 + i + k) % 1009\n\
                    \x20   self.seen[self.x % 7] += 1\n    k -= randint(1, 4)\nself.y = (self.y + self.x + self.seen[3]) % 1009\n\
                    return float(self.x) / 1009.0, self.x % 17 == 3";
/// Addition to [`STEP`] with an error in some environments.
const FAILS: &str = "while self.x % 50 == 7:\n    self.seen[self.x] = 1\n";

const COUNT: usize = 300;

/// Takes a step of at most `work` work at a time. Returns the number of parts.
fn step_in_parts(worlds: &mut Worlds, work: u64) -> usize {
    let Worlds { fleet, actions, rewards, ended, panels, .. } = worlds;
    (1..).find(|_| fleet.step_part(&mut { work }, actions, panels, rewards, ended)).unwrap()
}

fn same(one: &Worlds, other: &Worlds) {
    assert_eq!((&one.rewards, &one.ended, one.fault()), (&other.rewards, &other.ended, other.fault()));
    for env in 0..COUNT {
        assert_eq!((one.saved(env), one.shown(env), one.reached(env)), (other.saved(env), other.shown(env), other.reached(env)), "{env}");
    }
}

#[test]
fn steps_in_parts_equal_whole_steps() {
    for (step, fails) in [(STEP.to_string(), false), (format!("{FAILS}{STEP}"), true)] {
        let world = compiled(&file(RESET, &step, OBSERVE));
        for isa in crate::sets() {
            let mut whole = Worlds::new(&world, isa, 3, 10, COUNT);
            let mut parted: Vec<(u64, usize, Worlds)> =
                [1, 3000, 200_000, u64::MAX].map(|work| (work, 0, Worlds::new(&world, isa, 3, 10, COUNT))).into();
            let mut ends = 0;
            for turn in 0..6 {
                whole.act_randomly(10, turn);
                whole.step();
                ends += whole.ended.iter().filter(|end| **end != 0).count();
                for (work, parts, worlds) in &mut parted {
                    worlds.act_randomly(10, turn);
                    *parts += step_in_parts(worlds, *work);
                    same(worlds, &whole);
                }
            }
            assert!(ends > COUNT / 10 && whole.fault().is_some() == fails, "{ends}");
            let parts: Vec<usize> = parted.iter().map(|(_, parts, _)| *parts).collect();
            assert!(parts[0] > 10 * parts[1] && parts[1] > 10 * parts[2] && parts[2] > 6 && parts[3] == 6, "{parts:?}");
        }
    }
}

#[test]
fn a_reset_discards_an_unfinished_step() {
    let world = compiled(&file(RESET, STEP, OBSERVE));
    let mut worlds = Worlds::new(&world, math::Isa::best(), 3, 10, COUNT);
    let begun: Vec<_> = (0..COUNT).map(|env| worlds.saved(env)).collect();
    for work in [1, 100_000, 700_000] {
        let Worlds { fleet, actions, rewards, ended, panels, .. } = &mut worlds;
        assert!(!fleet.step_part(&mut { work }, actions, panels, rewards, ended));
        worlds.fleet.reset(3, 10);
        assert!((0..COUNT).all(|env| worlds.saved(env) == begun[env]));
    }
    let mut fresh = Worlds::new(&world, math::Isa::best(), 3, 10, COUNT);
    fresh.step();
    worlds.step();
    same(&worlds, &fresh);
}

/// A GPU cannot interrupt a step, so a file with many passes in a step has no kernels.
#[test]
fn only_brief_steps_have_kernels() {
    let step = |passes: u32| format!("for i in range({passes}):\n    self.x = (self.x + i) % 7\nreturn 0.0, False");
    let has_kernels = |passes| compiled(&file("self.x = 0\nself.y = 0", &step(passes), OBSERVE)).kind("W").kernels.is_some();
    assert_eq!([has_kernels(1000), has_kernels(50_000)], [true, false]);
}

/// A pass of a long body counts several times, so that the limit of passes is also a limit of work.
#[test]
fn long_passes_of_while_loops_count_several_times() {
    let step = |passes: u32| {
        format!("n = 0\nwhile n < {passes}:\n    n += 1\n    for i in range(1000):\n        self.x = (self.x + i) % 7\nreturn 0.0, False")
    };
    let fault = |passes| {
        let mut worlds = Worlds::new(&compiled(&file("self.x = 0\nself.y = 0", &step(passes), OBSERVE)), math::Isa::best(), 1, 0, 1);
        worlds.step();
        worlds.fault()
    };
    assert_eq!(fault(300), None);
    let fault = fault(5000).expect("the passes are more than 10,000 short ones");
    assert!(fault.message.contains("more than 10,000 passes") && fault.line == Some(8), "{fault}");
}
