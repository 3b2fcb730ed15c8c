// Adds fs.globSync, which Node.js has from version 22 on. Only a command of the suite needs it that no case runs.
import { register } from 'node:module';
import * as fs from 'node:fs';

if (!('globSync' in fs)) {
  const url = (code) => 'data:text/javascript,' + encodeURIComponent(code);
  const shim = url("export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];");
  register(url(`export const resolve = (name, context, next) =>
    name === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/') ? { url: ${JSON.stringify(shim)}, shortCircuit: true } : next(name, context);`));
}
