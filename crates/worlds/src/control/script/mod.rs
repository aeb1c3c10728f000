//! Environments that users write in a subset of Python. The parser reads a file. The compiler checks the file and translates it to
//! programs. The engine runs the programs for many environments at once. Error messages give the code to write instead.

pub mod ast;
mod compile;
mod engine;
pub mod error;
mod fold;
mod lexer;
mod meta;
mod names;
mod parser;
mod program;
mod token;
mod wgsl;

pub use compile::compile;
pub use engine::{Fleet, World};
pub use meta::{Choice, Meta};
pub use parser::{LARGEST, parse};
pub use program::{Attribute, Type};
pub use token::MOST_PROBLEMS;
