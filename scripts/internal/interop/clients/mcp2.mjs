// A client of the TypeScript SDK 2 that calls the tools in cases/mcp-clients.sh: node mcp2.mjs auto|legacy|VERSION URL|COMMAND ARGS...
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'interop', version: '2' }, {
  capabilities: { elicitation: {}, sampling: {} },
  versionNegotiation: { mode: mode === 'auto' || mode === 'legacy' ? mode : { pin: mode } },
});
const answers = { 'Your name?': 'Ada', 'Your age?': 36 };
client.setRequestHandler('elicitation/create', async ({ params }) => ({ action: 'accept', content: { v: answers[params.message] } }));
client.setRequestHandler('sampling/createMessage', async () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'sampled' } }));
const show = (value) => console.log(JSON.stringify(value));

const url = /^https?:/.test(command);
await client.connect(url ? new StreamableHTTPClientTransport(new URL(command)) : new StdioClientTransport({ command, args, stderr: 'ignore' }));
show(client.getNegotiatedProtocolVersion());
show((await client.listTools()).tools.map((tool) => tool.name).sort());
show((await client.callTool({ name: 'echo', arguments: { message: 'hé' } })).content[0].text);
const seen = [];
show((await client.callTool({ name: 'long', arguments: {} }, { onprogress: (p) => seen.push(p.progress) })).content[0].text);
show(seen.slice(0, 2));
show((await client.callTool({ name: 'ask', arguments: {} })).structuredContent);
show((await client.callTool({ name: 'sample', arguments: {} })).content[0].text);
show((await client.readResource({ uri: 'test://one' })).contents[0].text);
show(await client.callTool({ name: 'none', arguments: {} }).then((r) => r.isError ?? r, (error) => error.code));
await client.close();
