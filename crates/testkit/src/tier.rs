//! The two tiers of tests: `npm test`, and `npm test -- --all`.

/// Returns true in `npm test -- --all`, which sets the environment variable `HOTHOUSE_TESTS` to `all`. Otherwise, tests use fewer sizes and
/// seeds. Returns false in a browser, which has no environment variables.
pub fn all() -> bool {
    std::env::var("HOTHOUSE_TESTS").is_ok_and(|tier| tier == "all")
}
