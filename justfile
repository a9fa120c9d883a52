# Everything a contributor runs; `.ci/run` is the same for machines.

default: ci

fmt:
    cargo xfmt

lint:
    cargo clippy --workspace --all-targets -- -D warnings

test:
    cargo test --workspace

# Simulated fleets: so many seeds, from which one on.
sim seeds="1000" from="0":
    cargo run --release --example sim -- --seeds {{seeds}} --from {{from}}

demo:
    cargo run --release -- demo

makespan:
    cargo run --release --example makespan

# Kills redpipe at every moment of every story.
sweep:
    cargo run --release --example sweep

interop:
    tests/interop/run.sh

ci:
    .ci/run
