// VS Code's own test client for debug adapters. The adapter at the port in argv is rpcx serve.
'use strict';
const assert = require('assert');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

const c = new DebugClient('node', '', 'rpcx');
(async () => {
  await c.start(Number(process.argv[2]));
  const ready = c.waitForEvent('initialized');
  const { body } = await c.initializeRequest();
  console.log('capabilities', JSON.stringify(body));
  await ready;
  await c.setBreakpointsRequest({ source: { path: '/a' }, breakpoints: [{ line: 3 }] });
  const launched = c.launchRequest({ program: '/a' });
  await c.configurationDoneRequest();
  await launched;
  const stopped = await c.waitForEvent('stopped');
  console.log('stopped', stopped.body.reason);
  console.log('threads', (await c.threadsRequest()).body.threads[0].name);
  console.log('value', (await c.evaluateRequest({ expression: 'x' })).body.result);
  await assert.rejects(c.customRequest('fails'), /not today/);
  await c.disconnectRequest();
  console.log('left');
  process.exit(0);
})().catch((e) => { console.error(e); process.exit(1); });
