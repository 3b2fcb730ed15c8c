// An agent that uses the protocol's own SDK. It reads one of the client's files, asks for permission, and can be cancelled.
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

// With the argument broken, its updates belong to another session.
const broken = process.argv[2] === 'broken';
let cancelled = () => {};
let resumed = '';
let announced;
const say = (client, sessionId, text) => client.notify('session/update', {
  sessionId: broken ? 'another' : sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
});
acp.agent()
  .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: { sessionCapabilities: { list: {}, resume: {}, close: {} } } }))
  .onRequest('session/new', ({ client }) => {
    announced = new Promise((done) => setTimeout(done)).then(() => client.notify('session/update', { sessionId: 'one', update: {
      sessionUpdate: 'available_commands_update', availableCommands: [{ name: 'web', description: 'Search the web' }] } }));
    return { sessionId: 'one', modes: { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'code', name: 'Code' }] } };
  })
  .onRequest('session/list', async () => {
    await announced;
    return { sessions: [{ sessionId: 'one', cwd: '/' }] };
  })
  .onRequest('session/resume', ({ params }) => { resumed = params.sessionId; return {}; })
  .onRequest('session/close', () => ({}))
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId } = params;
    await say(client, sessionId, `${resumed && `in ${resumed} `}you said: ${params.prompt[0].text}`);
    if (params.prompt[0].text === 'refuse') return { stopReason: 'refusal' };
    if (params.prompt[0].text === 'be slow') {
      await new Promise((done) => { cancelled = done; });
      return { stopReason: 'cancelled' };
    }
    const { content } = await client.request('fs/read_text_file', { sessionId, path: '/a' });
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'edit', kind: 'edit', status: 'pending' } });
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'plan', entries: [{ content: 'edit', priority: 'high', status: 'completed' }, { content: 'test', priority: 'low', status: 'pending' }] } });
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'usage_update', used: 53000, size: 200000 } });
    const { outcome } = await client.request('session/request_permission', {
      sessionId, toolCall: { toolCallId: 't' }, options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' }],
    });
    await say(client, sessionId, `${content}: ${outcome.outcome} ${outcome.optionId}`);
    return { stopReason: 'end_turn' };
  })
  .onNotification('session/cancel', ({ params }) => { console.error('cancelled', params.sessionId); cancelled(); })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
