// jayson's clients with rpcx serve as the server: node jayson.js URL [VERSION]
'use strict';

const jayson = require('jayson');
const WebSocket = require('ws');

const url = new URL(process.argv[2]);
const version = Number(process.argv[3] ?? 2);
const at = { host: url.hostname, port: url.port, path: url.pathname, version };

async function client() {
  switch (url.protocol) {
    case 'http:':
      return jayson.Client.http(at);
    case 'tcp:':
      return jayson.Client.tcp({ host: at.host, port: at.port, version });
    default: {
      const ws = new WebSocket(url);
      await new Promise((resolve, reject) => ws.on('open', resolve).on('error', reject));
      return jayson.Client.websocket({ ws, version });
    }
  }
}

const show = (value) => console.log(JSON.stringify(value));

(async () => {
  const peer = await client();
  const request = (...args) => new Promise((resolve, reject) => {
    peer.request(...args, (error, response) => (error ? reject(error) : resolve(response)));
  });
  const bare = ({ id, ...rest }) => rest; // ids are random

  show(bare(await request('add', [20, 22])));
  show(bare(await request('echo', version === 1 ? ['ü€😀'] : { text: 'ü€😀' })));
  show(bare(await request('nothing', [])));
  show((await request('refuse', [])).error);
  show((await Promise.all([1, 2, 3, 4, 5].map((n) => request('add', [n, n])))).map((r) => r.result));
  if (version === 2) {
    const batch = [
      peer.request('add', [1, 2], undefined),
      peer.request('note', { n: 1 }, null),
      peer.request('nothing', [], undefined),
    ];
    show((await request(batch)).map((r) => r.result ?? r.error.code).sort());
    show((await request('note', { n: 2 }, null)) ?? 'nothing came back');
  }
  if (peer.ws) peer.ws.close();
})().catch((error) => {
  console.log('failed', error);
  process.exit(1);
});
