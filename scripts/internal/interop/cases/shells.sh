#!/usr/bin/env bash
# completion in bash, zsh and fish: commands, endpoints, values and files, without running the command line
. "$INTEROP/lib.sh"
needs bash zsh fish script
completions=$(cd "$INTEROP/../../../completions" && pwd)
export RPCX_HISTORY=off XDG_CACHE_HOME=$PWD/cache

mkdir certificates
touch certificates/root.pem 'certificates/my own.pem'
rpcx connect demo:orders --session work

# bash must not ask whether to print a long list, because the answer would consume the next key.

# typed SHELL KEYS: prints the arguments that rpcx gets after KEYS are typed in SHELL. KEYS can contain TAB. For TAB, zsh by default
# first expands the word under the cursor, including $(…).
typed() {
  local setup command
  case $1 in
    bash)
      command='bash --norc --noprofile -i'
      setup="bind 'set bell-style none'; bind 'set completion-query-items -1'; bind 'set page-completions off'; . '$completions/rpcx.bash'" ;;
    zsh)
      command='zsh -f -i'
      setup="LISTMAX=100000; fpath=('$completions' \$fpath); autoload -Uz compinit; compinit -u -D; bindkey '^I' complete-word" ;;
  esac
  rm -f words
  printf '%s\n%s\n%s\nexit\n' "$setup" "rpcx() { { printf '<%s>' \"\$@\"; echo; } >'$PWD/words'; }" "rpcx $2" |
    TERM=dumb HOME=$PWD timeout 60 script -qec "$command" /dev/null >typed.log 2>&1 || true
  cat words 2>/dev/null || cat typed.log
}

tab=$'\t' kill_line=$'\025'
for shell in bash zsh; do
  want 0 '<call>' typed "$shell" "ca$tab"
  want 0 '<call><demo:orders>' typed "$shell" "call demo:or$tab"
  want 0 '<call><lsp+exec:x>' typed "$shell" "call lsp+ex${tab}x"
  want 0 '<call><demo:orders><getOrder><id=7>' typed "$shell" "call demo:orders getO$tab i${tab}7"
  want 0 '<help><hooks>' typed "$shell" "help hoo$tab"
  want 0 '<serve><ws+unix:x>' typed "$shell" "serve ws+${tab}x"
  want 0 '<call><--color><always><x>' typed "$shell" "call --col$tab alw$tab x"
  want 0 '<call><--color=always>' typed "$shell" "call --color=alw$tab"
  want 0 '<call><--cacert><certificates/root.pem>' typed "$shell" "call --cacert certificates/ro$tab"
  want 0 '<call><--cacert><certificates/my own.pem>' typed "$shell" "call --cacert certificates/my\\ o$tab"
  want 0 '<call><@work>' typed "$shell" "call @wo$tab"
  want 0 '<call><demo:orders><m><--notify>' typed "$shell" "call demo:orders m --noti$tab"
  typed "$shell" "call \$(touch evil1) '\$(touch evil2)' \"\$(touch evil3)\" \`touch evil4\` --jq \$(touch evil5) --noti$tab$tab$kill_line" >/dev/null
  typed "$shell" "call \$(touch evil6)$tab$tab$kill_line" >/dev/null
  want 0 '' find . -name 'evil*'
  ok "$shell"
done

# fish has a command that prints completions.
fished() { fish --no-config -c "source '$completions/rpcx.fish'; complete -C \$argv[1]" -- "$1" | cut -f 1; }
rpcx session close work
want 0 'call' fished 'rpcx cal'
want 0 'demo:orders' fished 'rpcx call demo:or'
want 0 'lsp+exec:' fished 'rpcx call lsp+ex'
want 0 'getOrder' fished 'rpcx call demo:orders getO'
want 0 'id=' fished 'rpcx call demo:orders getOrder i'
want 0 'always' fished 'rpcx call --color alw'
want 0 'certificates/root.pem' fished 'rpcx call --cacert certificates/ro'
want 0 '--notify' fished 'rpcx call demo:orders m --noti'
fished 'rpcx call $(touch evil1) (touch evil2) --noti' >/dev/null
want 0 '' find . -name 'evil*'
ok fish
