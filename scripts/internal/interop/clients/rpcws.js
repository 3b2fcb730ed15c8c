// A client from rpc-websockets. The server at the URL in argv is rpcx serve.
'use strict';
const { Client } = require('rpc-websockets');

const c = new Client(process.argv[2], { reconnect: false });
c.on('open', async () => {
  console.log('sum', await c.call('sum', [3, 4]));
  console.log('named', await c.call('name', { first: 'Ada' }));
  await c.call('nosuch', []).catch((e) => console.log('refused', e.code));
  console.log('methods', (await c.listMethods()).includes('sum'));
  const ticked = new Promise((done) => c.on('tick', (...args) => done(args)));
  await c.subscribe('tick');
  await c.call('fire', []);
  console.log('tick', JSON.stringify(await ticked));
  await c.unsubscribe('tick').then(() => console.log('ended'));
  c.close();
});
