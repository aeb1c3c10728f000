//! Tests of properties that all learners have. Each test checks all cases, and a failure names its case.

#[cfg(not(target_arch = "wasm32"))]
mod allocation;
mod cases;
#[cfg(not(target_arch = "wasm32"))] // too long for one thread
mod drawn;
mod properties;
mod subject;
