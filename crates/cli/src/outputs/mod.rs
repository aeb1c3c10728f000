//! What is told of a run: on a screen, in lines, in files of other programs.

pub mod events;
pub mod export;
pub mod lines;
pub mod screen;
pub mod show;
pub mod view;
