//! Contains no code. Cargo compiles a library once for each set of its features, and each crate above it again. The program `hothouse`, the
//! tests and the Python package would ask for different features of some libraries, so that a build of one would compile most crates again
//! after a build of another. The dependencies of this crate ask for all of these features. A step of `npm test` fails if a feature is
//! missing here.
#![forbid(unsafe_code)]
