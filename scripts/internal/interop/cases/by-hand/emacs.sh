#!/usr/bin/env bash
# the lsp dialect: Emacs with eglot as the client of rpcx serve
. "$INTEROP/lib.sh"
needs emacs

cat >lint.sh <<'SH'
read -r params
rpcx call @ -n textDocument/publishDiagnostics uri="file://$PWD/a.txt" diagnostics:='[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"severity":1,"message":"a hook says no"}]'
SH
printf 'abc def\nghi\njkl\n' >a.txt
mkdir .git
cat >drive.el <<'EL'
(require 'eglot)
(setq eglot-sync-connect 20 eglot-autoshutdown nil eglot-confirm-server-initiated-edits nil)
(setq make-backup-files nil)
(defun say (format &rest args) (append-to-file (concat (apply #'format format args) "\n") nil "out"))
(defun until (condition)
  (let ((tries 0) found)
    (while (and (not (setq found (funcall condition))) (< tries 400))
      (accept-process-output nil 0.05)
      (setq tries (1+ tries)))
    found))
(add-to-list 'eglot-server-programs
  '(text-mode . ("rpcx" "serve" "lsp+stdio:" "--on" "textDocument/didOpen=sh lint.sh"
    "--on" "textDocument/hover=json:{\"contents\":\"42\"}"
    "--on" "textDocument/definition=jq:{uri: .textDocument.uri, range: {start: {line: 2, character: 1}, end: {line: 2, character: 2}}}"
    "--on" "textDocument/formatting=jq:[{range: {start: {line: 0, character: 0}, end: {line: 0, character: 3}}, newText: \"ABC\"}]"
    "--on" "say.hello=jq:{said: .}")))
(find-file "a.txt")
(text-mode)
(call-interactively #'eglot)
(say "managed %s" (if (eglot-managed-p) "yes" "no"))
(flymake-start)
(say "diagnosed %s" (let ((d (until #'flymake-diagnostics))) (if d (string-trim-left (flymake-diagnostic-text (car d)) "[: ]+") "nothing")))
(let ((server (eglot-current-server)))
  (say "hover %s" (plist-get (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams)) :contents))
  (goto-char (point-min))
  (call-interactively #'xref-find-definitions)
  (say "definition %d:%d" (line-number-at-pos) (current-column))
  (eglot-format-buffer)
  (goto-char (point-min))
  (say "formatted %s" (buffer-substring (point) (line-end-position)))
  (say "command %s" (plist-get (eglot-execute-command server 'say.hello ["x"]) :said))
  (eglot-shutdown server)
  (say "stopped %s" (if (until (lambda () (not (jsonrpc-running-p server)))) "yes" "no")))
(set-buffer-modified-p nil)
(kill-emacs 0)
EL
HOME=$PWD timeout 120 emacs --batch --eval '(package-initialize)' -l drive.el >log 2>&1 </dev/null || { tail -5 log >&2; bad=1; }
want 0 'managed yes
diagnosed a hook says no
hover 42
definition 3:1
formatted ABC def
command [x]
stopped yes' cat out
ok "capabilities, diagnostics, hover, a definition, formatting, a command, shutdown"
