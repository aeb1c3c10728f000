//! The program `hothouse` with the additional room `bandit`.

fn main() -> std::process::ExitCode {
    bandit::add();
    cli::main()
}
