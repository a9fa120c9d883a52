#!/usr/bin/env bash
# Other people's clients against our mock: curl, DMTF's library and tacklebox, OpenStack's sushy.
# Exit 0 only if all of them exit 0; see README.md beside this file.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
gear=$root/../shared/gear
user=root password=secret

if [[ ! -d $gear ]]; then
  echo "skipped: no test gear in ../shared/gear, so no third-party client was run"
  exit 0
fi
gear=$(cd "$gear" && pwd)

# Everything that is installed or written stays under target/, whatever the gear's own defaults are.
export GEAR=${GEAR:-${CARGO_TARGET_DIR:-$root/target}/gear}
export GEAR_OUT=${GEAR_OUT:-$GEAR/out}
if [[ ! -f $GEAR/.ready || $gear/setup.sh -nt $GEAR/.ready ]]; then
  echo "setting up the clients in $GEAR"
  GEAR_ANSIBLE=0 GEAR_LIBVIRT=0 "$gear/setup.sh"
  touch "$GEAR/.ready"
fi

(cd "$root" && cargo build --quiet -p mock-bmc)
mock=${CARGO_TARGET_DIR:-$root/target}/debug/mock-bmc

work=$(mktemp -d)
pid=
stop() {
  [[ -z $pid ]] || { kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true; }
  rm -rf "$work"
}
trap stop EXIT

# Starts a fresh mock on a free port and leaves its address in `url`: no client sees what another one left behind.
start() {
  [[ -z $pid ]] || { kill "$pid" && wait "$pid" || true; }
  : >"$work/out"
  "$mock" serve --platform generic --tls --listen 127.0.0.1:0 --user "$user" --password "$password" >"$work/out" &
  pid=$!
  for _ in $(seq 100); do
    if grep -qx ready "$work/out"; then
      url=$(awk 'NR == 1 { print $2 }' "$work/out")
      return
    fi
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  echo "mock-bmc did not become ready"
  exit 1
}

clients=(run-curl run-redfish-library run-sushy run-tacklebox)
[[ $# -eq 0 ]] || clients=("$@")
failed=()
for client in "${clients[@]}"; do
  start
  echo "== $client $url"
  "$gear/$client.sh" "$url" "$user" "$password" || failed+=("$client")
done

if [[ ${#failed[@]} -gt 0 ]]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "passed: ${clients[*]}"
