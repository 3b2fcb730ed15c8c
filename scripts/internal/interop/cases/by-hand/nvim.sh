#!/usr/bin/env bash
# the lsp dialect: nvim as the client of rpcx serve
. "$INTEROP/lib.sh"
needs nvim

cat >lint.sh <<'SH'
read -r params
rpcx call @ -n textDocument/publishDiagnostics uri="file://$PWD/a.txt" diagnostics:='[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"severity":1,"message":"a hook says no"}]'
SH
echo 'abc def' >a.txt
cat >init.lua <<'LUA'
local id = vim.lsp.start_client({ name = "rpcx", root_dir = vim.fn.getcwd(),
  cmd = { "rpcx", "serve", "lsp+stdio:", "--on", "textDocument/hover=json:{\"contents\":\"42\"}", "--on", "textDocument/didOpen=sh lint.sh", "--on", "say.hello=jq:{said: .}" } })
vim.cmd("edit a.txt")
vim.lsp.buf_attach_client(0, id)
local out = io.open("out", "w")
local function ask(method, params)
  local r = vim.lsp.buf_request_sync(0, method, params, 20000)
  return r and r[id] and vim.json.encode(r[id].result) or vim.inspect(r)
end
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20)
out:write("diagnosed ", #vim.diagnostic.get(0) > 0 and vim.diagnostic.get(0)[1].message or "nothing", "\n")
out:write("hover ", ask("textDocument/hover", vim.lsp.util.make_position_params()), "\n")
out:write("command ", ask("workspace/executeCommand", { command = "say.hello", arguments = { "x" } }), "\n")
local client = vim.lsp.get_client_by_id(id)
client.stop()
out:write("stopped ", tostring(vim.wait(20000, function() return client.is_stopped() end, 20)), "\n")
out:close()
vim.cmd("qa!")
LUA
nvim --headless -u init.lua
want 0 'diagnosed a hook says no
hover {"contents":"42"}
command {"said":["x"]}
stopped true' cat out
ok "capabilities, diagnostics, hover, a command, shutdown"
