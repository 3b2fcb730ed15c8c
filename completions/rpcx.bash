# bash completion for rpcx. Made by scripts/gen; do not edit.

# Splits the line before the cursor into _rpcx_words, quotes taken away. A quote
# that is still open is left in _rpcx_open.
_rpcx_split() {
	local line=$1 word='' quote='' char i inside=no
	_rpcx_words=()
	for ((i = 0; i < ${#line}; i++)); do
		char=${line:i:1}
		case $quote$char in
		[\ $'\t']) if [[ $inside == yes ]]; then _rpcx_words+=("$word"); fi; word='' inside=no ;;
		\'\' | \"\") quote='' ;;
		\' | \") quote=$char inside=yes ;;
		\\ | \"\\) ((++i)); word+=${line:i:1} inside=yes ;;
		*) word+=$char inside=yes ;;
		esac
	done
	_rpcx_words+=("$word")
	_rpcx_open=$quote
}

# Offers those of the words in $1 that begin with $cur.
_rpcx_offer() {
	local word
	for word in $1; do
		if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
	done
}

# Offers file names (or with -d folders) for what of $cur follows $1.
_rpcx_files() {
	local name
	while IFS= read -r name; do
		COMPREPLY+=("$1$name")
	done < <(compgen "${2:--f}" -- "${cur#"$1"}")
	compopt -o filenames -o nospace 2>/dev/null
}

_rpcx_endpoint() {
	local before='' word again=yes
	while [[ $again == yes ]]; do
		again=no
		for word in $_rpcx_prefixes; do
			if [[ $cur == "$word"* ]]; then before+=$word cur=${cur#"$word"} again=yes; fi
		done
	done
	case $cur in
	*unix:*) _rpcx_files "${cur%%unix:*}unix:" ;;
	exec:* | ipc:*) _rpcx_files "${cur%%:*}:" ;;
	*)
		_rpcx_offer "$_rpcx_transports"
		_rpcx_offer "$_rpcx_prefixes"
		compopt -o nospace 2>/dev/null
		;;
	esac
	cur=$before$cur
	COMPREPLY=("${COMPREPLY[@]/#/$before}")
}

_rpcx() {
	local cur flag path='' args=0 i word subs flags endpoint kind choices _rpcx_words _rpcx_open
	COMPREPLY=()
	_rpcx_split "${COMP_LINE:0:COMP_POINT}"
	cur=${_rpcx_words[${#_rpcx_words[@]} - 1]}
	_rpcx_command ''
	for ((i = 1; i < ${#_rpcx_words[@]} - 1; i++)); do
		word=${_rpcx_words[i]} flag=''
		case $word in
		--) args=2; flags='' ; break ;;
		--*=* ) ;;
		-*) _rpcx_value "$word"; if [[ -n $kind ]]; then flag=$word; ((++i)); fi ;;
		*)
			if [[ $args -eq 0 && " $subs " == *" $word "* ]]; then
				path+="${path:+ }$word"
				_rpcx_command "$path"
			else
				((++args))
			fi
			;;
		esac
	done

	if [[ -n $flag && $i -eq ${#_rpcx_words[@]} ]]; then
		_rpcx_value "$flag"
	elif [[ $cur == --*=* ]]; then
		_rpcx_value "${cur%%=*}"
		cur=${cur#*=}
	else
		kind=''
	fi
	case $kind in
	files) _rpcx_files '' ;;
	dirs) _rpcx_files '' -d ;;
	words) _rpcx_offer "$choices" ;;
	'')
		case $cur in
		-*) _rpcx_offer "$flags" ;;
		*)
			if [[ $args -eq 0 && -n $subs ]]; then
				_rpcx_offer "$subs"
			elif [[ $args -eq 0 && -n $endpoint ]]; then
				_rpcx_endpoint
			fi
			;;
		esac
		;;
	esac

	# Inside quotes bash replaces the word whole.
	if [[ -n $_rpcx_open ]]; then return; fi
	local whole=${cur%"${cur##*["$COMP_WORDBREAKS"]}"}
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=${COMPREPLY[i]#"$whole"}
	done
}

_rpcx_transports='ws:// wss:// http:// https:// tcp:// tls:// unix: ws+unix: http+unix: exec: ipc: stdio: demo:hotrepl demo:introspect demo:orders demo:ro demo:scomp demo:scriptling'
_rpcx_prefixes='jsonrpc+ jsonrpc1+ introspect+ scriptling+ ro+ scomp+ hotrepl+ mcp+ netrpc+ ovsdb+ qmp+ rpcws+ line+ header+ nul+ seq+ netstring+ varint+ concat+ accept+ dial+ lsp+'

# Sets what the command with the path $1 has.
_rpcx_command() {
	case $1 in
	'')
		subs='call eval subscribe connect session serve record replay describe validate job plugin help' endpoint=''
		flags='--help --version'
		;;
	'call')
		subs='' endpoint='yes'
		flags='--method --grace --notify --batch --jobs --unordered --raw-request --catalog --no-check --dry-run --params-style --resource --target --target-json --verb --subresource --parent --parent-json --plain --cache --retry --retry-unsafe --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'eval')
		subs='' endpoint='yes'
		flags='--complete --cursor --reset --file --dry-run --retry --retry-unsafe --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'subscribe')
		subs='' endpoint='yes'
		flags='--count --until --for --select --method --since --unsubscribe --grace --every --on-change --catalog --no-check --dry-run --params-style --resource --target --target-json --verb --subresource --parent --parent-json --plain --reconnect --reconnect-for --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'connect')
		subs='' endpoint='yes'
		flags='--catalog --no-check --session --ensure --idle-exit --subscribe --inbox-timeout --inbox-default --reconnect --reconnect-for --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'session')
		subs='list status log close next reply reject' endpoint=''
		flags='--help'
		;;
	'session list')
		subs='' endpoint=''
		flags='--jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --timeout --verbose --errors --color --help'
		;;
	'session status')
		subs='' endpoint=''
		flags='--jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --timeout --verbose --errors --color --help'
		;;
	'session log')
		subs='' endpoint=''
		flags='--jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --timeout --verbose --errors --color --help'
		;;
	'session close')
		subs='' endpoint=''
		flags='--all --timeout --verbose --errors --color --help'
		;;
	'session next')
		subs='' endpoint=''
		flags='--method --for --lease --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --timeout --verbose --errors --color --help'
		;;
	'session reply')
		subs='' endpoint=''
		flags='--timeout --verbose --errors --color --help'
		;;
	'session reject')
		subs='' endpoint=''
		flags='--timeout --verbose --errors --color --help'
		;;
	'serve')
		subs='' endpoint='yes'
		flags='--on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --catalog --runtime --frame --artifacts --allow --deny --max-inflight --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'record')
		subs='' endpoint='yes'
		flags='--to --output --split --redact --on-tape-error --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --verbose --errors --color --help'
		;;
	'replay')
		subs='' endpoint=''
		flags='--listen --to --diff --strict --speed --set --ignore --idle --update --report --jobs --show --format --jq --grep --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --verbose --errors --color --help'
		;;
	'describe')
		subs='' endpoint='yes'
		flags='--json --format --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'validate')
		subs='' endpoint='yes'
		flags='--schema --formats --draft --against --allow --rules --role --runtime --try --trust-hints --catalog --disable --strict --intrusive --report --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'job')
		subs='run start status wait cancel list' endpoint=''
		flags='--help'
		;;
	'job run')
		subs='' endpoint='yes'
		flags='--save --artifact-root --artifact-host --max-artifact --catalog --no-check --dry-run --params-style --resource --target --target-json --verb --subresource --parent --parent-json --plain --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --retry --retry-unsafe --help'
		;;
	'job start')
		subs='' endpoint='yes'
		flags='--catalog --no-check --dry-run --params-style --resource --target --target-json --verb --subresource --parent --parent-json --plain --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --retry --retry-unsafe --help'
		;;
	'job status')
		subs='' endpoint='yes'
		flags='--save --artifact-root --artifact-host --max-artifact --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'job wait')
		subs='' endpoint='yes'
		flags='--save --artifact-root --artifact-host --max-artifact --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'job cancel')
		subs='' endpoint='yes'
		flags='--jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'job list')
		subs='' endpoint='yes'
		flags='--kind --limit --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --dialect --subprotocol --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --refresh --no-cache --token-command --meta --resume --no-environment --shutdown-timeout --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin')
		subs='call new method get set destroy describe run serve' endpoint=''
		flags='--help'
		;;
	'plugin call')
		subs='' endpoint='yes'
		flags='--values --dry-run --log-level --no-environment --strict --shutdown-timeout --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin new')
		subs='' endpoint='yes'
		flags='--values --dry-run --log-level --no-environment --strict --shutdown-timeout --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin method')
		subs='' endpoint='yes'
		flags='--values --dry-run --log-level --no-environment --strict --shutdown-timeout --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin get')
		subs='' endpoint='yes'
		flags='--values --dry-run --log-level --no-environment --strict --shutdown-timeout --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin set')
		subs='' endpoint='yes'
		flags='--values --dry-run --log-level --no-environment --strict --shutdown-timeout --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin destroy')
		subs='' endpoint='yes'
		flags='--values --dry-run --log-level --no-environment --strict --shutdown-timeout --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin describe')
		subs='' endpoint='yes'
		flags='--json --as-catalog --log-level --no-environment --strict --shutdown-timeout --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin run')
		subs='' endpoint='yes'
		flags='--file --log-level --no-environment --strict --shutdown-timeout --jq --raw-output --arg --argjson --template --decode --output --events --raw --null --pretty --compact --expect --expect-any --expect-none --expect-error --expect-count --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --timeout --idle --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'plugin serve')
		subs='' endpoint=''
		flags='--listen --name --lib-version --description --on --hooks --on-open --hook-timeout --hook-jobs --strict-hooks --catalog --frame --artifacts --allow --deny --max-inflight --cacert --cert --key --ping --max-message --allow-origin --token --public --listening --noise --header --insecure --connect-timeout --wait --token-command --record --redact --on-tape-error --verbose --errors --color --help'
		;;
	'help')
		subs='' endpoint=''
		flags='--json --verbose --errors --color --help'
		;;
	esac
}

# Sets how the value of the flag $1 is completed; nothing when it takes none.
_rpcx_value() {
	kind='' choices=''
	case $1 in
	--against | --allow | --allow-origin | --arg | --argjson | --artifact-host | --connect-timeout | --count | --cursor | --decode | --deny | --description | --diff | --disable | --every | --expect | --expect-any | --expect-count | --expect-error | --expect-none | --for | --frame | --grace | --grep | --header | --hook-jobs | --hook-timeout | --idle | --idle-exit | --ignore | --inbox-default | --inbox-timeout | --jobs | --jq | --lease | --lib-version | --limit | --listen | --max-artifact | --max-inflight | --max-message | --meta | --method | --name | --noise | --on | --on-open | --parent | --parent-json | --ping | --raw-request | --reconnect-for | --redact | --resource | --resume | --retry | --runtime | --select | --session | --set | --shutdown-timeout | --since | --speed | --subprotocol | --subresource | --subscribe | --target | --target-json | --timeout | --to | --token-command | --try | --unsubscribe | --until | --verb | --wait | -H | -q) kind=anything ;;
	--artifact-root | --artifacts | --save) kind=dirs ;;
	--cacert | --catalog | --cert | --file | --hooks | --key | --listening | --output | --record | --report | --schema | --template | --token | -f | -o) kind=files ;;
	--color) kind=words choices='auto always never' ;;
	--dialect) kind=words choices='jsonrpc jsonrpc1 introspect scriptling ro scomp hotrepl mcp netrpc ovsdb qmp rpcws' ;;
	--draft) kind=words choices='4 6 7 2019-09 2020-12' ;;
	--errors) kind=words choices='text json' ;;
	--format) kind=words choices='html har catalog openrpc jsonschema' ;;
	--kind) kind=words choices='eval command' ;;
	--log-level) kind=words choices='trace debug info warn error fatal' ;;
	--on-tape-error) kind=words choices='fail continue' ;;
	--params-style) kind=words choices='wrapped object positional' ;;
	--role) kind=words choices='server client' ;;
	esac
}

complete -F _rpcx rpcx
