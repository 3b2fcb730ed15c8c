#!/usr/bin/env bash
# connect on a real terminal: the prompt, its keys, its history, and the restored terminal
. "$INTEROP/lib.sh"
needs tmux stty

unset NO_COLOR
export LC_ALL=C.UTF-8 HOME=$PWD
tm() { tmux -u -S "$PWD/tmux" "$@"; }
tm -f /dev/null new-session -d -x 90 -y 30 'PS1="sh: " ENV= exec sh'
started+=("$(tm display-message -p '#{pid}')")

keys() { tm send-keys -t 0 "$@"; }
typed() { tm send-keys -t 0 -l "$1" && keys Enter; }

# shows PATTERN: waits until a line of the screen matches.
shows() {
  local deadline=$((SECONDS + 60))
  until tm capture-pane -pJ -t 0 >screen && grep -qE -- "$1" screen; do
    if [[ $SECONDS -ge $deadline ]]; then
      bad=1
      { echo "$CASE: no line like '$1':" && sed 's/^/  screen: /' screen; } >&2
      return 0
    fi
    sleep 0.05
  done
}

# coloured PATTERN: like shows, but the line includes the escape sequences for colours.
coloured() {
  tm capture-pane -peJ -t 0 >screen
  grep -qE -- "$1" screen || { bad=1 && echo "$CASE: nothing like '$1' in colour" >&2 && cat -v screen >&2; }
}

# fresh COMMAND: runs COMMAND on a new screen.
fresh() {
  tm send-keys -t 0 -R && tm clear-history -t 0
  typed "clear; stty -g >before; $1; echo status \$?; stty -g >after"
}

# left STATUS: waits until the command has ended with STATUS, and requires that the terminal has its original settings.
left() {
  shows "^status $1\$"
  shows '^sh: *$'
  cmp before after >&2 || bad=1
}

fresh 'rpcx connect demo:orders -c'
shows '^rpcx: METHOD key=value'
shows '^> *$'
typed 'getOrder id=o_001'
shows '^\{"customer":"Ada Lovelace".*'
coloured $'\e\\[(1;)?34m"customer"'
typed 'getOrdr'
shows '^rpcx: getOrdr: method not found.*did you mean getOrder'
coloured $'\e\\[31mrpcx: '
typed "getOrder 'id=o_002"
shows '^rpcx: a quote is not closed$'
typed 'listOrders {"limit": 1}'
shows '^\[\{"id":"o_001".*\}\]$'
typed '{"id":"mine","method":"getOrder","params":{"id":"o_003"}}'
shows '^\{"jsonrpc":"2.0","id":"mine","result"'
ok 'calls, literal messages, colours; after an error in red, the prompt accepts the next line'

keys C-l
typed 'approveOrder id=o_002'
shows '"method":"approve"'
shows '^rpcx: no hook answers this request; type \{"id":1,"result":…\}'
typed '{"id":1,"result":true}'
shows '^\{"approved":true,"id":"o_002"\}'
ok "typed responses to the peer's requests"

keys C-l
typed 'watchOrders interval:=0.1'
shows '"n":2,'
tm send-keys -t 0 -l 'half a li'
shows '^> half a li$'
shows '"n":9,'
shows '^> half a li$'
keys C-c
shows '^rpcx: watchOrders: cancelled$'
shows '^> half a li$'
keys C-c
shows '^> *$'
ok 'events do not change the line being edited; Ctrl-C first cancels the call, then clears the line'

keys C-l
keys get Tab
shows '^> getOrder $'
keys i Tab
shows '^> getOrder id=$'
keys C-u
keys Tab Tab
shows '^approveOrder  cancelOrder .* watchOrders *$'
ok 'Tab completes methods and keys'

keys C-u C-l
long=$(printf '%0120d' 0)
tm send-keys -t 0 -l "getOrder id=$long"
shows '^0+$'
tm resize-window -x 60 -y 30
keys Home
tm send-keys -t 0 -l 'x'
shows '^> xgetOrder id=0+$'
tm resize-window -x 90 -y 30
keys End C-u C-l
ok 'long lines in a window whose width changes'

tm set-buffer $'{"id":7,\n\t"method":"getOrder",\n\t"params":{"id":"o_0\e[31m\x0701"}\n}\n'
tm paste-buffer -p -t 0
shows '"id":7,"(result|error)"'
keys C-l
tm set-buffer $'getOrder id=o_001\r\ngetOrder id=o_002'
tm paste-buffer -p -r -t 0
shows '"id":"o_001"'
shows '^> getOrder id=o_002$'
ok 'pasted text of several lines, with control characters'

keys C-u
keys C-d
left 0
fresh 'rpcx connect demo:orders -c'
shows '^> *$'
typed 'getOrder password=hunter2 id=o_001'
shows '^rpcx: getOrder: invalid params'
typed ' listOrders'
shows '"o_003"'
typed 'getOrder id=o_002'
shows '"o_002"'
keys C-d
left 0
fresh 'rpcx connect demo:orders -c'
shows '^> *$'
keys Up
shows '^> getOrder id=o_002$'
keys Up
shows '^> getOrder id=o_001$'
keys Down
shows '^> getOrder id=o_002$'
keys C-c C-d
left 0
want 0 600 stat -c %a "$XDG_STATE_HOME/rpcx/history"
want 0 700 stat -c %a "$XDG_STATE_HOME/rpcx"
want 1 '' grep -E 'hunter2|listOrders$' "$XDG_STATE_HOME/rpcx/history"
ok 'the history file is private, and has no secrets and no lines that begin with a space'

start listening rpcx serve unix:shop.sock --on 'evil=json:"\u001b[31mred\u0007\u009b31m"' --on 'slow=sleep 60'
fresh 'rpcx connect unix:shop.sock'
typed evil
shows '^"\\u001b\[31mred\\u0007\\u009b31m"$'
typed slow
shows '^> slow$'
kill -KILL "$server"
wait "$server" 2>/dev/null || true
shows 'before "slow" was answered$'
left 7
start listening rpcx serve unix:shop2.sock --on 'slow=sleep 60'
for signal in TERM HUP QUIT; do
  rm -f pid
  fresh 'sh -c "echo \$\$ >pid; exec rpcx connect unix:shop2.sock"'
  shows '^rpcx: METHOD'
  typed slow
  shows '^> slow$'
  kill -"$signal" "$(cat pid)"
  case $signal in HUP) left 129 ;; QUIT) left 2 ;; *) left 143 ;; esac
done
ok 'the terminal is restored when the peer exits and after signals'
stop

fresh 'rpcx connect demo:orders -c'
shows '^rpcx: METHOD'
tm send-keys -t 0 -l 'half a li'
shows '^> half a li$'
keys C-z
shows '^sh: *$'
typed 'stty -g >stopped; echo stop''ped'
shows '^stopped$'
want 0 '' cmp before stopped
typed fg
shows '^> half a li$'
keys C-c C-d
shows '^sh: *$'
ok 'Ctrl-Z and fg: the terminal is restored, then the line being edited'

want 0 '' rpcx connect demo:orders --session work
fresh 'rpcx connect @work -c'
shows '^rpcx: METHOD'
typed 'getOrder id=o_001'
shows '^\{"customer":"Ada Lovelace"'
typed 'approveOrder id=o_002'
shows '^rpcx: no hook answers this request; type \{"id":1,"result":…\}'
typed '{"id":1,"result":true}'
shows '^\{"approved":true,"id":"o_002"\}'
keys get Tab
shows '^> getOrder $'
keys C-u C-d
left 0
want 0 o_001 rpcx call @work getOrder id=o_001 -r -q .id
want 0 '' rpcx session close work
ok 'a session stays open after the prompt ends'

fresh "rpcx connect 'exec:sh -c \"while read -r line; do echo noise >&2; done\"'"
shows '^rpcx: METHOD'
typed call
shows '^noise$'
typed 'again {"a":'
shows '^… *$'
keys C-c
shows '^rpcx: call: cancelled$'
shows '^… *$'
keys C-c
shows '^> *$'
keys C-d
left 0
ok "a child's stderr; Ctrl-C in an incomplete message"

fresh 'TERM=dumb rpcx connect demo:orders -q .result.status'
typed '{"id":1,"method":"getOrder","params":{"id":"o_001"}}'
shows '^"shipped"$'
keys C-d
left 0
ok 'with TERM=dumb, input is read as from a pipe'
