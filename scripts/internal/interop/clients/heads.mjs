// A client of an Ethereum node, with rpcx serve as the node: node heads.mjs ethers|web3 URL
// It receives three new heads and then unsubscribes.
import { writeFileSync } from 'node:fs';
import { WebSocketProvider } from 'ethers';
import { Web3 } from 'web3';

const [, , who, url] = process.argv;
const say = (what) => console.log(JSON.stringify([who, what]));

// three waits for the first three values that subscribe passes to its callback.
const three = (subscribe) =>
  new Promise((resolve, reject) => {
    const seen = [];
    subscribe((value) => {
      if (seen.push(value) === 3) {
        say(seen);
        resolve();
      }
    }).catch(reject);
  });

if (who === 'ethers') {
  const node = new WebSocketProvider(url);
  say(await node.getBlockNumber());
  await three((value) => node.on('block', value));
  await node.removeAllListeners();
  // ethers unsubscribes a moment later, and fails if it is destroyed before the response arrives.
  for (let i = 0; i < 5; i++) await node.send('eth_chainId', []);
  say('unsubscribed');
  await node.destroy();
} else {
  const node = new Web3(url);
  let heads;
  await three(async (value) => {
    heads = node.eth.subscribe('newHeads');
    (await heads).on('data', (head) => value(Number(head.number)));
    writeFileSync('listens', '');
  });
  await (await heads).unsubscribe();
  say('unsubscribed');
  node.provider.disconnect();
}
