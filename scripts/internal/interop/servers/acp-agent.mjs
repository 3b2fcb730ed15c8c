// An agent, by the protocol's own SDK: it reads a file of the client's, asks for permission, and takes a cancel.
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';

let cancelled = () => {};
const say = (client, sessionId, text) => client.notify('session/update', {
  sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
});
acp.agent()
  .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest('session/new', () => ({ sessionId: 'one' }))
  .onRequest('session/prompt', async ({ params, client }) => {
    const { sessionId } = params;
    await say(client, sessionId, `you said: ${params.prompt[0].text}`);
    if (params.prompt[0].text === 'be slow') {
      await new Promise((done) => { cancelled = done; });
      return { stopReason: 'cancelled' };
    }
    const { content } = await client.request('fs/read_text_file', { sessionId, path: '/a' });
    await client.notify('session/update', { sessionId, update: { sessionUpdate: 'tool_call', toolCallId: 't', title: 'edit', kind: 'edit', status: 'pending' } });
    const { outcome } = await client.request('session/request_permission', {
      sessionId, toolCall: { toolCallId: 't' }, options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }, { optionId: 'no', name: 'No', kind: 'reject_once' }],
    });
    await say(client, sessionId, `${content}: ${outcome.outcome} ${outcome.optionId}`);
    return { stopReason: 'end_turn' };
  })
  .onNotification('session/cancel', ({ params }) => { console.error('cancelled', params.sessionId); cancelled(); })
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
