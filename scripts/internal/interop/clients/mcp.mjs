// The official client of the Model Context Protocol, with a server that it starts: node mcp.mjs COMMAND ARGS...
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'interop', version: '1' }, { capabilities: { sampling: {} } });
client.setRequestHandler(CreateMessageRequestSchema, async () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } }));
const show = (value) => console.log(JSON.stringify(value));

await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
show(client.getServerVersion().name);
const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name).sort();
show(names);
show((await client.callTool({ name: 'echo', arguments: { message: 'hi' } })).content);
const long = names.find((name) => /long.?running/i.test(name));
const seen = [];
show((await client.callTool({ name: long, arguments: { duration: 1, steps: 3 } }, undefined, { onprogress: (p) => seen.push(p.progress) })).content);
show(seen.slice(0, 2)); // the last one arrives with the result, which the client may handle first
const sample = names.find((name) => /sampl/i.test(name));
if (sample) show((await client.callTool({ name: sample, arguments: { prompt: 'x', maxTokens: 5 } })).content);
if (names.includes('dig')) {
  for await (const message of client.experimental.tasks.callToolStream({ name: 'dig', arguments: { deep: 2 } }, undefined, { task: { ttl: 60000 } })) {
    if (message.type !== 'taskStatus') show(message.result?.structuredContent ?? message.task?.status ?? message);
  }
}
show(await client.callTool({ name: 'none', arguments: {} }).then((r) => r.isError ?? r, (error) => error.code));
await client.close();
