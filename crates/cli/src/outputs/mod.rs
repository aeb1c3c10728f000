//! Output of a run: the screen, printed lines, and files for other programs.

pub mod entry;
pub mod events;
pub mod export;
pub mod files;
pub mod lines;
pub mod output;
pub mod screen;
pub mod show;
pub mod view;
