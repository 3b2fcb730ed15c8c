// A client of Node.js's inspector at the URL in argv, which evaluates code, stops at a debugger statement and takes a profile.
'use strict';
const CDP = require('chrome-remote-interface');

(async () => {
  const c = await CDP({ target: process.argv[2], local: true });
  await Promise.all([c.Runtime.enable(), c.Debugger.enable(), c.Profiler.enable()]);
  await c.Profiler.start();
  const paused = new Promise((done) => c.Debugger.paused(done));
  const value = c.Runtime.evaluate({ expression: 'let x = 41; console.log(x); debugger; x + 1' });
  const { callFrames: [{ callFrameId }] } = await paused;
  console.log('paused', (await c.Debugger.evaluateOnCallFrame({ callFrameId, expression: 'x' })).result.value);
  await c.Debugger.resume();
  console.log('value', (await value).result.value);
  console.log('profile', (await c.Profiler.stop()).profile.nodes.length > 0);
  await c.send('No.such').catch((e) => console.log('refused', e.response.code));
  await c.send('Runtime.evaluate', {}).catch((e) => console.log('refused', e.response.code));
  await c.close();
})().catch((e) => { console.error(e); process.exit(1); });
