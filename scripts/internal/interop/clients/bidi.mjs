// Puppeteer as a client of WebDriver BiDi, or of the protocol in argv. The browser at the URL in argv is rpcx serve or rpcx record.
import puppeteer from 'puppeteer-core';

const [url, protocol = 'webDriverBiDi'] = process.argv.slice(2);
const browser = await puppeteer.connect({ browserWSEndpoint: url, protocol, defaultViewport: null });
console.log('version', await browser.version());
const [page] = await browser.pages();
console.log('page', page.url());
const told = new Promise((done) => page.on('console', (message) => done(message.text())));
console.log('value', JSON.stringify(await page.evaluate('console.log("hi"), 6*7')));
console.log('console', await told);
await page.evaluate('throws').catch((e) => console.log('thrown', e.message));
await page.setCacheEnabled(false).catch((e) => console.log('refused', /unknown command/.exec(e.message)[0]));
await browser.disconnect();
console.log('left');
