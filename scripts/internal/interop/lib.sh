# shellcheck shell=bash
# All cases of scripts/interop use this file. A case begins with
#
#     #!/usr/bin/env bash
#     # DESCRIPTION, in one line
#     . "$INTEROP/lib.sh"
#
# and runs in an empty directory, with rpcx on the PATH.
set -euo pipefail

# A case reads none of the user's files, except Go's build cache.
unset RPCX_ENDPOINT RPCX_ERRORS NODE_OPTIONS
if type -P go >/dev/null; then GOCACHE=$(go env GOCACHE); export GOCACHE; fi
export NO_COLOR=1 XDG_CONFIG_HOME="$PWD/config" XDG_STATE_HOME="$PWD/state" XDG_CACHE_HOME="$PWD/cache"
export XDG_RUNTIME_DIR="$PWD/run"
mkdir -m 0700 "$XDG_RUNTIME_DIR"

started=()
bad=0    # a check has failed since the last ok
failed=0 # a check has failed

finish() {
  local status=$? pid
  for pid in ${started[@]+"${started[@]}"}; do
    kill "$pid" 2>/dev/null || true
  done
  for pid in ${started[@]+"${started[@]}"}; do
    # A server that ignores the signal must not outlive the case.
    timeout 5 tail --pid="$pid" -f /dev/null || kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  if [[ $status -ne 0 ]]; then exit "$status"; fi
  if [[ $bad$failed != 00 ]]; then exit 1; fi
}
trap finish EXIT
trap 'exit 143' TERM INT

# missing WHAT: ends the case. The file "missing" is for scripts/interop --present.
missing() {
  echo "$CASE: $1 is missing" | tee "$TMPDIR/missing" >&2
  exit 1
}

# needs PROGRAM...: ends the case if a program is missing.
needs() {
  local program
  for program; do
    type -P "$program" >/dev/null || missing "$program"
  done
}

# needs_packages: installs the npm packages that package-lock.json pins. Cases run concurrently, so one installs them for all.
needs_packages() {
  needs node npm flock
  local stamp=$INTEROP/node_modules/.package-lock.json
  {
    flock 8
    if [[ ! -e $stamp || $INTEROP/package-lock.json -nt $stamp ]]; then
      npm ci --prefix "$INTEROP" --ignore-scripts --no-audit --no-fund --loglevel=error >&2
      touch "$stamp"
    fi
  } 8<"$INTEROP/package-lock.json"
}

# needs_built PROGRAM PACKAGE: builds a Go program with the versions in the module PROGRAM, and adds it to the PATH.
needs_built() {
  needs go flock
  {
    flock 8
    (cd "$INTEROP/$1" && go build -o "$INTEROP/.bin/$1" "$2")
  } 8<"$INTEROP/lib.sh" # not go.mod, which the go command locks itself
}

# start PATTERN COMMAND...: starts a server and waits for a line of its output (stdout or stderr) that matches the extended regular
# expression PATTERN. It sets $line to that line and $server to the process id, and writes all output to server-PID.log.
start() {
  local pattern=$1 fifo fd log
  shift
  fifo=$(mktemp -u "$PWD/start.XXXXXX")
  mkfifo "$fifo"
  "$@" >"$fifo" 2>&1 </dev/null &
  server=$!
  started+=("$server")
  log=$PWD/server-$server.log
  exec {fd}<"$fifo"
  rm "$fifo"
  while IFS= read -r -t 60 line <&"$fd"; do
    printf '%s\n' "$line" >>"$log"
    if [[ $line =~ $pattern ]]; then
      cat <&"$fd" >>"$log" & # so that the server never blocks on its output
      exec {fd}<&-
      return 0
    fi
  done
  echo "$CASE: $1 never printed a line like $pattern" >&2
  cat "$log" >&2 || true
  exit 1
}

# logged COUNT PATTERN: waits until the latest server has printed COUNT matching lines.
logged() {
  local deadline=$((SECONDS + 60)) seen
  until seen=$(grep -cE -- "$2" "$PWD/server-$server.log" || true); [[ $seen -ge $1 ]]; do
    if [[ $SECONDS -ge $deadline ]]; then
      bad=1
      echo "$CASE: the server printed $seen lines like '$2', not $1" >&2
      return 0
    fi
    sleep 0.05
  done
}

# stop: ends the latest server.
stop() {
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
}

# field NAME: prints the member NAME, a number or a plain string, of the JSON object in $line.
field() {
  local pattern="\"$1\":\"?([^,\"}]+)"
  if [[ $line =~ $pattern ]]; then
    printf '%s' "${BASH_REMATCH[1]}"
  else
    echo "$CASE: no $1 in $line" >&2
    exit 1
  fi
}

# want STATUS STDOUT COMMAND...: runs COMMAND with the current stdin. The status and each byte of stdout must be equal. stderr is
# written to the file stderr. want prints a difference, and the case continues but fails.
want() {
  local status=$1 output=$2 got=0 limit=(timeout --kill-after=5 120)
  shift 2
  if [[ $(type -t "$1") == function ]]; then limit=(); fi
  ${limit[@]+"${limit[@]}"} "$@" >stdout 2>stderr || got=$?
  if [[ -n $output ]]; then printf '%s\n' "$output" >wanted; else : >wanted; fi
  if [[ $got -eq $status ]] && cmp -s wanted stdout; then return 0; fi
  bad=1
  {
    echo "$CASE: not as wanted:"
    printf '  %q' "$@"
    echo
    echo "  status: $got, wanted $status"
    diff -u --label wanted --label stdout wanted stdout | cut -c 1-2000 | sed 's/^/  /' || true
    cut -c 1-2000 stderr | sed 's/^/  stderr: /'
  } >&2
}

# said PATTERN: requires a line on the latest command's stderr that matches.
said() {
  if grep -qE -- "$1" stderr; then return 0; fi
  bad=1
  {
    echo "$CASE: nothing like '$1' on stderr:"
    sed 's/^/  stderr: /' stderr
  } >&2
}

# quiet: requires that the latest command's stderr is empty.
quiet() {
  if [[ ! -s stderr ]]; then return 0; fi
  bad=1
  {
    echo "$CASE: stderr should be empty:"
    sed 's/^/  stderr: /' stderr
  } >&2
}

# ok TEXT: prints TEXT, which describes the checks since the last ok, unless one of them failed.
ok() {
  if [[ $bad -eq 0 ]]; then
    echo "ok $CASE: $*"
  else
    echo "not ok $CASE: $*"
    failed=1 bad=0
  fi
}

# certificate: writes cert.pem and key.pem for 127.0.0.1, with Go's generator.
certificate() {
  needs go
  go run "$(go env GOROOT)/src/crypto/tls/generate_cert.go" --host 127.0.0.1 --ca --ecdsa-curve P256 2>certificate.log ||
    { cat certificate.log >&2; exit 1; }
}

# free_port: prints an unused TCP port of the loopback interface, for servers that do not print their port.
free_port() {
  needs node
  node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close(); });'
}

# reachable PORT: waits until a server accepts connections on PORT.
reachable() {
  local deadline=$((SECONDS + 60))
  until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do
    if [[ $SECONDS -ge $deadline ]]; then
      echo "$CASE: nothing listens on port $1" >&2
      exit 1
    fi
    sleep 0.05
  done
}

# broken FILE: prints the level and the name of each violated rule, once.
broken() {
  sed -n 's/.*"rule":"\([^"]*\)","level":"\([^"]*\)".*/\2 \1/p' "$1" | sort -u
}

# found ENDPOINT FLAGS...: prints the rules that a live server violates. Its tape must not violate others.
found() {
  rpcx validate "$@" --idle 2s --record live.tape --force >lines || true
  rpcx validate live.tape >again || true
  broken lines
  broken again >of-tape
  broken lines | comm -13 - of-tape | sed 's/^/only on the tape: /'
}

# defective DIALECT SCRIPT: creates the dialect "defective" from the dialect file DIALECT, changed with the sed script SCRIPT.
defective() {
  local page=$INTEROP/../../../wire/dialect/page/pages/$1.toml dir=$XDG_CONFIG_HOME/rpcx/dialects
  mkdir -p "$dir"
  sed 's/^name = .*/name = "defective"/' "$page" >same.toml
  sed "$2" same.toml >"$dir/defective.toml"
  if cmp -s same.toml "$dir/defective.toml"; then
    bad=1
    echo "$CASE: $2 changes nothing of $1" >&2
  fi
}
