# shellcheck shell=sh
# The steps of scripts/check and scripts/nightly, which read this file from the top of the tree.
#
# step NAME COMMAND... runs a command and goes on whatever comes of it; lane NAME FUNCTION [NICENESS] runs the steps of a
# function beside the others; wait_for_lanes waits for them; finish TITLE says in the last line which steps and tests
# failed. $tmp is a folder that goes with the process.
set -u

# One way to build for all steps, the same as scripts/build's, so that each package is compiled once.
export GOFLAGS="-trimpath ${GOFLAGS-}" CGO_ENABLED=0

tmp=$(mktemp -d) || exit 1
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

: >"$tmp/steps"   # a line for each step: "passed", or "failed" and what failed
: >"$tmp/unstable" # tests that failed once
again=$tmp/again  # what failed inside the step, as the second word of a line; the step's command writes it
lane=             # the lane that this is, if it is one
lanes=            # the processes of all lanes
begun=$(date +%s)

# leave ends what still runs, which is nothing unless somebody interrupted, and removes the folder.
leave() {
	# shellcheck disable=SC2046 # a word for each process
	kill $(below $$) 2>/dev/null
	rm -rf "$tmp"
}

# below PID prints the processes that PID has started, and those that they have.
below() {
	ps -A -o pid= -o ppid= | awk -v top="$1" '
	{ parent[$1] = $2 }
	END { for (pid in parent) { for (up = parent[pid]; up in parent && up != top; up = parent[up]); if (up == top) print pid } }'
}

# step NAME COMMAND... says how long it took, and how much of the processors it had, in seconds. In a lane its output is
# shown when it has ended.
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
		echo "== $name (beside the others)"
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
		END { printf "%.0f", s[4] - s[2] }' "$again.before" "$again.after") s of processor"
}

# lane NAME FUNCTION [NICENESS]: NAME is one word.
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
		[ -e "$tmp/ended-${one%%:*}" ] || echo "failed the lane ${one%%:*}, which did not come to its end" >>"$tmp/steps"
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
