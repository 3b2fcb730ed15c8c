# shellcheck shell=sh
# Runs the steps of scripts/check and scripts/nightly, which source this file in the root directory of the tree.
#
# step NAME COMMAND... runs a command, and continues after a failure. lane NAME FUNCTION [NICENESS] runs the steps in a function in
# the background. wait_for_lanes waits for all lanes. finish TITLE prints the failed steps and tests on the last line. $tmp is a
# directory that is removed at the end.
set -u

# All steps build with the flags of scripts/build, so that each package is compiled only once.
export GOFLAGS="-trimpath ${GOFLAGS-}" CGO_ENABLED=0

tmp=$(mktemp -d) || exit 1
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

: >"$tmp/steps"   # a line per step: "passed", or "failed" and what failed
: >"$tmp/unstable" # tests that failed once
again=$tmp/again  # what failed in the step, as the second word of each line, written by the step's command
lane=             # the name of this lane, if it is one
lanes=            # the process ids of all lanes
begun=$(date +%s)

# leave kills the remaining processes, which exist only after an interrupt, and removes the directory.
leave() {
	# shellcheck disable=SC2046 # a word for each process
	kill $(below $$) 2>/dev/null
	rm -rf "$tmp"
}

# below PID: prints the descendants of process PID.
below() {
	ps -A -o pid= -o ppid= | awk -v top="$1" '
	{ parent[$1] = $2 }
	END { for (pid in parent) { for (up = parent[pid]; up in parent && up != top; up = parent[up]); if (up == top) print pid } }'
}

# step NAME COMMAND...: runs COMMAND, and prints its duration and its processor time in seconds. In a lane, the output is printed
# when COMMAND has ended.
step() {
	name=$1
	shift
	since=$(date +%s)
	: >"$again"
	times >"$again.before"
	if [ -z "$lane" ]; then
		echo "== $name"
		"$@"
		status=$?
	else
		"$@" >"$again.out" 2>&1
		status=$?
		echo "== $name (in parallel)"
		cat "$again.out"
	fi
	times >"$again.after"
	if [ "$status" -eq 0 ]; then
		echo passed >>"$tmp/steps"
	else
		echo "failed $name$(awk '{ printf "%s %s", (NR == 1 ? ":" : ","), $2 }' "$again" | tr -d '^$\\')" >>"$tmp/steps"
		echo "FAILED: $name" >&2
	fi
	echo "   $name: $(($(date +%s) - since)) s, $(awk '
		NR % 2 == 0 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s[NR] += t[1] * 60 + t[2] } }
		END { printf "%.0f", s[4] - s[2] }' "$again.before" "$again.after") s of processor time"
}

# lane NAME FUNCTION [NICENESS]: runs FUNCTION in the background. NAME is one word.
lane() {
	(
		lane=$1
		again=$tmp/again-$1
		"$2"
		: >"$tmp/ended-$1"
	) &
	lanes="$lanes $1:$!"
	if [ $# = 3 ]; then renice -n "$3" -p $! >/dev/null 2>&1; fi
}

wait_for_lanes() {
	for one in $lanes; do
		wait "${one#*:}"
		[ -e "$tmp/ended-${one%%:*}" ] || echo "failed the lane ${one%%:*}, which did not finish" >>"$tmp/steps"
	done
	lanes=
}

finish() {
	sed 's/^/unstable: /' "$tmp/unstable"
	echo "took $(($(date +%s) - begun)) s"
	failures=$(sed -n 's/^failed //p' "$tmp/steps" | awk '{ printf "%s%s", (NR == 1 ? ": " : "; "), $0 }')
	echo "$1: $(grep -c '^passed' "$tmp/steps") steps passed, $(grep -c '^failed' "$tmp/steps") failed$failures"
	[ -z "$failures" ]
}
