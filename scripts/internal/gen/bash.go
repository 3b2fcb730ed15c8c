package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"rpcx/commands/cmdline"
)

// bashHead takes the line apart by itself: no word of it is ever evaluated, no
// program is run. Bash replaces only what follows the last of its word breaks
// (":" and "=" among them), so that much is cut off every candidate.
const bashHead = `# bash completion for rpcx. Made by scripts/gen; do not edit.

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
`

const bashTail = `
complete -F _rpcx rpcx
`

// bashCompletion is completions/rpcx.bash.
func bashCompletion(root cmdline.Doc, vals values) []byte {
	var b bytes.Buffer
	b.WriteString(bashHead)
	fmt.Fprintf(&b, "\n_rpcx_transports=%s\n_rpcx_prefixes=%s\n",
		quoted(strings.Join(transports(), " ")), quoted(strings.Join(prefixes(), " ")))

	b.WriteString("\n# Sets what the command with the path $1 has.\n_rpcx_command() {\n\tcase $1 in\n")
	walk(root, nil, func(path []string, d cmdline.Doc) {
		var subs, flags []string
		for _, s := range d.Commands {
			subs = append(subs, s.Name)
		}
		for _, f := range flagsOf(path, d) {
			flags = append(flags, dashed(f.Names[0]))
		}
		endpoint := ""
		if takesEndpoint(d) {
			endpoint = "yes"
		}
		fmt.Fprintf(&b, "\t%s)\n\t\tsubs=%s endpoint=%s\n\t\tflags=%s\n\t\t;;\n", quoted(strings.Join(path, " ")),
			quoted(strings.Join(subs, " ")), quoted(endpoint), quoted(strings.Join(flags, " ")))
	})
	b.WriteString("\tesac\n}\n")

	b.WriteString("\n# Sets how the value of the flag $1 is completed; nothing when it takes none.\n")
	b.WriteString("_rpcx_value() {\n\tkind='' choices=''\n\tcase $1 in\n")
	for _, row := range byValue(vals) {
		fmt.Fprintf(&b, "\t%s) %s ;;\n", strings.Join(row.flags, " | "), row.value.bash())
	}
	b.WriteString("\tesac\n}\n")
	b.WriteString(bashTail)
	return b.Bytes()
}

func (v value) bash() string {
	switch v.kind {
	case files:
		return "kind=files"
	case dirs:
		return "kind=dirs"
	case words:
		return "kind=words choices=" + quoted(strings.Join(v.words, " "))
	}
	return "kind=anything"
}

// row is a value and the flags that take it.
type row struct {
	value value
	flags []string
}

// byValue gathers the flags that are completed alike, in a settled order.
func byValue(vals values) []row {
	at := map[string]*row{}
	for flag, v := range vals {
		key := fmt.Sprint(v.kind, v.words)
		if at[key] == nil {
			at[key] = &row{value: v}
		}
		at[key].flags = append(at[key].flags, flag)
	}
	var rows []row
	for _, r := range at {
		slices.Sort(r.flags)
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.flags[0], b.flags[0]) })
	return rows
}
