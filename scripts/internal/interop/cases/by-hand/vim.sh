#!/usr/bin/env bash
# the lsp dialect: Vim with ALE as the client of rpcx serve
. "$INTEROP/lib.sh"
needs vim
ale=${ALE:-/usr/share/vim-ale} # the directory of Debian's package vim-ale
if [[ ! -e $ale/autoload/ale/lsp.vim ]]; then
  echo "$CASE: ALE is not in $ale" >&2
  exit 1
fi

cat >lint.sh <<'SH'
read -r params
rpcx call @ -n textDocument/publishDiagnostics uri="file://$PWD/a.txt" diagnostics:='[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"severity":1,"message":"a hook says no"}]'
SH
printf 'abc def\nghi\njkl\n' >a.txt
cat >vimrc <<VIM
set nocompatible nomore
set runtimepath^=$ale
filetype plugin on
let g:ale_linters_explicit = 1
let g:ale_linters = {'text': ['hooks']}
let g:ale_hover_to_preview = 1
VIM
cat >drive.vim <<'VIM'
function Root(buffer) abort
  return getcwd()
endfunction
call ale#linter#Define('text', {'name': 'hooks', 'lsp': 'stdio', 'executable': 'rpcx', 'project_root': function('Root'),
\ 'command': '%e serve lsp+stdio: --on "textDocument/didOpen=sh lint.sh" --on "textDocument/hover=json:{\"contents\":\"42\"}"'
\   . ' --on "textDocument/definition=jq:{uri: .textDocument.uri, range: {start: {line: 2, character: 1}, end: {line: 2, character: 2}}}"'})
function Until(condition) abort
  let l:tries = 0
  while !eval(a:condition) && l:tries < 400
    sleep 50m
    let l:tries += 1
  endwhile
endfunction
function Found() abort
  return ale#engine#GetLoclist(bufnr('a.txt'))
endfunction
function Say(text) abort
  call writefile([a:text], 'out', 'a')
endfunction
edit a.txt
set filetype=text
call ale#Queue(0)
call Until('!empty(Found())')
call Say('diagnosed ' . get(get(Found(), 0, {}), 'text', 'nothing'))
call cursor(1, 1)
ALEGoToDefinition
call Until("line('.') == 3")
call Say('definition ' . line('.') . ':' . col('.'))
ALEHover
call Until('!empty(getbufline("ALEPreviewWindow", 1))')
call Say('hover ' . join(getbufline('ALEPreviewWindow', 1, '$')))
qa!
VIM
TERM=dumb timeout 120 vim -N -u vimrc -i NONE --not-a-term -S drive.vim </dev/null >screen 2>&1
want 0 'diagnosed a hook says no
definition 3:2
hover 42' cat out
ok "diagnostics, a definition, hover"
