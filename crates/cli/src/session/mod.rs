//! Runs of this process, and what they leave: nothing here knows how a run is shown.

pub mod begin;
pub mod budget;
mod device;
pub mod monitor_file;
pub mod record;
pub mod saves;
pub mod training;
