// A minimal server that uses vscode-jsonrpc.
const rpc = require('vscode-jsonrpc/node');
const peer = rpc.createMessageConnection(new rpc.StreamMessageReader(process.stdin), new rpc.StreamMessageWriter(process.stdout));
peer.onRequest('add', (a, b) => a + b);
peer.onClose(() => process.exit(0));
peer.listen();
