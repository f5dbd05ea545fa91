# Sourced by the tests that hold the contract against what others made of it: their tools, and the servers they ask.
# shellcheck shell=bash

servers=()

# stop_servers: those that `serve` started.
stop_servers() {
  local server
  for server in "${servers[@]}"; do kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; done
}

# tools PACKAGE==VERSION…: into the folder `venv` here; status 69 if they are unavailable (PyPI, or Python's venv).
tools() {
  if ! { python3 -m venv venv && timeout 240 venv/bin/pip install --quiet --disable-pip-version-check --retries 1 "$@"; } \
    >install.txt 2>&1; then
    tail -n 5 install.txt >&2
    echo "cannot be installed here: $*; the test did not run" >&2
    exit 69
  fi
}

# serve NAME MDOC OPTION…: starts a server, whose address is $url then; it writes NAME.txt and NAME.log.
serve() {
  local name=$1 mdoc=$2 server
  shift 2
  : >"$name.log" # Before the loop below reads it: a former server of this name has started.
  TMPDIR=$PWD "$mdoc" serve "$@" >"$name.txt" 2>"$name.log" &
  server=$!
  servers+=("$server")
  for _ in $(seq 300); do
    if grep -q '"event":"server.started"' "$name.log" || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
  done
  url=$(sed -n 's/.*"event":"server.started","listen":"\([^"]*\)".*/http:\/\/\1/p' "$name.log")
  if [[ -z $url ]]; then tail -n 5 "$name.log" >&2; echo "the server did not start" >&2; exit 1; fi
}

# test_key NAME: the API key that the server in test mode of that name has printed.
test_key() {
  for _ in $(seq 100); do
    if grep -q '^API key' "$1.txt"; then break; fi
    sleep 0.1
  done
  sed -n 's/^API key *//p' "$1.txt"
}
