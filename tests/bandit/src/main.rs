//! The program `hothouse` with the bandit added to its rooms.

fn main() -> std::process::ExitCode {
    bandit::add();
    cli::main()
}
