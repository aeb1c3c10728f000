//! Tests that concern the learners of all rooms: offloading, faults and memory estimates.

mod estimates;
mod fault;
mod offload;
