// Changes a tape in one place: node mutate.js value|missing|extra TAPE OUT [POINTER]. Prints what replay has to report.
// value changes the scalar at POINTER (else the first of a result) in what the server sent; missing adds a message that the
// server never sends; extra removes a response, but not the last of its connection.
const fs = require('fs');
const [kind, tape, out, wanted] = process.argv.slice(2);
const lines = fs.readFileSync(tape, 'utf8').trimEnd().split('\n').map((raw, i) => ({ ...JSON.parse(raw), raw, number: i + 1 }));
const typed = lines.some((l) => l.dir === 'recv' && typeof l.msg?.type === 'string'); // a dialect with "type" in place of "method"
// Responses about running jobs are not compared.
const responses = lines.filter((l) => l.dir === 'recv' && l.msg && !l.match && l.msg.state !== 'running' &&
  (typed ? 'id' in l.msg && l.msg.type.endsWith('_result') : 'result' in l.msg));

// leaves yields the pointers to scalars.
function* leaves(value, pointer) {
  if (value && typeof value === 'object') {
    for (const [name, part] of Object.entries(value)) yield* leaves(part, pointer + '/' + name.replace(/~/g, '~0').replace(/\//g, '~1'));
  } else if (value !== null) {
    yield pointer;
  }
}

function change(line, pointer) {
  const msg = line.msg;
  const steps = pointer.slice(1).split('/').map((s) => s.replace(/~1/g, '/').replace(/~0/g, '~'));
  const last = steps.pop();
  const parent = steps.reduce((value, step) => value[step], msg);
  const old = parent[last];
  parent[last] = typeof old === 'string' ? old + ' changed' : typeof old === 'number' ? old + 1 : !old;
  const { raw, number, ...rest } = line;
  line.raw = JSON.stringify(rest);
}

let expected;
if (kind === 'value') {
  for (const line of responses) {
    const all = typed ? [...leaves(line.msg, '')].filter((p) => !['/type', '/id', '/durationMs'].includes(p)) : [...leaves(line.msg.result, '/result')];
    const pointer = all.find((p) => !wanted || p === wanted);
    if (pointer === undefined) continue;
    change(line, pointer);
    expected = `"line":${line.number},"kind":"differs".*"pointer":"${pointer}"`;
    break;
  }
} else if (kind === 'missing') {
  const at = responses[0].number;
  const conn = responses[0].conn ? `"conn":${responses[0].conn},` : '';
  lines.splice(at, 0, { raw: `{${conn}"dir":"recv","msg":${typed ? '{"type":"never"}' : '{"jsonrpc":"2.0","method":"never"}'}}` });
  expected = `"line":${at + 1},"kind":"missing"`;
} else {
  // The last response that another message of the server follows; without one, any message of the server that one follows.
  const later = (l) => lines.some((o) => o.dir === 'recv' && o.number > l.number && o.conn === l.conn);
  const removed = responses.filter((r) => responses.some((o) => o.number > r.number && o.conn === r.conn)).pop() ??
    responses.filter(later).pop() ?? lines.filter((l) => l.dir === 'recv' && l.msg && later(l)).pop();
  lines.splice(removed.number - 1, 1);
  expected = '"kind":"extra"';
}
fs.writeFileSync(out, lines.map((l) => l.raw).join('\n') + '\n');
console.log(expected);
