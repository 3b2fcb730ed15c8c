// A jayson server on http, tcp, tls and ws at the same time, each on a free port of the loopback interface.
//
//     node jayson.js CERT KEY
//
// When all are listening, it prints one line: {"http":PORT,"tcp":PORT,"tls":PORT,"ws":PORT,"v1":PORT}. v1 is a tcp server for
// JSON-RPC 1.0.
'use strict';

const fs = require('fs');
const http = require('http');
const jayson = require('jayson');

const [cert, key] = process.argv.slice(2);
let noted = 0;

const methods = {
  add: ([a, b], done) => done(null, a + b),
  echo: (params, done) => done(null, params === undefined ? null : params),
  big: ([n], done) => done(null, 'x'.repeat(n)),
  slow: ([ms], done) => setTimeout(() => done(null, 'after ' + ms), ms),
  fail: (params, done) => done({ code: 4711, message: 'no such order', data: { id: 'o_9' } }),
  note: (params, done) => { noted++; done(null, null); },
  noted: (params, done) => done(null, noted),
};

const two = new jayson.Server(methods);
const one = new jayson.Server(methods, { version: 1 });

const carrier = http.createServer();
two.websocket({ server: carrier });

const servers = {
  http: two.http(),
  tcp: two.tcp(),
  tls: two.tls({ cert: fs.readFileSync(cert), key: fs.readFileSync(key) }),
  ws: carrier,
  v1: one.tcp(),
};

const ports = {};
for (const [name, server] of Object.entries(servers)) {
  server.listen(0, '127.0.0.1', () => {
    ports[name] = server.address().port;
    if (Object.keys(ports).length === Object.keys(servers).length) {
      console.log(JSON.stringify(ports));
    }
  });
}
