# again NAME [ENDPOINT]: the tape against itself, in three ways, and against the real thing.
# (How often a job is asked for its state depends on the clock.)
set -e
rpcx replay $1.tape --to tape:$1.tape
rpcx record unix:again.sock --to tape:$1.tape -o $1-2.tape -- rpcx replay $1.tape --to @
rpcx replay $1.tape --diff $1-2.tape
rpcx replay $1.tape --listen unix:again.sock -- rpcx replay $1.tape --to @
[ -z "$2" ] || rpcx replay $1.tape --to $2 $3 $4
