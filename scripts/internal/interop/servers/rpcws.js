// A server from rpc-websockets, with methods and an event that a method sends before its response.
'use strict';
const { Server } = require('rpc-websockets');

const server = new Server({ port: 0, host: '127.0.0.1' });
server.register('sum', ([a, b]) => a + b);
server.register('fire', () => { server.emit('tick', 1); server.emit('other', 2); return 'fired'; });
server.register('fails', () => { throw new Error('no'); });
server.event('tick');
server.event('other');
server.on('listening', () => console.log('listening on', server.wss.address().port));
