// A parent that forks `rpcx serve ipc:` as Node.js forks a child of its own, calls it, and answers its calls.
//
//     node ipc-parent.js RPCX ARGS...
'use strict';

const { spawn } = require('child_process');

const [program, ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
const waiting = new Map();
let last = 0;

function call(method, params) {
  const id = ++last;
  child.send({ jsonrpc: '2.0', id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

child.on('message', (message) => {
  if (message.method !== undefined) {
    child.send({ jsonrpc: '2.0', id: message.id, result: 'called ' + message.method + ' with ' + JSON.stringify(message.params) });
    return;
  }
  waiting.get(message.id)(message.error ? message.error.code : message.result);
});

child.on('exit', (code, signal) => console.log('exit', code ?? signal));

(async () => {
  console.log(await call('add', [20, 22]));
  console.log(await call('back', { n: 1 }));
  console.log(await call('no_such', []));
  console.log(JSON.stringify(await Promise.all([1, 2, 3].map((n) => call('add', [n, n])))));
  child.disconnect();
})();
