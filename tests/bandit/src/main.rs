//! `hothouse` with one room more.

fn main() -> std::process::ExitCode {
    bandit::add();
    cli::main()
}
