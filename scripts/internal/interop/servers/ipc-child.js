// A JSON-RPC child over Node.js's own channel: process.on('message') and process.send.
//
// It numbers its requests from 1, as its parent does. Its output on stdout is not part of the conversation.
'use strict';

const waiting = new Map();
let last = 0;

function ask(method, params) {
  const id = ++last;
  process.send({ jsonrpc: '2.0', id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const methods = {
  add: ([a, b]) => a + b,
  echo: (params) => params,
  greet: async ({ name }) => `${await ask('greeting', { hour: 9 })}, ${name}!`,
  order: async (params) => Promise.all([3, 1, 2].map((n) => ask('double', [n]))),
  unanswered: () => ask('no_such_hook', {}).then(() => 'answered', (e) => e),
  quit: (code) => { process.exit(code[0]); },
  sum: (params) => new Promise((resolve) => {
    let total = 0;
    for (const n of params) total += n;
    console.log('summed', params.length, 'numbers');
    resolve(total);
  }),
};

process.on('message', async (message) => {
  if (message.method === undefined) {
    const call = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.error) call.reject(message.error); else call.resolve(message.result);
    return;
  }
  const method = methods[message.method];
  let answer;
  try {
    if (!method) throw { code: -32601, message: 'no method ' + message.method };
    answer = { jsonrpc: '2.0', id: message.id, result: await method(message.params) };
  } catch (error) {
    answer = { jsonrpc: '2.0', id: message.id, error };
  }
  if (message.id !== undefined) process.send(answer);
});

process.on('disconnect', () => { console.error('the parent has gone'); });
