// Serves one small file at every path, slowly enough that progress is visible: node files.js [DELAY_MS]
'use strict';

const http = require('http');
const delay = Number(process.argv[2] ?? 0);
const server = http.createServer((request, response) => {
  if (request.url === '/missing') {
    response.writeHead(404).end();
    return;
  }
  setTimeout(() => response.end('hello\n'), delay);
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
