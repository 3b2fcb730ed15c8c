// A server of the TypeScript SDK 2: `node mcp2.mjs stdio|http [modern]`. Over HTTP, it prints its URL. With modern, it supports no
// version that has a handshake.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { McpServer, createMcpHandler, acceptedContent, fromJsonSchema, inputRequired } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [transport, only] = process.argv.slice(2);
const object = (properties, required = Object.keys(properties)) => fromJsonSchema({ type: 'object', properties, required });
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });

function factory({ era }) {
  const server = new McpServer({ name: 'mcp2', version: '1' }, { capabilities: { logging: {}, resources: { subscribe: true } } });
  server.registerTool('echo', { description: 'Says it', inputSchema: object({ message: { type: 'string' }, times: { type: 'integer' } }, ['message']) },
    ({ message, times }) => text(`${era}: ${message.repeat(times ?? 1)}`));
  server.registerTool('region', { description: 'Has a header', inputSchema: object({ at: { type: 'string', 'x-mcp-header': 'Region' } }) },
    ({ at }) => text(at));
  server.registerTool('twice', { description: 'Asks twice', inputSchema: object({}) }, (_, ctx) => {
    const answers = ctx.mcpReq.inputResponses;
    const state = ctx.mcpReq.requestState() ?? '';
    const name = acceptedContent(answers, 'name')?.name ?? state;
    if (!name) return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string', default: 'Ada' } } } }) } });
    const city = acceptedContent(answers, 'city')?.city;
    if (!city) return inputRequired({ requestState: name, inputRequests: { city: inputRequired.elicit({ message: 'Where?', requestedSchema: { type: 'object', properties: { city: { type: 'string' } } } }) } });
    return text(`${name} in ${city}`);
  });
  server.registerTool('slow', { description: 'Reports progress', inputSchema: object({}) }, async (_, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    if (progressToken !== undefined) await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2, message: 'half' } });
    await ctx.mcpReq.log('info', 'a line');
    return text('done');
  });
  server.registerTool('forever', { description: 'Ends when it is cancelled', inputSchema: object({}) }, (_, ctx) =>
    new Promise((resolve) => ctx.mcpReq.signal.addEventListener('abort', () => { console.error('cancelled'); resolve(text('')); })));
  server.registerResource('a', 'test://a', { description: 'A text' }, () => ({ contents: [{ uri: 'test://a', text: 'A' }] }));
  return server;
}

const legacy = only === 'modern' ? 'reject' : undefined;
if (transport === 'stdio') {
  serveStdio(factory, legacy ? { legacy } : {});
} else {
  const handler = createMcpHandler(factory, legacy ? { legacy } : {});
  setInterval(() => handler.notify.resourceUpdated('test://a'), 100).unref();
  const http = createServer(async (req, res) => {
    const gone = new AbortController();
    res.on('close', () => gone.abort());
    const body = ['GET', 'HEAD'].includes(req.method) ? undefined : Readable.toWeb(req);
    const answer = await handler.fetch(new Request(`http://${req.headers.host}${req.url}`, { method: req.method, headers: req.headers, body, duplex: 'half', signal: gone.signal }));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body) Readable.fromWeb(answer.body).on('error', () => {}).pipe(res);
    else res.end();
  });
  http.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ url: `http://127.0.0.1:${http.address().port}/mcp` })));
}
