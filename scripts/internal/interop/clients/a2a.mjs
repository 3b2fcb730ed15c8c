// A client from the protocol's own library, which prints the responses of an agent.
import { ClientFactory } from '@a2a-js/sdk/client';
import { Role, TaskState } from '@a2a-js/sdk';
const text = (value) => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' });
const message = (t, more) => ({ messageId: crypto.randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, parts: [text(t)], metadata: undefined, extensions: [], referenceTaskIds: [], ...more });
const request = (t, more, config) => ({ tenant: '', message: message(t, more), configuration: config, metadata: undefined });
const client = await new ClientFactory().createFromUrl(process.argv[2]);
const card = await client.getAgentCard();
console.log('card', card.name, card.capabilities.streaming);
let id;
for await (const ev of client.sendMessageStream(request('hi'))) {
  const p = ev.payload ?? ev;
  console.log('event', p.$case, p.$case === 'task' ? TaskState[p.value.status.state] : p.$case === 'statusUpdate' ? TaskState[p.value.status.state] : JSON.stringify(p.value.artifact.parts.map((x) => x.content.value)));
  id = p.value.taskId ?? p.value.id;
}
const task = await client.getTask({ tenant: '', id, historyLength: undefined });
console.log('get', TaskState[task.status.state], task.artifacts.length, task.history.length);
const sent = await client.sendMessage(request('sum'));
console.log('send', TaskState[(sent.payload?.value ?? sent).status.state]);
const started = await client.sendMessage(request('slow', {}, { acceptedOutputModes: [], taskPushNotificationConfig: undefined, historyLength: undefined, returnImmediately: true }));
const t = started.payload?.value ?? started;
console.log('started', TaskState[t.status.state]);
const cancelled = await client.cancelTask({ tenant: '', id: t.id, metadata: undefined });
console.log('cancel', TaskState[cancelled.status.state]);
await client.getTask({ tenant: '', id: 'nope' }).then(() => console.log('bug'), (e) => console.log('error', e.constructor.name));
await client.resubscribeTask({ tenant: '', id }).next().then(() => console.log('bug'), (e) => console.log('error', /Code: (-\d+)/.exec(e.message)[1]));
const list = await client.listTasks({ tenant: '', contextId: '', status: 0, pageSize: 2, pageToken: '', historyLength: 0, statusTimestampAfter: undefined, includeArtifacts: false });
console.log('list', list.tasks.length, list.totalSize, list.nextPageToken !== '');
