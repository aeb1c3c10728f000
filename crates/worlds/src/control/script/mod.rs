//! Environments that users write in a subset of Python. The parser reads a file, the compiler checks and translates it, and the engine runs
//! it for many environments at once. Messages give the code to write instead.

pub mod ast;
mod compile;
mod engine;
pub mod error;
mod fold;
mod lexer;
mod meta;
mod parser;
mod program;
mod token;

pub use compile::compile;
pub use engine::{Fleet, Shape, World};
pub use meta::{Choice, Meta};
pub use parser::parse;
pub use program::{Attribute, Type};
