#!/usr/bin/env node
// A browser with cookies. It visits a page, follows redirects, and fills in and submits all forms.
//
//     browser.mjs URL [NAME=VALUE...]
let [at, ...fields] = process.argv.slice(2);
const jar = new Map();
let request = {};
for (let steps = 0; steps < 30; steps++) {
  const url = new URL(at);
  const cookies = [...(jar.get(url.host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  const resp = await fetch(url, { redirect: 'manual', ...request, headers: { ...request.headers, ...(cookies && { cookie: cookies }) } });
  for (const line of resp.headers.getSetCookie()) {
    const [name, value] = line.split(';', 1)[0].split(/=(.*)/s);
    if (!jar.has(url.host)) jar.set(url.host, new Map());
    jar.get(url.host).set(name, value);
  }
  request = {};
  const to = resp.headers.get('location');
  const body = await resp.text();
  const form = /<form[^>]*action="([^"]*)"[\s\S]*?<\/form>/.exec(body);
  if (to) {
    at = new URL(to, url).href;
  } else if (form && resp.ok) {
    const values = new URLSearchParams(fields.map((f) => f.split(/=(.*)/s).slice(0, 2)));
    for (const [input] of form[0].matchAll(/<input[^>]*>/g)) {
      const name = /name="([^"]*)"/.exec(input)?.[1];
      if (name && !values.has(name)) values.set(name, /value="([^"]*)"/.exec(input)?.[1] ?? '');
    }
    at = new URL(form[1], url).href;
    request = { method: 'POST', body: values, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
  } else {
    if (!resp.ok) console.error(`browser: ${resp.status} at ${url.origin}${url.pathname}: ${body.slice(0, 500)}`);
    process.exit(resp.ok ? 0 : 1);
  }
}
console.error('browser: too many steps');
process.exit(1);
