// vscode-jsonrpc as the client of a server that it starts or connects to.
//
//     node vscode.js stdio COMMAND ARGS...
//     node vscode.js tcp PORT
'use strict';

const net = require('net');
const { spawn } = require('child_process');
const rpc = require('vscode-jsonrpc/node');

const [how, ...rest] = process.argv.slice(2);
let input, output, child;
if (how === 'tcp') {
  const socket = net.connect(Number(rest[0]), '127.0.0.1');
  [input, output] = [socket, socket];
} else {
  child = spawn(rest[0], rest.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
  [input, output] = [child.stdout, child.stdin];
}

const peer = rpc.createMessageConnection(new rpc.StreamMessageReader(input), new rpc.StreamMessageWriter(output));
const items = [];
let ticked;
const end = new Promise((resolve) => { ticked = resolve; });
peer.onRequest('whoami', (params) => ({ name: 'Ada', asked: params }));
peer.onNotification('ticks', (params) => {
  if (params.done) ticked(); else items.push(params.result);
});
peer.onError(([error]) => console.log('error', error.message));
peer.onClose(() => console.log('closed'));
peer.listen();

const show = (value) => console.log(JSON.stringify(value));

async function converse() {
  show(await peer.sendRequest('add', 20, 22));
  show(await peer.sendRequest('echo', { n: 1.5, text: 'ü€😀' }));
  show(await peer.sendRequest('nothing').catch((error) => error.code));
  show(await peer.sendRequest('refuse').catch((error) => [error.code, error.message, error.data]));

  // Of many concurrent requests that are answered in any order, each gets its own response.
  const sums = await Promise.all([...Array(50).keys()].map((n) => peer.sendRequest('add', n, n)));
  show(sums.every((sum, n) => sum === 2 * n));

  // The server sends a request while one of the client is pending. Both sides number their requests from the same start.
  show(await peer.sendRequest('greet', { hour: 9 }));

  for (const n of [1, 2, 3]) await peer.sendNotification('note', { n });

  show(typeof (await peer.sendRequest('ticks', { n: 3 })));
  await end;
  show(items);

  if (child) {
    child.on('close', (code, signal) => console.log('exit', code ?? signal));
    child.stdin.end();
  } else {
    peer.end();
  }
}

converse().catch((error) => {
  console.log('failed', error);
  process.exit(1);
});
