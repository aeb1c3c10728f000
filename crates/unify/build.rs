//! Cargo considers the dependencies of a build script only if there is one.
fn main() {}
