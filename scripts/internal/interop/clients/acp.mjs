// An editor that uses the protocol's own SDK. The command in argv starts rpcx serve as the agent.
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
let updated = () => {};
const editor = acp.client()
  .onNotification('session/update', ({ params }) => { console.log('update', JSON.stringify(params.update)); updated(); })
  .onRequest('session/request_permission', ({ params }) => ({ outcome: { outcome: 'selected', optionId: params.options[0].optionId } }))
  .onRequest('fs/read_text_file', ({ params }) => ({ content: `the text of ${params.path}` }));
await editor.connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)), async (agent) => {
  const { protocolVersion, agentInfo, agentCapabilities } = await agent.request('initialize', { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: { fs: { readTextFile: true } } });
  console.log('agent', protocolVersion, agentInfo.name);
  if (agentCapabilities.sessionCapabilities?.list) {
    console.log('sessions', (await agent.request('session/list', {})).sessions.length);
    await agent.request('session/close', { sessionId: 'old' });
  }
  const { sessionId } = await agent.request('session/new', { cwd: '/', mcpServers: [] });
  const turn = (text) => agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  console.log('stop', (await turn('hello')).stopReason);
  const told = new Promise((done) => { updated = done; });
  const slow = turn('be slow');
  await told;
  await agent.notify('session/cancel', { sessionId });
  console.log('stop', (await slow).stopReason);
});
child.stdin.end();
