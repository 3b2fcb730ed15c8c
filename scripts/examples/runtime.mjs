#!/usr/bin/env node
// A JavaScript runtime for `rpcx serve --dialect scomp --runtime 'co:node runtime.mjs'`.
//
// A line on stdin is an eval, the response to an invoke from this program, a cancel or a reset. A line on stdout is an invoke, a
// request for the function value of a binding, or the end of an eval. Each session has its own context, which keeps all
// declarations. An undeclared name is a binding, and calling it invokes the binding. node:vm separates the sessions, but does not
// stop malicious code.
import { createInterface } from 'node:readline';
import vm from 'node:vm';

const sessions = new Map(); // session name → context
const evals = new Map(); // id → { calls, cancel }
const realm = vm.runInNewContext('globalThis'); // only JavaScript's own names
const builtins = new Set(Object.getOwnPropertyNames(realm));
const bound = Symbol('binding'); // the binding that a function invokes
const say = (line) => process.stdout.write(JSON.stringify(line) + '\n');

function binding(name, session) {
  const undeclared = () => { throw new ReferenceError(`${name} is not defined`); };
  const call = (input) => invoke(session.running, name, input);
  return Object.assign(call, { [Symbol.toPrimitive]: undeclared, [bound]: name });
}

function invoke(id, name, input) {
  return ask(id, name, (call) => ({ invoke: { call, name, input: input ?? {} } }));
}

// ask sends a line for an eval, with a number that the response repeats.
function ask(id, name, line) {
  const run = evals.get(id);
  if (!run) return Promise.reject(new Error(`${name}: the eval is over`));
  const call = ++run.last;
  say({ id, ...line(call) });
  return new Promise((resolve, reject) => run.calls.set(call, { name, resolve, reject }));
}

// toJSON returns value as JSON, or undefined if there is no value. It replaces each binding in value by a function value, which the
// peer can call. An undeclared name that is not a binding is an error.
async function toJSON(id, value) {
  const names = new Set();
  JSON.stringify(value, (_, v) => { if (v?.[bound]) names.add(v[bound]); return v; });
  const values = new Map();
  for (const name of names) {
    values.set(name, await ask(id, name, (call) => ({ function: { call, name } })).catch(() => {
      throw new ReferenceError(`${name} is not defined`);
    }));
  }
  return JSON.stringify(value, (_, v) => (v?.[bound] ? values.get(v[bound]) : v));
}

function session(name) {
  if (!sessions.has(name)) {
    const s = { running: 0, log: (...all) => console.error(...all) };
    const own = Object.assign(Object.create(null), { console: { log: s.log, error: s.log, warn: s.log, info: s.log } });
    s.context = vm.createContext(new Proxy(own, {
      has: (_, key) => typeof key === 'string',
      get: (o, key) => {
        if (key in o || typeof key === 'symbol') return o[key];
        return builtins.has(key) ? realm[key] : binding(key, s);
      },
    }));
    sessions.set(name, s);
  }
  return sessions.get(name);
}

// compile makes a script from code. Code with await becomes an async function that returns the last expression.
function compile(code) {
  try {
    return new vm.Script(code, { filename: 'eval' });
  } catch (failed) {
    if (!/\bawait\b/.test(code)) throw failed;
    const text = code.replace(/[;\s]+$/, '');
    for (let i = 0; i <= text.length; i++) {
      if (i > 0 && !';}\n'.includes(text[i - 1])) continue;
      try {
        return new vm.Script(`(async () => { ${text.slice(0, i)}; return (${text.slice(i)}\n) })()`, { filename: 'eval' });
      } catch { /* the last expression does not begin here */ }
    }
    return new vm.Script(`(async () => { ${text} })()`, { filename: 'eval' });
  }
}

// compiled is like compile, but its errors report that no code was run.
function compiled(code) {
  try {
    return compile(code);
  } catch (failed) {
    throw Object.assign(failed, { compile: true });
  }
}

async function evaluate({ id, eval: code, session: name }) {
  const s = session(name);
  const cancelled = new Promise((_, cancel) => evals.set(id, { last: 0, calls: new Map(), cancel }));
  s.running = id;
  try {
    const value = await Promise.race([compiled(code).runInContext(s.context), cancelled]);
    const json = await toJSON(id, value); // undefined for code without a value
    say(json === undefined ? { id } : { id, value: JSON.parse(json) });
  } catch (e) {
    const stack = String(e?.stack ?? '').split('\n').filter((line) => /^\s+at .*\beval:/.test(line));
    const message = e?.name && !e.kind ? `${e.name}: ${e.message}` : e?.message ?? String(e);
    say({ id, error: { kind: e?.kind ?? 'EvalError', message, stack: stack.join('\n'), compile: e?.compile } });
  }
  evals.delete(id);
}

function answered({ id, call, value, error }) {
  const waiting = evals.get(id)?.calls.get(call);
  evals.get(id)?.calls.delete(call);
  if (error) waiting?.reject(Object.assign(new Error(`${waiting.name}: ${error.message}`), { name: 'InvokeError', kind: 'InvokeError', code: error.code, data: error.data }));
  else waiting?.resolve(value);
}

for await (const line of createInterface({ input: process.stdin })) {
  const m = JSON.parse(line);
  if (m.eval !== undefined) evaluate(m);
  else if (m.call !== undefined) answered(m);
  else if (m.cancel) evals.get(m.id)?.cancel(new Error('cancelled'));
  else if (m.reset) sessions.delete(m.session);
}
