// An editor that uses the library of VS Code's client. The command in argv starts rpcx serve as the language server.
'use strict';
const { spawn } = require('child_process');
const assert = require('assert');
const lsp = require('vscode-languageserver-protocol/node');

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const c = lsp.createProtocolConnection(new lsp.StreamMessageReader(child.stdout), new lsp.StreamMessageWriter(child.stdin));
const diagnosed = new Promise((done) => c.onNotification(lsp.PublishDiagnosticsNotification.type, done));
const logged = new Promise((done) => c.onNotification(lsp.LogMessageNotification.type, done));
c.onRequest(lsp.ShowMessageRequest.type, (p) => p.actions[0]);
c.listen();

(async () => {
  await assert.rejects(c.sendRequest('textDocument/hover', {}), { code: -32002 });
  const { capabilities, serverInfo } = await c.sendRequest(lsp.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: {} });
  console.log(serverInfo.name, JSON.stringify(capabilities));
  await c.sendNotification(lsp.InitializedNotification.type, {});
  await c.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument: { uri: 'file:///a', languageId: 'text', version: 1, text: 'x' } });
  console.log('diagnosed', (await diagnosed).diagnostics[0].message);
  console.log('hover', (await c.sendRequest(lsp.HoverRequest.type, { textDocument: { uri: 'file:///a' }, position: { line: 0, character: 0 } })).contents);
  const told = [];
  c.onProgress(lsp.WorkDoneProgress.type, 't', (v) => told.push(v.kind + (v.percentage === undefined ? '' : v.percentage)));
  console.log('command', JSON.stringify(await c.sendRequest(lsp.ExecuteCommandRequest.type, { command: 'say.hello', arguments: ['x'], workDoneToken: 't' })), told.join(' '));
  console.log('logged', JSON.stringify(await logged));
  console.log('asked', JSON.stringify(await c.sendRequest(lsp.ExecuteCommandRequest.type, { command: 'ask.me' })));
  const cancel = new lsp.CancellationTokenSource();
  const slow = c.sendRequest(lsp.ExecuteCommandRequest.type, { command: 'be.slow' }, cancel.token);
  cancel.cancel();
  await assert.rejects(slow, { code: lsp.LSPErrorCodes.RequestCancelled });
  await assert.rejects(c.sendRequest('no/such', {}), { code: -32601 });
  await c.sendRequest(lsp.ShutdownRequest.type);
  const ended = new Promise((done) => child.on('exit', done));
  await c.sendNotification(lsp.ExitNotification.type);
  console.log('exit', await ended);
  c.dispose();
})().catch((e) => { console.error(e); process.exit(1); });
