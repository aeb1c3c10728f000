//! Environments that users write in a subset of Python: the parser of their files, with messages that give the code to write instead.

pub mod ast;
pub mod error;
mod lexer;
mod parser;
mod token;

pub use parser::parse;
