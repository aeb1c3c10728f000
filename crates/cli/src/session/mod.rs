//! Runs of this process and their files. This module does not depend on how a run is displayed.

pub mod begin;
pub mod budget;
mod device;
pub mod monitor_file;
pub mod record;
pub mod saves;
pub mod target;
pub mod training;
