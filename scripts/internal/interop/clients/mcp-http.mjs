// The official client of the Model Context Protocol, with a server over streamable HTTP: node mcp-http.mjs URL
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const client = new Client({ name: 'interop', version: '1' }, { capabilities: { sampling: {} } });
client.setRequestHandler(CreateMessageRequestSchema, async () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } }));
const show = (value) => console.log(JSON.stringify(value));

await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
show((await client.listTools()).tools.map((tool) => tool.name).sort());
show((await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).content);
const seen = [];
show((await client.callTool({ name: 'long-running', arguments: {} }, undefined, { onprogress: (p) => seen.push(p.progress) })).content);
show(seen.slice(0, 2));
show((await client.callTool({ name: 'sample', arguments: {} })).content);
for await (const message of client.experimental.tasks.callToolStream({ name: 'dig', arguments: { deep: 2 } }, undefined, { task: { ttl: 60000 } })) {
  if (message.type !== 'taskStatus') show(message.result?.structuredContent ?? message.task?.status ?? message);
}
await client.close();
