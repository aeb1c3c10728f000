//! Templates and random programs of user environments, compared with plain Python. The expected results are from
//! tests/golden/script_worlds.py and tests/golden/script_programs.py.

use super::script_fleet::{TEMPLATES, Worlds, compiled};
use math::Isa;
use testkit::test;
use worlds::control::Vector;
use worlds::control::script::{World, compile};

const TEMPLATE_STEPS: &str = include_str!("../../../../tests/golden/script_worlds.txt");

fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|number| number.parse().unwrap()).collect()
}

/// Checks that numbers agree with those of Python. `most` is the largest permitted error. The error is absolute if the absolute value of
/// the expected number is below 1, otherwise relative.
fn agree(found: &[f64], expected: &[f64], most: f64, context: &str) {
    assert_eq!(found.len(), expected.len(), "{context}");
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error <= most, "{context}: number {k} is {found}, expected {expected}");
    }
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

/// Checks a line `reset ENV EPISODE | state | observation | mask`. Returns a fleet of this environment alone.
fn check_reset(world: &World, isa: Isa, head: &[f64], parts: &[Vec<f64>], context: &str) -> Worlds {
    let mut worlds = Worlds::new(world, isa, 7, head[0] as u32, 1);
    (0..head[1] as u32).for_each(|_| worlds.fleet.begin(0));
    agree(&worlds.attributes(0), &parts[0], 1e-6, context);
    agree(&wide(&worlds.shown(0)), &parts[1], 2e-6, context);
    agree(&wide(&worlds.permitted(0)), &parts[2], 0.0, context);
    worlds
}

/// Checks a line `step ENV EPISODE STEP | state before | action | reward over | state after | observation | mask`.
fn check_step(worlds: &mut Worlds, head: &[f64], parts: &[Vec<f64>], context: &str) {
    let (env, episode, steps) = (0, head[1] as u32, head[2] as u32);
    worlds.set(env, &parts[0], steps, episode);
    let action: Vec<f32> = parts[1].iter().map(|x| *x as f32).collect();
    worlds.act(env, &action);
    worlds.step();
    let over = parts[2][1] != 0.0;
    let limit = worlds.fleet.world().meta.limit;
    let truncated = steps + 1 == limit;
    let expected = if over || truncated { u32::from(over) | u32::from(truncated) << 1 | (steps + 1) << 2 } else { 0 };
    assert_eq!(worlds.ended[env], expected, "{context}");
    agree(&[worlds.rewards[env].into()], &parts[2][..1], 5e-6, context);
    agree(&wide(&worlds.reached(env)), &parts[4], 5e-6, context);
    if expected == 0 {
        agree(&worlds.attributes(env), &parts[3], 5e-6, context);
        agree(&wide(&worlds.permitted(env)), &parts[5], 0.0, context);
        assert_eq!(worlds.saved(env).1, steps + 1, "{context}");
    } else {
        assert_eq!((worlds.saved(env).1, worlds.saved(env).2), (0, episode + 1), "{context}");
    }
}

#[test]
fn templates_agree_with_python_step_by_step() {
    for isa in crate::sets() {
        let mut worlds = Worlds::new(&compiled(TEMPLATES[0].1), isa, 7, 0, 1);
        let (mut name, mut checked) = ("", 0);
        for line in TEMPLATE_STEPS.lines() {
            let (head, rest) = line.split_once(" | ").unwrap_or((line, ""));
            let (kind, head) = head.split_once(' ').unwrap();
            let parts: Vec<Vec<f64>> = rest.split('|').map(numbers).collect();
            let context = format!("{name} on {}: {kind} {head}", isa.name());
            match kind {
                "=" => {
                    name = head;
                    let text = TEMPLATES.iter().find(|(of, _)| of == &name).unwrap().1;
                    worlds = Worlds::new(&compiled(text), isa, 7, 0, 1);
                }
                "attributes" => {
                    let all = &worlds.fleet.world().attributes;
                    let found: Vec<&str> = all.iter().map(|attribute| attribute.name.as_str()).collect();
                    assert_eq!(found.join(" "), head, "{context}");
                }
                "reset" => {
                    let world = worlds.fleet.world().clone();
                    worlds = check_reset(&world, isa, &numbers(head), &parts, &context);
                }
                _ => {
                    checked += 1;
                    check_step(&mut worlds, &numbers(head), &parts, &context);
                }
            }
            assert_eq!(worlds.fault(), None, "{context}");
        }
        assert!(checked > 400, "{checked}");
    }
}

const PROGRAMS: &str = include_str!("../../../../tests/golden/script_programs.txt");

/// A random program with its results in Python.
struct Program {
    number: String,
    text: String,
    results: Vec<String>,
}

/// Reads the programs, and inserts the parts that the programs have in common.
fn programs(text: &str) -> Vec<Program> {
    let (parts, rest) = text.split_once("\n= ").unwrap();
    let parts: Vec<(&str, &str)> = parts.split('#').skip(1).map(|part| part.split_once('\n').unwrap()).collect();
    let program = |text: &str| {
        let (number, text) = text.split_once('\n').unwrap();
        let (code, results) = text.split_at(text.find("#observe").unwrap() + "#observe\n".len());
        let mut code = code.to_owned();
        for (name, part) in &parts {
            code = code.replace(&format!("#{name}"), part);
        }
        Program { number: number.into(), text: code, results: results.lines().map(String::from).collect() }
    };
    rest.split("\n= ").map(program).collect()
}

/// Runs a program with the actions of the Python run, and compares each step.
fn check_program(program: &Program, isa: Isa) {
    let mut worlds = Worlds::new(&compiled(&program.text), isa, 7, 0, 2);
    let mut before = [false; 2];
    for result in &program.results {
        let parts: Vec<Vec<f64>> = result.split('|').map(numbers).collect();
        let context = format!("program {} on {}: {result}\n{}", program.number, isa.name(), program.text);
        let [env, step, action] = [0, 1, 2].map(|k| parts[0][k]);
        let env = env as usize;
        if env == 1 && !std::mem::replace(&mut before[1], true) {
            // The steps of environment 0 also stepped environment 1, so both environments are reset before environment 1 is compared.
            worlds.fleet.reset(7, 0);
        }
        worlds.act(env, &[action as f32]);
        worlds.step();
        assert_eq!(worlds.fault().filter(|fault| fault.env == env as u32), None, "{context}");
        let over = parts[1][1] != 0.0;
        assert_eq!(worlds.ended[env], if over { 1 | (step as u32 + 1) << 2 } else { 0 }, "{context}");
        agree(&[worlds.rewards[env].into()], &parts[1][..1], 1e-4, &context);
        if parts.len() > 3 {
            agree(&wide(&worlds.reached(env)), &parts[3], 1e-4, &context);
        }
        if !over {
            agree(&worlds.attributes(env), &parts[2], 1e-4, &context);
        }
    }
}

#[test]
fn random_programs_agree_with_python() {
    let programs = programs(PROGRAMS);
    assert!(programs.len() >= 200);
    for program in &programs {
        check_program(program, Isa::best());
    }
}

/// Lengths and numbers of passes in these files do not fit, or hardly fit, into a `usize` of 32 bits. The page's module has such a `usize`,
/// so the test also runs in wasm.
#[test]
fn script_lengths_beyond_32_bits_are_errors_at_their_lines() {
    let loops = |passes: u32| {
        format!("for i in range({passes}):\n            for j in range({passes}):\n                self.x = (self.x + i * j) % 7")
    };
    for (before, body, line, part) in [
        ("", "a = [0, 1, 2, 3] * 1073741825", 8, "a list has 1 to 4096 elements, and this one has 4294967300"),
        ("", "a = 1073741825 * [0, 1, 2, 3]", 8, "and this one has 4294967300"),
        ("", "a = [0] * 1000000000", 8, "and this one has 1000000000"),
        ("", "a = [[0, 1] * 2147483647 for k in range(2)]", 8, "and this one has 4294967294"),
        ("", "a = [i for i in range(1000000000)]", 8, "a list has 1 to 4096 elements"),
        ("", "a = [i for i in range(-2147483647, 2147483647)]", 8, "a list has 1 to 4096 elements"),
        ("", "a = [[0] * 70 for i in range(70)]", 8, "a list has at most 4096 elements"),
        ("", "a = [i * j for i in range(65536) for j in range(65536)]", 8, "a list has 1 to 4096 elements"),
        ("a = [0, 1, 2, 3] * 1073741825", "pass", 2, "and this one has 4294967300"),
        ("a = [[0, 1], [2, 3]] * 1073741825", "pass", 2, "and this one has 4294967300"),
        ("a = [0] * 1000000000", "pass", 2, "and this one has 1000000000"),
        ("a = [i for i in range(1000000000)]", "pass", 2, "a list has 1 to 4096 elements"),
        ("n = 1000000000\na = [[i] for i in range(n)]", "pass", 3, "a list has 1 to 4096 elements"),
        // The numbers of passes of the two loops multiply to 2^32.
        ("", &loops(65_536), 8, "make the program too large"),
        ("", &loops(2_147_483_647), 8, "make the program too large"),
    ] {
        let text = format!(
            "# Constants.\n{before}\nclass World:\n    actions = 3\n    def reset(self):\n        self.x = 0\n    \
             def step(self, action):\n        {body}\n        return 0.0, False\n    def observe(self):\n        return [self.x]\n"
        );
        let Err(problems) = compile(&text) else { panic!("{text}\nno error") };
        let found: Vec<(u32, &str)> = problems.iter().map(|problem| (problem.span.line, problem.message.as_str())).collect();
        assert!(found.len() == 1 && found[0].1.contains(part), "{text}\n{found:?}");
        assert!(found[0].0 == line || part.starts_with("make") && found[0].0 > line, "{text}\n{found:?}");
    }
}
