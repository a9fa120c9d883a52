#!/usr/bin/env bash
# redpipe against other people's servers: every recorded tree in ../shared/mockups, served read-only by a third-party
# server. Versions and attribute counts of `inventory check`, and a plan, are compared with what the files hold.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
gear=$root/../shared/gear
trees=$root/../shared/mockups
if [[ ! -d $gear || ! -d $trees ]]; then
  echo "skipped: no test gear or no recorded trees in ../shared"
  exit 0
fi
gear=$(cd "$gear" && pwd)
export GEAR=${GEAR:-${CARGO_TARGET_DIR:-$root/target}/gear}
if [[ ! -x $GEAR/venv/bin/python ]]; then
  echo "setting up the server in $GEAR"
  GEAR_ANSIBLE=0 GEAR_LIBVIRT=0 "$gear/setup.sh"
fi
(cd "$root" && cargo build --quiet -p redpipe)
exec python3 "$here/trees.py" "$gear/start-static-mockup.sh" "$(cd "$trees" && pwd)" \
  "${CARGO_TARGET_DIR:-$root/target}/debug/redpipe"
