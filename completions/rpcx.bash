# bash completion for rpcx: . <(rpcx completion bash)

# Splits the line before the cursor into _rpcx_words without quotes, and runs no part of it. _rpcx_open gets a quote that
# is still open, _rpcx_kept the part of the last word that bash does not replace: up to the last word break without quotes.
# bash replaces @ with the part after it.
_rpcx_split() {
	local line=$1 word='' quote='' char i inside=no
	_rpcx_words=() _rpcx_kept=''
	for ((i = 0; i < ${#line}; i++)); do
		char=${line:i:1}
		case $quote$char in
		[\ $'\t']) if [[ $inside == yes ]]; then _rpcx_words+=("$word"); fi; word='' inside=no _rpcx_kept='' ;;
		\'\' | \"\") quote='' ;;
		\' | \") quote=$char inside=yes ;;
		\\ | \"\\) ((++i)); word+=${line:i:1} inside=yes ;;
		["$COMP_WORDBREAKS"]) word+=$char inside=yes _rpcx_kept=${word%@} ;;
		*) word+=$char inside=yes ;;
		esac
	done
	_rpcx_words+=("$word")
	_rpcx_open=$quote
}

_rpcx() {
	local cur kind prefix line i name _rpcx_words _rpcx_open _rpcx_kept
	COMPREPLY=()
	_rpcx_split "${COMP_LINE:0:COMP_POINT}"
	cur=${_rpcx_words[${#_rpcx_words[@]} - 1]}
	{
		IFS=' ' read -r kind prefix
		while IFS= read -r line; do COMPREPLY+=("${line%%$'\t'*}"); done
	} < <(command rpcx __complete "${_rpcx_words[@]:1}" 2>/dev/null)
	case $kind in
	:open) compopt -o nospace 2>/dev/null ;;
	:files | :dirs)
		while IFS= read -r name; do
			COMPREPLY+=("$prefix$name")
		done < <(compgen "$([[ $kind == :dirs ]] && echo -d || echo -f)" -- "${cur#"$prefix"}")
		compopt -o filenames 2>/dev/null
		;;
	esac
	if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
	# Inside quotes, bash replaces the whole word; elsewhere, it replaces the part after the last word break.
	if [[ -n $_rpcx_open ]]; then return; fi
	for i in "${!COMPREPLY[@]}"; do
		COMPREPLY[i]=${COMPREPLY[i]#"$_rpcx_kept"}
	done
}

complete -F _rpcx rpcx
