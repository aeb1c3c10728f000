//! Translation of a compiled file to the WGSL functions of [`Kernels`](crate::control::Kernels). An invocation runs one environment.
//!
//! Integers, random words and errors equal those of the engine on the CPU. Floats may differ in their last digits, because a GPU rounds
//! differently.

mod body;
mod operations;
mod rows;
mod state;

pub use body::Place;

use super::meta::{Choice, Meta};
use super::program::{ACTION, Attribute, Code, Instruction, Program};
use body::Body;
use rows::Rows;
use std::ops::Range;

const FUNCTIONS: &str = include_str!("functions.wgsl");

/// Maximum number of 32-bit words in the variables of one function. The same limit applies to all tables together. WGSL guarantees memory
/// for this number of words.
const MOST_WORDS: usize = 2048;
/// Maximum number of instructions in the programs `begin`, `step` and `show` together. A driver compiles longer programs too slowly.
const MOST_INSTRUCTIONS: usize = 8000;

/// Maximum number of instructions that a call of a program runs; see [`Program::work`]. A GPU cannot interrupt the steps of an iteration.
const MOST_WORK: usize = 100_000;

/// Translation of a file to WGSL.
pub struct Translation {
    pub text: String,
    /// Places at which operations can fail. After an error, the first word of the variable `world_fault` is the index of a place plus 1.
    pub places: Vec<Place>,
}

struct Translator<'a> {
    code: &'a Code,
    attributes: &'a [Attribute],
    places: Vec<Place>,
}

/// Translates a file. Returns `None` if the file has no attributes, or is too large or too slow for a GPU.
pub fn translate(meta: &Meta, attributes: &[Attribute], code: &Code) -> Option<Translation> {
    let programs = [&code.begin, &code.step, &code.show];
    let instructions = programs.iter().map(|program| program.code.len()).sum::<usize>();
    let tables = code.tables.iter().map(Vec::len).sum::<usize>();
    let is_brief = programs.iter().all(|program| program.work <= MOST_WORK);
    let is_small = instructions <= MOST_INSTRUCTIONS && tables <= MOST_WORDS && is_brief;
    if !is_small || attributes.is_empty() {
        return None;
    }
    let mut text = FUNCTIONS.to_owned();
    for (n, table) in code.tables.iter().enumerate() {
        let (len, numbers) = (table.len(), table.iter().map(|bits| format!("{bits}u, ")).collect::<String>());
        text += &format!("var<private> script_table_{n}: array<u32, {len}> = array<u32, {len}>({numbers});\n");
    }
    let mut translator = Translator { code, attributes, places: Vec::new() };
    text += &translator.first()?;
    text += &translator.shown()?;
    text += &translator.step(meta)?;
    Some(Translation { text, places: translator.places })
}

impl<'a> Translator<'a> {
    fn first(&mut self) -> Option<String> {
        let program = &self.code.begin;
        let (rows, lines) = self.body(program, &changing(program), &[])?;
        let mut all = vec![
            "fn world_first(env: u32, episode: u32, key: vec4<u32>) -> State {".into(),
            "script_begin();".into(),
            "let moment = vec3<u32>(env, episode, 0u);".into(),
        ];
        all.extend(rows.declarations());
        all.extend(lines);
        all.push("var next: State;".into());
        all.extend(state::saves(&rows, self.attributes, self.code));
        all.push("return next;\n}\n".into());
        Some(all.join("\n"))
    }

    fn shown(&mut self) -> Option<String> {
        let program = &self.code.show;
        let results = [&program.observation[..], &program.permitted].concat();
        let (rows, lines) = self.body(program, std::slice::from_ref(&(0..program.code.len())), &results)?;
        let mut all = vec!["fn world_shown(state: State) -> Shown {".into()];
        all.extend(rows.declarations());
        all.extend(state::loads(&rows, self.attributes, self.code));
        all.extend(lines);
        let permitted = program.permitted.iter().map(|row| format!("f32({})", rows.truth(*row)));
        let numbers: Vec<String> = program.observation.iter().map(|row| rows.float(*row)).chain(permitted).collect();
        all.push(format!("return Shown({});\n}}\n", numbers.join(", ")));
        Some(all.join("\n"))
    }

    fn step(&mut self, meta: &Meta) -> Option<String> {
        let program = &self.code.step;
        let (rows, lines) = self.body(program, &changing(program), &[program.reward, program.over])?;
        let mut all = vec![
            "fn world_step(state: State, shown: Shown, action: Action, when: Moment) -> Stepped {".into(),
            "script_begin();".into(),
            "let key = when.key;".into(),
            "let moment = vec3<u32>(when.env, when.episode, when.steps + 1u);".into(),
        ];
        all.extend(rows.declarations());
        all.extend(state::loads(&rows, self.attributes, self.code));
        let given = (0..meta.actions.len()).filter(|k| rows.has(ACTION + *k as u32));
        all.extend(given.map(|k| {
            let number = match meta.actions {
                Choice::Choices(count) => format!("u32(clamp(action[{k}], 0.0, {:?}))", f64::from(count - 1)),
                Choice::Box { low, high, .. } => format!("bitcast<u32>(clamp(action[{k}], {low:?}f, {high:?}f))"),
            };
            format!("{} = {number};", rows.place(ACTION + k as u32))
        }));
        all.extend(lines);
        all.push(format!("script_over = {};", rows.truth(program.over)));
        all.push("var next = state;".into());
        all.extend(state::saves(&rows, self.attributes, self.code));
        all.push(format!("return Stepped(next, {}, {});\n}}\n", rows.float(program.reward), rows.truth(program.over)));
        Some(all.join("\n"))
    }

    /// Translates the ranges `parts` of a program's instructions. Returns the rows and the WGSL statements. Returns `None` if a GPU cannot
    /// run the program.
    fn body(&mut self, program: &Program, parts: &[Range<usize>], results: &[u32]) -> Option<(Rows<'a>, Vec<String>)> {
        let instructions: Vec<Instruction> = parts.iter().flat_map(|part| &program.code[part.clone()]).copied().collect();
        let rows = Rows::new(self.code, self.attributes, &instructions, results);
        if rows.words() + 2 * state::len(self.attributes) > MOST_WORDS {
            return None;
        }
        let mut body = Body { code: self.code, program, rows: &rows, places: &mut self.places, lines: Vec::new() };
        for part in parts {
            body.range(part.clone())?;
        }
        let lines = body.lines;
        Some((rows, lines))
    }
}

/// Returns the ranges of a program's instructions before and after those of `observe` and `mask`. A GPU runs `observe` and `mask` in the
/// function `world_shown`.
fn changing(program: &Program) -> [Range<usize>; 2] {
    [0..program.observe.start, program.observe.end..program.code.len()]
}
