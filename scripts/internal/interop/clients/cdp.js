// A client of the Chrome DevTools Protocol. The browser at the URL in argv is rpcx serve, which lists its targets over HTTP.
'use strict';
const CDP = require('chrome-remote-interface');

(async () => {
  const { hostname, port } = new URL(process.argv[2]);
  const c = await CDP({ host: hostname, port });
  console.log('typed', typeof c.Runtime.evaluate);
  console.log('version', (await c.send('Browser.getVersion')).product);
  const { sessionId } = await c.send('Target.attachToTarget', { targetId: 'p', flatten: true });
  const told = new Promise((done) => c.on(`Runtime.consoleAPICalled.${sessionId}`, done));
  await c.send('Runtime.enable', {}, sessionId);
  console.log('told', JSON.stringify(await told));
  console.log('value', JSON.stringify(await c.send('Runtime.evaluate', { expression: '6*7' }, sessionId)));
  await c.send('No.such', {}, sessionId).catch((e) => console.log('refused', e.response.code));
  await c.close();
})().catch((e) => { console.error(e); process.exit(1); });
