//! Translates a file to programs. A function is translated again at each call, for the types of the arguments. A variable has the widest
//! type that is assigned to it. The translation is repeated until no type widens.

mod builtins;
mod calls;
mod conditions;
mod constants;
mod draft;
mod entries;
mod expressions;
mod facts;
mod finish;
mod frames;
mod items;
mod lists;
mod loops;
mod lower;
mod outline;
mod owners;
mod rows;
mod scope;
mod similar;
mod statements;
mod survey;
mod uses;
mod values;

use super::engine::World;
use super::error::{Problem, end_at};
use super::meta::Meta;
use super::parser::read;
use super::program::{ACTION, Code};
use super::token::MOST_PROBLEMS;
use draft::Draft;
use lower::Lower;
use outline::Outline;
use rows::Layout;

/// Compiles a file. Returns the environment, or at most `MOST_PROBLEMS` errors in the order of their lines and columns.
pub fn compile(text: &str) -> Result<World, Vec<Problem>> {
    let mut reading = read(text);
    let mut problems = std::mem::take(&mut reading.problems);
    let file = &reading.file;
    let outline = Outline::of(file, reading.whole, &mut problems);
    // The translation finds further errors. If the file already has errors or has no `reset`, some of these further errors would be wrong.
    let can_continue = problems.is_empty() && outline.methods.contains_key("reset");
    outline.check_reset(&mut problems);
    if reading.whole && outline.has_class {
        outline.require(&mut problems);
    }
    let mut lower = Lower::new(&outline);
    let mut meta = Meta::default();
    let mut drafts = Vec::new();
    if can_continue {
        // Each translation but the last widens the type of a variable, or finds a fact about lists.
        while lower.begin_round() {
            meta = lower.declare(file.doc.as_deref());
            drafts = lower.programs(&meta);
        }
        lower.check_uncalled();
        problems.append(&mut lower.problems);
    }
    // A file under construction often has other errors, which come first.
    if problems.is_empty() {
        outline.check_step(&mut problems);
    }
    if !problems.is_empty() {
        // The sort is stable. If several errors have the same line and column, the error that was found first remains.
        problems.sort_by_key(|problem| (problem.span.line, problem.span.column));
        problems.dedup_by_key(|problem| (problem.span.line, problem.span.column));
        end_at(&mut problems, reading.last);
        problems.truncate(MOST_PROBLEMS);
        return Err(problems);
    }
    meta.observation = outline.observation_names(text);
    let code = finished(drafts, &mut lower, &meta);
    let attributes = lower.attributes.into_values().collect();
    Ok(World::new(meta, attributes, code))
}

/// Numbers the rows of all programs. Returns the code of the file.
fn finished(mut drafts: Vec<Draft>, lower: &mut Lower<'_>, meta: &Meta) -> Code {
    drafts.iter_mut().for_each(|draft| draft.improve(&lower.pool.constants));
    // All programs have their constants in the same rows. These rows follow the own rows (temporaries and lists) of the program that has
    // the most own rows. `most` is an upper bound of this number of own rows, because temporaries can share rows.
    let own = ACTION as usize + meta.actions.len();
    let most = drafts.iter().map(|draft| draft.body.temporaries + draft.body.lists).max().unwrap_or(0);
    let wide = Layout { own, constants: own + most, state: own + most + lower.pool.constants.len() };
    let mut programs = Vec::new();
    let mut rows = 0;
    for draft in drafts {
        let (program, count) = draft.program(wide);
        rows = rows.max(count);
        programs.push(program);
    }
    // Values share rows, so the programs do not use all `most` rows. The rows of the constants and of the state move down by the unused
    // rows.
    let unused = (most - rows) as u32;
    for program in &mut programs {
        let first = wide.constants as u32;
        let lower_row = |row: &mut u32| {
            if *row >= first && *row != super::program::NONE {
                *row -= unused;
            }
        };
        for i in &mut program.code {
            [&mut i.d, &mut i.a, &mut i.b, &mut i.c, &mut i.mask].into_iter().for_each(lower_row);
        }
        program.observation.iter_mut().chain(&mut program.permitted).chain([&mut program.reward, &mut program.over]).for_each(lower_row);
    }
    let mut programs = programs.into_iter();
    let mut next = || programs.next().unwrap_or_default();
    let [begin, step, show, draw] = std::array::from_fn(|_| next());
    let constants_at = wide.constants - unused as usize;
    let pool = std::mem::take(&mut lower.pool);
    Code {
        begin,
        step,
        show,
        draw,
        tables: pool.tables,
        texts: pool.texts,
        shapes: pool.shapes,
        state_at: constants_at + pool.constants.len(),
        constants: pool.constants,
        constants_at,
        state: lower.state,
    }
}
