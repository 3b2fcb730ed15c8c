// A client of the TypeScript SDK 1 that calls the tools in cases/mcp-clients.sh: node mcp1.mjs URL
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const client = new Client({ name: 'interop', version: '1' }, { capabilities: { elicitation: {}, sampling: {} } });
const answers = { 'Your name?': 'Ada', 'Your age?': 36 };
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ action: 'accept', content: { v: answers[params.message] } }));
client.setRequestHandler(CreateMessageRequestSchema, async () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } }));
const show = (value) => console.log(JSON.stringify(value));

const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
await client.connect(transport);
show(transport.protocolVersion);
show((await client.listTools()).tools.map((tool) => tool.name).sort());
show((await client.callTool({ name: 'echo', arguments: { message: 'hé' } })).content[0].text);
const seen = [];
show((await client.callTool({ name: 'long', arguments: {} }, undefined, { onprogress: (p) => seen.push(p.progress) })).content[0].text);
show(seen.slice(0, 2));
show((await client.callTool({ name: 'ask', arguments: {} })).structuredContent);
show((await client.callTool({ name: 'sample', arguments: {} })).content[0].text);
show((await client.readResource({ uri: 'test://one' })).contents[0].text);
show(await client.callTool({ name: 'none', arguments: {} }).then((r) => r.isError ?? r, (error) => error.code));
await client.close();
