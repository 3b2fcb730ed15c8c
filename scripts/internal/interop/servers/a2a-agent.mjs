// An agent that uses the protocol's own library, and counts. With the argument cut, its streams end before the task does.
import express from 'express';
import { DefaultRequestHandler, InMemoryTaskStore, AgentEvent } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { A2A_PROTOCOL_VERSION, AGENT_CARD_PATH, TaskState, Role } from '@a2a-js/sdk';
const cut = process.argv[2] === 'cut';
const now = () => new Date().toISOString();
const text = (value) => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' });
const gone = new Set();
const executor = {
  cancelTask: async (id) => { gone.add(id); },
  async execute(ctx, bus) {
    const { taskId, contextId, userMessage: m } = ctx;
    const part = m.parts.find((p) => p.content?.$case === 'text');
    const said = part ? part.content.value.trim() : '';
    const message = (t) => ({ role: Role.ROLE_AGENT, messageId: crypto.randomUUID(), parts: [text(t)], taskId, contextId, extensions: [], metadata: {}, referenceTaskIds: [] });
    if (said === 'hi') { bus.publish(AgentEvent.message({ ...message('hello'), taskId: '' })); return; }
    const status = (state, t) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: { state, message: t ? message(t) : undefined, timestamp: now() }, metadata: {} }));
    const artifact = (id, parts, append, last) => bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact: { artifactId: id, name: id, description: '', parts, metadata: undefined, extensions: [] }, append, lastChunk: last, metadata: undefined }));
    bus.publish(AgentEvent.task(ctx.task ?? { id: taskId, contextId, status: { state: TaskState.TASK_STATE_SUBMITTED, timestamp: now(), message: undefined }, artifacts: [], history: [m], metadata: {} }));
    status(TaskState.TASK_STATE_WORKING, 'counting');
    if (said === 'ask') return status(TaskState.TASK_STATE_INPUT_REQUIRED, 'which one?');
    if (said === 'fail') return status(TaskState.TASK_STATE_FAILED, 'it broke');
    const n = said === 'slow' ? 100 : 3;
    for (let i = 1; i <= n; i++) {
      if (gone.delete(taskId)) return status(TaskState.TASK_STATE_CANCELED);
      artifact('words', [text(`${said} ${i}\n`)], i > 1, i === n);
      await new Promise((r) => setTimeout(r, 50));
    }
    artifact('file', [{ content: { $case: 'raw', value: Buffer.from('PNG') }, metadata: undefined, filename: 'a.png', mediaType: 'image/png' }], false, true);
    if (!cut) status(TaskState.TASK_STATE_COMPLETED);
    else bus.finished();
  },
};
const app = express();
let handler;
const server = app.listen(0, '127.0.0.1', () => {
  const at = `http://127.0.0.1:${server.address().port}`;
  const card = {
    name: 'Counter', description: 'Counts.', supportedInterfaces: [{ url: at + '/rpc', protocolBinding: 'JSONRPC', tenant: '', protocolVersion: A2A_PROTOCOL_VERSION }],
    provider: { organization: 'x', url: 'https://example.com' }, version: '1.2.0',
    capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false }, securitySchemes: {}, securityRequirements: [],
    defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
    skills: [{ id: 'count', name: 'Count', description: 'Counts to three.', tags: ['numbers'], examples: ['a'], inputModes: [], outputModes: [], securityRequirements: [] }],
    documentationUrl: '', signatures: [],
  };
  handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: handler }));
  app.use('/rpc', jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }));
  console.log(at);
});
