//! Environments of user files: equal bits on every instruction set and for every grouping of environments, saved states, errors of lanes,
//! and memory.

use super::script_fleet::{OBSERVE, TEMPLATES, Worlds, compiled, file};
use math::Isa;
use worlds::control::Vector;
use worlds::control::script::compile;
use worlds::control::vector::{LENGTH_SHIFT, TRUNCATED};

/// Rewards and ends of all steps, and the states after all steps.
type Played = (Vec<u32>, Vec<u32>, Vec<(Vec<u32>, u32, u32)>);

fn play(worlds: &mut Worlds, first: u32, turns: std::ops::Range<u32>) -> Played {
    let count = worlds.fleet.count();
    let mut played: Played = Default::default();
    for turn in turns {
        worlds.act_randomly(first, turn);
        worlds.step();
        played.0.extend(worlds.rewards[..count].iter().map(|reward| reward.to_bits()));
        played.1.extend(&worlds.ended[..count]);
    }
    let saved = |env| {
        let (state, steps, episodes) = worlds.saved(env);
        (state.into_iter().chain(worlds.shown(env)).map(f32::to_bits).collect(), steps, episodes)
    };
    played.2 = (0..count).map(saved).collect();
    played
}

#[test]
fn instruction_sets_give_equal_bits() {
    for (name, text) in TEMPLATES {
        let world = compiled(text);
        let runs: Vec<Played> = crate::sets()
            .into_iter()
            .map(|isa| {
                let mut worlds = Worlds::new(&world, isa, 3, 5, 150);
                let played = play(&mut worlds, 5, 0..60);
                assert_eq!(worlds.fault(), None, "{name}");
                played
            })
            .collect();
        assert!(runs.len() > 1, "only one instruction set");
        assert!(runs.iter().all(|run| *run == runs[0]), "{name}");
        let ends = runs[0].1.iter().filter(|end| **end != 0).count();
        assert!(ends > 0 || !matches!(name, "cartpole" | "flappy" | "racer" | "rocket" | "snake"), "{name}: no episode ended");
    }
}

/// A step without the held environments equals a step of all environments, after which the held environments are restored.
#[test]
fn held_environments_keep_their_states() {
    const COUNT: usize = 150;
    for (name, text) in TEMPLATES {
        let world = compiled(text);
        let [mut one, mut other] = [(); 2].map(|()| Worlds::new(&world, Isa::best(), 3, 0, COUNT));
        let (mut held, mut holds): (Vec<u32>, usize) = (Vec::new(), 0);
        for turn in 0..60 {
            let saved: Vec<_> = held.iter().map(|env| other.saved(*env as usize)).collect();
            one.act_randomly(0, turn);
            other.act_randomly(0, turn);
            one.step_except(&held);
            other.step();
            for (&env, (state, steps, episodes)) in held.iter().zip(&saved) {
                let env = env as usize;
                other.fleet.set_environment(env, state, *steps, *episodes).unwrap();
                (other.rewards[env], other.ended[env]) = (0.0, 0);
            }
            for env in 0..COUNT {
                assert_eq!(one.saved(env), other.saved(env), "{name}, step {turn}: environment {env}");
                assert_eq!(one.shown(env), other.shown(env), "{name}, step {turn}: environment {env}");
                assert_eq!(one.permitted(env), other.permitted(env), "{name}, step {turn}: environment {env}");
            }
            assert_eq!(one.rewards[..COUNT], other.rewards[..COUNT], "{name}, step {turn}");
            assert_eq!(one.ended[..COUNT], other.ended[..COUNT], "{name}, step {turn}");
            holds += held.len();
            held = (0..COUNT as u32).filter(|env| one.ended[*env as usize] != 0).collect();
        }
        assert_eq!(one.fault(), None, "{name}");
        assert!(holds > 0 || !matches!(name, "cartpole" | "flappy" | "racer" | "rocket" | "snake"), "{name}: no episode ended");
    }
}

#[test]
fn results_do_not_depend_on_grouping_or_resuming() {
    for (name, text) in TEMPLATES {
        let world = compiled(text);
        let (mut whole, mut part) = (Worlds::new(&world, Isa::best(), 3, 0, 170), Worlds::new(&world, Isa::best(), 3, 96, 74));
        let (all, some) = (play(&mut whole, 0, 0..50), play(&mut part, 96, 0..50));
        for t in 0..50 {
            assert_eq!(all.0[t * 170 + 96..(t + 1) * 170], some.0[t * 74..(t + 1) * 74], "{name}: step {t}");
            assert_eq!(all.1[t * 170 + 96..(t + 1) * 170], some.1[t * 74..(t + 1) * 74], "{name}: step {t}");
        }
        assert_eq!(all.2[96..], some.2[..], "{name}");

        let mut resumed = Worlds::new(&world, Isa::best(), 3, 0, 170);
        for env in 0..170 {
            let (state, steps, episodes) = whole.saved(env);
            resumed.fleet.set_environment(env, &state, steps, episodes).unwrap();
            assert_eq!(whole.shown(env), resumed.shown(env), "{name}");
            assert_eq!(whole.permitted(env), resumed.permitted(env), "{name}");
        }
        assert_eq!(play(&mut whole, 0, 50..90), play(&mut resumed, 0, 50..90), "{name}: resumed");
        whole.fleet.reset(3, 0);
        assert_eq!(play(&mut whole, 0, 0..50), all, "{name}: reset");
    }
}

/// Copies of old values have one order in every translation.
#[test]
fn a_file_has_one_translation() {
    let names: Vec<String> = (0..8).map(|k| format!("self.a{k}")).collect();
    let reset = names.iter().map(|name| format!("{name} = 1")).collect::<Vec<_>>().join("\n") + "\nself.x, self.y = 1, 2";
    let turned = [&names[1..], &names[..1]].concat().join(", ");
    let text = file(&reset, &format!("{} = {turned}\nreturn 0.0, False", names.join(", ")), OBSERVE);
    let first = format!("{:?}", compiled(&text));
    assert!((0..5).all(|_| format!("{:?}", compiled(&text)) == first));
}

#[test]
fn begin_starts_the_next_episode_of_one_environment() {
    for (name, text) in TEMPLATES {
        let world = compiled(text);
        let [left, mut begun] = [(); 2].map(|()| Worlds::new(&world, Isa::best(), 7, 3, 40));
        begun.fleet.begin(33);
        for env in 0..40 {
            let (before, after) = (left.saved(env), begun.saved(env));
            assert_eq!((after.1, after.2), (0, u32::from(env == 33)), "{name}");
            assert!(env == 33 || (before == after && left.shown(env) == begun.shown(env)), "{name}: environment {env}");
        }
    }
}

#[test]
fn invalid_states_are_rejected() {
    let world = compiled(&file("self.x = 1\nself.y = 0.5\nself.z = True", "return 1.0 / self.y, False", OBSERVE));
    let mut worlds = Worlds::new(&world, Isa::best(), 1, 100, 8);
    let right = vec![0.0, 1.0, 0.5, 1.0];
    assert_eq!(worlds.saved(2).0, right);
    let with = |k: usize, x: f32| right.iter().enumerate().map(|(i, y)| if i == k { x } else { *y }).collect::<Vec<_>>();
    let wrong =
        [with(0, 0.5), with(0, 40_000.0), with(1, -1.0), with(1, 65_536.0), with(2, f32::NAN), with(2, f32::INFINITY), with(3, 0.5)];
    for wrong in wrong.into_iter().chain([right[1..].to_vec(), [&right[..], &[0.0]].concat()]) {
        let error = worlds.fleet.set_environment(2, &wrong, 0, 0).unwrap_err();
        assert_eq!(error.env, 102, "{wrong:?}");
    }
    assert!(worlds.fleet.set_environment(8, &right, 0, 0).is_err());
    assert!(worlds.fleet.set_environment(2, &right, 1000, 0).is_err());
    assert!(worlds.fleet.set_environment(2, &with(0, -1.0), 999, 9).is_ok());
    assert_eq!(worlds.saved(2), (with(0, -1.0), 999, 9));
    assert_eq!(worlds.fleet.attribute(2, "x"), Some(vec![-65_535.0]));
}

#[test]
fn steps_do_not_allocate() {
    for (name, text) in TEMPLATES {
        let mut worlds = Worlds::new(&compiled(text), Isa::best(), 1, 0, 300);
        let mut ends = 0;
        worlds.act_randomly(0, 0);
        let taken = testkit::allocations(|| {
            for _ in 0..400 {
                worlds.actions.rotate_right(1);
                worlds.step();
                ends += worlds.ended.iter().filter(|end| **end != 0).count();
            }
        });
        assert_eq!(taken, 0, "{name}");
        assert!(ends > 0 || matches!(name, "pong" | "maze" | "breakout"), "{name}: no episode ended");
    }
}

/// Code for the body of `step`, the line of its error, and a part of the message. The code begins in line 8.
const ERRORS: [(&str, u32, &str); 21] = [
    ("self.y = 1 // (self.x - 2)", 8, "a division by zero"),
    ("self.y = (-2147483646 - self.x) // (self.x - 2)", 8, "a division by zero"),
    ("self.y = (-2147483646 - self.x) // (1 - self.x)", 8, "does not fit into an integer of 32 bits"),
    ("self.y = 1 % (self.x - 2)", 8, "a division by zero"),
    ("a = 1.0 / (self.x - 2)", 8, "a division by zero"),
    ("a = 1.5 // (self.x - 2)", 8, "a division by zero"),
    ("a = 3\na = [1, 2, 3][self.x + 1]", 9, "the index 3 is outside of the list, which has 3 elements; use -3 to 2"),
    ("a = [self.x, self.x]\na[self.x] = 1", 9, "the index 2 is outside of the list, which has 2 elements"),
    ("a = [[0, 1] for k in range(2)]\nb = a[1][self.x]", 9, "the index 2 is outside of the list, which has 2 elements"),
    ("self.y = 2147483647 + self.x", 8, "does not fit into an integer of 32 bits"),
    ("self.y = -2147483647 - self.x", 8, "does not fit into an integer of 32 bits"),
    ("self.y = (self.x + 46339) ** 2", 8, "does not fit into an integer of 32 bits"),
    ("self.y = abs(-2147483646 - self.x)", 8, "does not fit into an integer of 32 bits"),
    ("self.y = int(1e9 * self.x + 1e9)", 8, "does not fit into an integer of 32 bits"),
    ("a = sqrt(1.0 - self.x)", 8, "the square root of a negative number, -1"),
    ("a = log(2.0 - self.x)", 8, "the logarithm of 0"),
    ("a = exp(50.0 * self.x)", 8, "`exp(100)` is too large"),
    ("a = (2.0 - self.x) ** 0.5", 8, "`a ** b` needs a positive `a`"),
    ("self.y = randint(0, 2 - self.x)", 8, "`randint(low, high)` has no number to choose"),
    ("a = 1\nwhile self.x > 1:\n    a = 1 - a", 9, "more than 10,000 passes"),
    ("return 1.0 + 1e38 * self.x * self.x, False", 8, "the number is inf"),
];

/// Each error occurs where `x` is 2. An action of 2 sets `x` to 2, first in step 2 in the environments 7, 130 and 290.
#[test]
fn errors_name_line_environment_and_step() {
    for isa in crate::sets() {
        for (body, line, part) in ERRORS {
            let step = format!("self.x = 2 if action == 2 else 0\n{body}\nreturn 1.0, False");
            let text = file("self.x = 0\nself.y = 0", &step, OBSERVE);
            let mut worlds = Worlds::new(&compiled(&text), isa, 1, 0, 300);
            worlds.step();
            assert_eq!(worlds.fault(), None, "{body}");
            for env in [290, 7, 130] {
                worlds.act(env, &[2.0]);
            }
            let before = (worlds.saved(7), worlds.shown(7));
            worlds.step();
            let fault = worlds.fault().unwrap_or_else(|| panic!("{body}: no error"));
            assert_eq!((fault.env, fault.episode, fault.step), (7, 0, 2), "{body}: {fault}");
            assert_eq!(fault.line, Some(line), "{body}: {fault}");
            assert!(fault.message.contains(part), "{body}: {fault}");
            // Environment 7 keeps its state, and the other environments continue. The first error is kept.
            for turn in 0..3 {
                assert_eq!((worlds.ended[7], worlds.rewards[7]), (0, 0.0), "{body}");
                assert_eq!((worlds.ended[8], worlds.rewards[8], worlds.saved(8).1), (0, 1.0, 2 + turn), "{body}");
                assert_eq!((worlds.saved(7), worlds.shown(7), worlds.reached(7)), (before.0.clone(), before.1.clone(), before.1.clone()));
                assert_eq!(worlds.fault().as_ref(), Some(&fault), "{body}");
                worlds.act(7, &[0.0]);
                worlds.act(3, &[2.0]);
                worlds.step();
            }
            worlds.fleet.begin(7);
            worlds.step();
            assert_eq!((worlds.rewards[7], worlds.saved(7).1, worlds.saved(7).2), (1.0, 1, 1), "{body}");
            assert_eq!(worlds.fault(), Some(fault), "{body}");
            worlds.fleet.reset(1, 0);
            assert_eq!(worlds.fault(), None, "{body}");
        }
    }
}

/// Errors occur only where Python evaluates the code.
#[test]
fn code_that_is_not_reached_has_no_errors() {
    let step = "a = 1 // self.x if self.x != 0 else 0\nb = self.x != 0 and 1 % self.x == 0\nc = self.x == 0 or 1 // self.x > 0\n\
                if self.x != 0:\n    a = 1 // self.x\nif self.x == 0:\n    return 0.0, False\nreturn 1.0 / self.x, b and c";
    let mut worlds = Worlds::new(&compiled(&file("self.x = 0\nself.y = 0", step, OBSERVE)), Isa::best(), 1, 0, 40);
    worlds.step();
    assert_eq!(worlds.fault(), None);
}

#[test]
fn errors_of_reset_have_step_0() {
    let text = file("self.x = randint(0, 200)\nself.y = 1 // (self.x - 7)", "return 0.0, True", OBSERVE);
    let mut worlds = Worlds::new(&compiled(&text), Isa::best(), 1, 0, 128);
    (0..20).for_each(|_| worlds.step());
    let fault = worlds.fault().unwrap();
    assert_eq!((fault.step, fault.line), (0, Some(5)), "{fault}");
    assert!(fault.to_string().contains("line 5: a division by zero"), "{fault}");
    // The environment has no state, so it takes no step.
    let env = fault.env as usize;
    assert_eq!(worlds.saved(env), (vec![0.0; 4], 0, fault.episode));
    worlds.step();
    assert_eq!((worlds.rewards[env], worlds.ended[env], worlds.shown(env)), (0.0, 0, vec![0.0; 2]));
    assert_eq!(worlds.saved(env), (vec![0.0; 4], 0, fault.episode));
}

#[test]
fn an_environment_that_never_ends_is_truncated_at_its_limit() {
    let text =
        file("self.x = 0\nself.y = 0", "self.x += 1\nreturn 1.0, False", OBSERVE).replace("actions = 3", "actions = 3\n    limit = 7");
    let mut worlds = Worlds::new(&compiled(&text), Isa::best(), 1, 0, 40);
    for step in 1..=21 {
        worlds.step();
        let expected = if step % 7 == 0 { TRUNCATED | 7 << LENGTH_SHIFT } else { 0 };
        assert!(worlds.ended[..40].iter().all(|ended| *ended == expected), "step {step}: {:?}", worlds.ended);
        assert_eq!((worlds.saved(39).1, worlds.saved(39).2), (step % 7, step / 7), "step {step}");
    }
    // `reached` is the last state of the episode, and `shown` is the first state of the next episode.
    assert_eq!((worlds.reached(39), worlds.shown(39)), (vec![7.0, 0.0], vec![0.0; 2]));
}

/// These ranges end near the largest or the smallest integer. The count after the last pass does not fit into 32 bits.
#[test]
fn ranges_at_the_end_of_the_integers_end() {
    for (range, passes) in [
        ("range(2147483000, 2147483647, 5)", 130.0),
        ("range(-2147483000, -2147483647, -5)", 130.0),
        ("range(2147483640 + self.y, 2147483647, 5)", 2.0),
        ("range(-2147483640 + self.y, -2147483647, -5)", 2.0),
    ] {
        let step = format!("self.x = 0\nfor i in {range}:\n    self.x += 1\nreturn 0.0, False");
        let mut worlds = Worlds::new(&compiled(&file("self.x = 0\nself.y = 0", &step, OBSERVE)), Isa::best(), 1, 0, 40);
        worlds.step();
        assert_eq!((worlds.fault(), worlds.shown(3)), (None, vec![passes, 0.0]), "{range}");
    }
}

/// The compiler replaces both comparisons of a range by one.
#[test]
fn numbers_are_compared_with_both_ends_of_a_range() {
    let conditions = ["0 <= x < 5", "x < 5 and x >= 0", "0 <= x < 0", "0 <= x < -5", "1 <= x < 5", "0 <= x <= 5", "0.0 <= x < 5.0"];
    let is_in: [fn(i32) -> bool; 7] = [
        |x| (0..5).contains(&x),
        |x| (0..5).contains(&x),
        |_| false,
        |_| false,
        |x| (1..5).contains(&x),
        |x| (0..6).contains(&x),
        |x| (0..5).contains(&x),
    ];
    let numbers = [i32::MIN + 1, -5, -1, 0, 1, 4, 5, 6, i32::MAX];
    for (condition, is_in) in conditions.into_iter().zip(is_in) {
        let step = format!("x = numbers[self.y]\nif {condition}:\n    self.x += bits[self.y]\nself.y += 1\nreturn 0.0, False");
        let lists = format!("numbers = {numbers:?}\nbits = [1, 2, 4, 8, 16, 32, 64, 128, 256]\n");
        let text = lists + &file("self.x = 0\nself.y = 0", &step, OBSERVE);
        let mut worlds = Worlds::new(&compiled(&text), Isa::best(), 1, 0, 40);
        numbers.iter().for_each(|_| worlds.step());
        let expected: u32 = numbers.iter().enumerate().map(|(k, x)| u32::from(is_in(*x)) << k).sum();
        assert_eq!((worlds.fault(), worlds.shown(39)), (None, vec![expected as f32, 9.0]), "{condition}");
    }
}

/// The lanes that do not read a list may have an invalid index.
#[test]
fn an_index_is_checked_where_it_is_used() {
    let step = "if self.x < 3:\n    self.y = self.a[self.x]\nself.x += 1\nreturn 0.0, False";
    let text = |step: &str| file("self.x = randint(0, 3)\nself.y = 0\nself.a = [5, 6, 7]", step, OBSERVE);
    let mut worlds = Worlds::new(&compiled(&text(step)), Isa::best(), 1, 0, 40);
    (0..5).for_each(|_| worlds.step());
    assert_eq!(worlds.fault(), None);
    assert!((0..40).all(|env| worlds.shown(env)[1] == 7.0));
    let mut worlds = Worlds::new(&compiled(&text(&step.replace("< 3", "< 4"))), Isa::best(), 1, 0, 40);
    (0..5).for_each(|_| worlds.step());
    assert!(worlds.fault().unwrap().to_string().contains("the index 3 is outside of the list"));
}

#[test]
fn pictures_have_the_shapes_of_one_environment() {
    let draw = "    def draw(self):\n        for i in range(self.x):\n            rect(i, 0, 1, 2, \"red\")\n        if self.y > 0:\n\
                \x20           text(1, 2, self.y, \"blue\" if self.x > 1 else \"gray\")\n        text(0, 0, \"end\", \"black\")\n        \
                polygon([0, 0, 1, 0, self.x, 1], \"pink\")\n";
    let text = file("self.x = randint(0, 4)\nself.y = self.x / 8", "return 0.0, False", &format!("{OBSERVE}{draw}"));
    let mut worlds = Worlds::new(&compiled(&text), Isa::best(), 1, 0, 40);
    let mut counts = [0; 4];
    for env in 0..40 {
        let x = worlds.attributes(env)[0] as usize;
        counts[x] += 1;
        let shapes = worlds.fleet.draw(env).unwrap();
        let kinds: Vec<&str> = shapes.iter().map(|shape| shape.kind).collect();
        let expected = [vec!["rect"; x], vec!["text"; 1 + usize::from(x > 0)], vec!["polygon"]].concat();
        assert_eq!(kinds, expected);
        assert_eq!(shapes[shapes.len() - 1].numbers, [0.0, 0.0, 1.0, 0.0, x as f32, 1.0]);
        assert_eq!(shapes[shapes.len() - 2].text.as_deref(), Some("end"));
        if x > 0 {
            let number = ["0.12", "0.25", "0.38"][x - 1];
            assert_eq!((shapes[x].text.as_deref(), shapes[x].colour.as_str()), (Some(number), if x > 1 { "blue" } else { "gray" }));
            assert_eq!((&shapes[0].numbers[..], shapes[0].colour.as_str()), (&[0.0, 0.0, 1.0, 2.0][..], "red"));
        }
    }
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}

/// Pieces of code. The test inserts a piece at a random place of a template, or replaces code of the template by the piece.
const PIECES: [&str; 24] = [
    "self.x",
    "0",
    "1",
    "-1",
    "2147483647",
    "0.5",
    "action",
    "[0] * 3",
    "[1, 2]",
    "True",
    "x",
    "self",
    " + ",
    " // ",
    " and ",
    "[0]",
    "[:]",
    "(1, 2)",
    "range(3)",
    "len(self.x)",
    " = ",
    "return ",
    "self.reset()",
    "randint(0, 3)",
];

#[test]
fn changed_programs_give_errors_or_run() {
    let (mut run, mut wrong) = (0, 0);
    testkit::fuzz("script programs", testkit::cases(2500), |mutator| {
        let (_, text) = mutator.one_of(&TEMPLATES);
        let mut text = (*text).to_owned();
        for _ in 0..1 + mutator.below(3) {
            let words: Vec<(usize, &str)> = text.match_indices(|c: char| " ()[],.".contains(c)).collect();
            let (at, _) = words[mutator.below(words.len())];
            let next = text[at + 1..].find(|c: char| " ()[],.\n".contains(c)).map_or(text.len(), |end| at + 1 + end);
            let piece: &str = mutator.one_of::<&str>(&PIECES);
            if mutator.below(3) == 0 {
                text.insert_str(at + 1, piece);
            } else {
                text.replace_range(at + 1..next, piece);
            }
        }
        match compile(&text) {
            Err(problems) => {
                wrong += 1;
                let lines = text.lines().count() as u32;
                assert!(!problems.is_empty() && problems.len() <= 20, "{text}");
                for problem in problems {
                    assert!((1..=lines).contains(&problem.span.line) && problem.message.len() > 20, "{problem:?}\n{text}");
                }
            }
            Ok(world) => {
                run += 1;
                let mut worlds = Worlds::new(&world, Isa::best(), 1, 0, 40);
                for turn in 0..3 {
                    worlds.act_randomly(0, turn);
                    worlds.step();
                }
                let _ = worlds.fleet.draw(5);
                assert!(worlds.fault().is_none_or(|fault| fault.line.is_some_and(|line| line > 0)), "{text}");
                assert!(worlds.panels.iter().chain(&worlds.rewards).all(|x| x.is_finite()), "{text}");
            }
        }
    });
    assert!(run > 50 && wrong > 50, "{run} ran, {wrong} had errors");
}
