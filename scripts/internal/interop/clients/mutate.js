// Plants defects in a tape: node mutate.js TAPE [POINTER]. For each, it writes KIND.tape, and prints KIND and a pattern for the
// difference that replay has to report. Defects in the server's messages are
//   value    another scalar at POINTER, by default the first in a result
//   missing  an additional message, which the server never sends
//   extra    a missing response, if another message from the server follows
// Defects in the client's messages are
//   asked    another scalar in the params of the last request
//   more     the last request is missing, with its responses
const fs = require('fs');
const [tape, wanted] = process.argv.slice(2);
const lines = fs.readFileSync(tape, 'utf8').trimEnd().split('\n').map((raw, i) => ({ ...JSON.parse(raw), raw, number: i + 1 }));
const typed = lines.some((l) => l.dir === 'recv' && typeof l.msg?.type === 'string'); // the dialect has "type" in place of "method"
// Responses about running jobs are not compared.
const responses = lines.filter((l) => l.dir === 'recv' && l.msg && !l.match && l.msg.state !== 'running' &&
  (typed ? 'id' in l.msg && l.msg.type.endsWith('_result') : 'result' in l.msg));
const named = typed ? 'type' : 'method';

// leaves yields the pointers to all scalars.
function* leaves(value, pointer) {
  if (value && typeof value === 'object') {
    for (const [name, part] of Object.entries(value)) yield* leaves(part, pointer + '/' + name.replace(/~/g, '~0').replace(/\//g, '~1'));
  } else if (value !== null) {
    yield pointer;
  }
}

// changed returns the text of a line with a different scalar at pointer.
function changed(line, pointer) {
  const { raw, number, ...rest } = structuredClone(line);
  const steps = pointer.slice(1).split('/').map((s) => s.replace(/~1/g, '/').replace(/~0/g, '~'));
  const last = steps.pop();
  const parent = steps.reduce((value, step) => value[step], rest.msg);
  const old = parent[last];
  parent[last] = typeof old === 'string' ? old + ' changed' : typeof old === 'number' ? old + 1 : !old;
  return JSON.stringify(rest);
}

// places returns the pointers to the values in a message, except those that one side generates.
const places = (msg, member) => [...leaves(typed ? msg : msg[member], typed ? '' : '/' + member)].filter((p) => !/^\/(type|id|jobId|durationMs)$|^\/params\/_meta|\/duration$/.test(p));

function plant(kind, expected, texts) {
  fs.writeFileSync(kind + '.tape', texts.flat().join('\n') + '\n');
  console.log(kind + ' ' + expected);
}
const raws = lines.map((l) => l.raw);
const without = (gone) => lines.filter((l) => !gone.includes(l)).map((l) => l.raw);

const line = responses.find((l) => places(l.msg, 'result').some((p) => !wanted || p === wanted));
const pointer = places(line.msg, 'result').find((p) => !wanted || p === wanted);
plant('value', `"line":${line.number},"kind":"differs".*"pointer":"${pointer}"`, raws.with(line.number - 1, changed(line, pointer)));

const first = responses[0];
const never = { ...(first.conn && { conn: first.conn }), dir: 'recv', msg: typed ? { type: 'never' } : { jsonrpc: '2.0', method: 'never' } };
plant('missing', `"line":${first.number + 1},"kind":"missing"`, raws.toSpliced(first.number, 0, JSON.stringify(never)));

// The removed message is the last response before another message, or else any message from the server before another.
const beside = (l) => (o) => o.dir === 'recv' && o.msg && o.conn === l.conn && o !== l;
const later = (all) => (l) => all.some((o) => beside(l)(o) && o.number > l.number);
const removed = responses.filter(later(responses)).pop() ?? responses.filter(later(lines)).pop() ?? lines.filter((l) => l.dir === 'recv' && l.msg && later(lines)(l)).pop();
// The difference is reported after the request of that response, or after the server's previous message.
const before = lines.filter((o) => o.msg && o.conn === removed.conn && o.number < removed.number &&
  (responses.includes(removed) ? o.dir === 'send' && JSON.stringify(o.msg.id) === JSON.stringify(removed.msg.id) : o.dir === 'recv')).pop();
plant('extra', (before ? `"line":${before.number},` : '"tape":"extra.tape",') + '"kind":"extra"', without([removed]));

const requests = lines.filter((l) => l.dir === 'send' && l.msg && 'id' in l.msg && l.msg[named] && !/^initialized?$|^job_status$/.test(l.msg[named]));
const told = requests.filter((l) => places(l.msg, 'params').length > 0).pop();
if (told) {
  const at = places(told.msg, 'params')[0];
  plant('asked', `line"?:? ?${told.number}\\b.*${at}\\b`, raws.with(told.number - 1, changed(told, at)));
}
const last = requests.pop();
if (last) {
  const exchange = lines.filter((l) => l.msg && l.conn === last.conn && JSON.stringify(l.msg.id) === JSON.stringify(last.msg.id) && (l === last || l.dir === 'recv' && (typed || !l.msg[named])));
  plant('more', `${last.msg[named].replaceAll('$', '\\$')} is not on the tape|"kind":"extra","method":"${last.msg[named].replaceAll('$', '\\$')}"`, without(exchange));
}
