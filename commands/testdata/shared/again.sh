# again NAME [ENDPOINT]: checks the tape against its dialect's rules, plays it in three ways, and replays it to ENDPOINT.
# ALLOWED disables rules that the tape violates on purpose.
set -e
rpcx validate $1.tape --strict $ALLOWED
rpcx replay $1.tape --to tape:$1.tape
rpcx record unix:again.sock --to tape:$1.tape -o $1-2.tape -- rpcx replay $1.tape --to @
rpcx replay $1.tape --diff $1-2.tape
rpcx replay $1.tape --listen unix:again.sock -- rpcx replay $1.tape --to @
[ -z "$2" ] || rpcx replay $1.tape --to $2 $3 $4
