# fish completion for rpcx: rpcx completion fish | source

function __rpcx_complete
	# The words as fish has split them, without expansion. The last one ends at the cursor.
	set -l words (commandline -opc)
	set -l cur (commandline -ct)
	set -l lines (command rpcx __complete $words[2..-1] "$cur" 2>/dev/null)
	set -l head (string split -m 1 ' ' -- $lines[1])
	printf '%s\n' $lines[2..-1]
	switch $head[1]
		case ':files'
			for file in (__fish_complete_path (string replace -- "$head[2]" '' "$cur"))
				printf '%s%s\n' $head[2] $file
			end
		case ':dirs'
			for file in (__fish_complete_directories (string replace -- "$head[2]" '' "$cur"))
				printf '%s%s\n' $head[2] $file
			end
	end
end

complete -c rpcx -f -a '(__rpcx_complete)'
