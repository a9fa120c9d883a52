//! The redpipe command.

fn main() -> std::process::ExitCode {
    redpipe::cli::main()
}
