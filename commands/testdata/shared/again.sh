# again NAME [ENDPOINT]: the tape against the rules of its dialect, against itself, in three
# ways, and against the real thing.
# ALLOWED leaves out what the tape breaks on purpose. (How often a job is asked for its state depends on the clock.)
set -e
rpcx validate $1.tape --strict $ALLOWED
rpcx replay $1.tape --to tape:$1.tape
rpcx record unix:again.sock --to tape:$1.tape -o $1-2.tape -- rpcx replay $1.tape --to @
rpcx replay $1.tape --diff $1-2.tape
rpcx replay $1.tape --listen unix:again.sock -- rpcx replay $1.tape --to @
[ -z "$2" ] || rpcx replay $1.tape --to $2 $3 $4
