# Everything a contributor runs; `.ci/run` is the same for machines.

default: ci

fmt:
    cargo xfmt

lint:
    cargo clippy --workspace --all-targets -- -D warnings

test:
    cargo test --workspace

demo:
    cargo run --release -- demo

makespan:
    cargo run --release --example makespan

interop:
    tests/interop/run.sh

ci:
    .ci/run
