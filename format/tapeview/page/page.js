'use strict';
// The page of a tape. What stands in the element #tape is all that it knows; whatever comes from there goes into the page
// as text, never as markup. Only the rows in sight are elements, so that long tapes scroll as well as short ones.
(() => {
  const tape = JSON.parse(document.getElementById('tape').textContent);
  const rows = tape.rows;
  const $ = (id) => document.getElementById(id);
  const scroll = $('scroll'), canvas = $('canvas'), overview = $('overview');

  // Height of a row, the lifelines' distance from the left and the right, the shift of a nested call, the greatest height.
  const ROW = 34, LEFT = 160, RIGHT = 50, NEST = 9, NESTMOST = 12, TALLEST = 8e6, INSIDE = 8;

  let shown = [];        // the rows that fit the filter
  let tops = [];         // where each of them stands
  let height = 0;
  let picked = -1;       // index in shown
  let placeOf = new Map(); // row number -> index in shown

  const byNumber = new Map(rows.map((row) => [row.n, row]));
  const answerOf = new Map();
  for (const row of rows) if (row.k === 'response' && row.o) answerOf.set(row.o, row);
  const isMessage = (row) => 'd' in row;
  const duration = rows.length ? rows[rows.length - 1].t : 0;

  function element(tag, className, text) {
    const e = document.createElement(tag);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  }

  function shortTime(s) {
    if (s < 0.0009995) return Math.round(s * 1e6) + ' µs';
    if (s < 0.00995) return (s * 1e3).toFixed(1) + ' ms';
    if (s < 0.9995) return Math.round(s * 1e3) + ' ms';
    if (s < 100) return s.toFixed(1) + ' s';
    return Math.floor(s / 60) + ' min ' + Math.round(s % 60) + ' s';
  }

  // ---- What is shown -------------------------------------------------------------------------------------------------

  function matcher() {
    const text = $('text').value;
    $('text').setCustomValidity('');
    if (!text) return null;
    const between = /^\/(.+)\/(i?)$/s.exec(text);
    if (between) {
      try {
        const re = new RegExp(between[1], between[2]);
        return (s) => re.test(s);
      } catch (err) {
        $('text').setCustomValidity(String(err.message));
        return () => false;
      }
    }
    const low = text.toLowerCase();
    return (s) => s.toLowerCase().includes(low);
  }

  // filter chooses the rows. With a call comes its answer, and with an answer its call.
  function filter() {
    const fits = matcher(), method = $('method').value, conn = $('conn').value, errors = $('errors').checked;
    const number = picked >= 0 ? shown[picked].n : 0;
    picked = -1; // it counts the rows that were shown until now
    if (!fits && !method && !conn && !errors) {
      shown = rows;
    } else {
      const chosen = new Set();
      for (const row of rows) {
        if (method && row.m !== method || conn && String(row.c || 0) !== conn || errors && !row.f) continue;
        if (fits && !fits((row.m || '') + '\n' + (row.r || row.x || ''))) continue;
        chosen.add(row.n);
        const pair = row.k === 'call' ? answerOf.get(row.n) : row.k === 'response' && byNumber.get(row.o);
        if (pair) chosen.add(pair.n);
      }
      shown = rows.filter((row) => chosen.has(row.n));
    }
    placeOf = new Map(shown.map((row, i) => [row.n, i]));
    $('none').hidden = shown.length > 0;
    summarize();
    layout();
    const at = placeOf.get(number);
    if (at === undefined) pick(-1); else pick(at, true);
  }

  function summarize() {
    const messages = rows.filter(isMessage).length, failed = rows.filter((row) => row.f).length;
    const parts = [messages + (messages === 1 ? ' message' : ' messages')];
    if (shown !== rows) parts.push(shown.filter(isMessage).length + ' shown');
    parts.push(failed + (failed === 1 ? ' error' : ' errors'), shortTime(duration));
    if (tape.started) parts.push(tape.started);
    if (tape.omitted) parts.push(tape.omitted + ' further rows are not on this page: choose rows with --jq or --grep');
    if (tape.cut) parts.push('cut off inside line ' + tape.cut);
    $('summary').textContent = parts.join(' · ');
  }

  // layout says where each row stands: evenly, or as far from the row before as time has passed, but never on top of it.
  function layout() {
    const scaled = $('scale').checked;
    $('zoom').disabled = !scaled;
    const span = shown.length ? shown[shown.length - 1].t - shown[0].t : 0;
    const most = Math.max(TALLEST - shown.length * ROW, 0);
    const perSecond = scaled && span > 0 ? Math.min(10 ** (1 + $('zoom').value / 25), most / span) : 0;
    tops = new Array(shown.length);
    let top = INSIDE;
    for (let i = 0; i < shown.length; i++) {
      if (i > 0) top += Math.max(ROW, (shown[i].t - shown[i - 1].t) * perSecond);
      tops[i] = top;
    }
    height = shown.length ? top + ROW + INSIDE : 0;
    canvas.style.height = height + 'px';
    bars = works();
    render();
    paint();
  }

  // works are the times in which a side works on a call: from the call to its answer, on the lifeline of who answers.
  let bars = [];
  function works() {
    const all = [];
    for (let i = 0; i < shown.length; i++) {
      const row = shown[i];
      if (row.k !== 'call') continue;
      const answer = answerOf.get(row.n);
      const end = answer && placeOf.get(answer.n);
      if (end === undefined) continue;
      all.push({ top: tops[i] + ROW - 8, bottom: tops[end] + ROW - 4, server: row.d === 'send', depth: Math.min(row.p || 0, NESTMOST) });
    }
    return all;
  }

  // first is the index of the first row that ends below y.
  function first(y) {
    let low = 0, high = tops.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (tops[mid] + ROW < y) low = mid + 1; else high = mid;
    }
    return low;
  }

  function render() {
    const from = scroll.scrollTop, to = from + scroll.clientHeight;
    const parts = [element('div', 'life client'), element('div', 'life server')];
    for (const bar of bars) {
      if (bar.bottom < from || bar.top > to) continue;
      const e = element('div', 'work');
      e.style.top = bar.top + 'px';
      e.style.height = Math.max(bar.bottom - bar.top, 4) + 'px';
      const shift = bar.depth * NEST / 2;
      if (bar.server) e.style.right = RIGHT - 3 + shift + 'px'; else e.style.left = LEFT - 3 + shift + 'px';
      parts.push(e);
    }
    for (let i = Math.max(first(from) - 2, 0); i < shown.length && tops[i] < to + 2 * ROW; i++) parts.push(draw(i));
    canvas.replaceChildren(...parts);
    if (picked >= 0) scroll.setAttribute('aria-activedescendant', 'row-' + shown[picked].n);
    else scroll.removeAttribute('aria-activedescendant');
  }

  function draw(i) {
    const row = shown[i];
    const e = element('div', 'row');
    e.id = 'row-' + row.n;
    e.setAttribute('role', 'option');
    e.setAttribute('aria-selected', String(i === picked));
    e.setAttribute('aria-label', spoken(row));
    e.style.top = tops[i] + 'px';
    if (i === picked) e.classList.add('picked');
    if (row.f) e.classList.add('failed');
    e.append(when(row, i));
    if (!isMessage(row)) {
      e.classList.add('beside', row.k);
      e.append(element('div', 'label', (row.c ? '[' + row.c + '] ' : '') + row.x));
    } else {
      message(e, row);
    }
    e.addEventListener('click', () => { pick(i); show(); scroll.focus({ preventScroll: true }); });
    return e;
  }

  function when(row, i) {
    const e = element('div', 'when', row.t.toFixed(3) + ' s');
    const gap = i > 0 ? row.t - shown[i - 1].t : 0;
    if (gap > 0) {
      e.append('\n');
      e.append(element(gap >= 1 ? 'b' : 'span', '', '+' + shortTime(gap)));
    }
    return e;
  }

  // message draws the arrow of a message, and what it is above it.
  function message(e, row) {
    e.classList.add(row.d === 'send' ? 'sent' : 'came');
    const shift = Math.min(row.p || 0, NESTMOST) * NEST;
    const arrow = element('div', row.k === 'call' || row.k === 'response' ? 'arrow' : 'arrow thin');
    const label = element('div', 'label');
    for (const part of [arrow, label]) {
      part.style.left = LEFT + 6 + shift + 'px';
      part.style.right = RIGHT + 6 + shift + 'px';
    }
    const mark = row.f ? '✗ ' : row.k === 'response' ? '↩ ' : '';
    label.append(element('strong', '', (row.c ? '[' + row.c + '] ' : '') + mark + (row.m || (row.k === 'greeting' ? 'greeting' : ''))));
    if (row.w !== undefined) label.append(element('span', 'body', ' (' + shortTime(row.w) + ')'));
    label.append(element('span', 'body', ' ' + (row.b || row.x || '')));
    e.append(label, arrow);
  }

  function spoken(row) {
    const who = !isMessage(row) ? '' : row.d === 'send' ? 'client: ' : 'server: ';
    return who + row.k + ' ' + (row.m || row.x || '') + (row.f ? ', error' : '') + ', at ' + row.t.toFixed(3) + ' seconds';
  }

  // ---- The strip above: all messages over time, to scale ---------------------------------------------------------------

  function paint() {
    const width = overview.clientWidth, ratio = window.devicePixelRatio || 1, tall = 34, axis = 14;
    overview.width = Math.max(width * ratio, 1);
    overview.height = (tall + axis) * ratio;
    const g = overview.getContext('2d');
    g.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    const x = (t) => 8 + (duration > 0 ? t / duration : 0) * (width - 16);
    if (shown.length) {
      const from = shown[Math.min(first(scroll.scrollTop), shown.length - 1)].t;
      const last = Math.min(first(scroll.scrollTop + scroll.clientHeight), shown.length - 1);
      g.fillStyle = color('--pick');
      g.fillRect(x(from) - 2, 0, Math.max(x(shown[last].t) - x(from) + 4, 4), tall);
    }
    g.fillStyle = color('--line');
    g.fillRect(8, tall / 2, width - 16, 1);
    for (const [name, wanted, top] of [['--sent', (row) => row.d === 'send' && !row.f, 4], ['--came', (row) => row.d === 'recv' && !row.f, tall / 2 + 2], ['--error', (row) => row.f, 4]]) {
      g.fillStyle = color(name);
      for (const row of shown) if (wanted(row)) g.fillRect(x(row.t), row.f && row.d === 'recv' ? tall / 2 + 2 : top, 1.2, tall / 2 - 6);
    }
    g.fillStyle = color('--faint');
    g.font = '10px system-ui, "DejaVu Sans", sans-serif';
    g.fillText('0 s', 8, tall + axis - 4);
    const end = shortTime(duration);
    g.fillText(end, width - 8 - g.measureText(end).width, tall + axis - 4);
  }

  overview.addEventListener('click', (event) => {
    const t = (event.offsetX - 8) / Math.max(overview.clientWidth - 16, 1) * duration;
    let at = shown.findIndex((row) => row.t >= t);
    if (at < 0) at = shown.length - 1;
    if (at >= 0) pick(at);
  });

  // ---- One message -----------------------------------------------------------------------------------------------------

  // pick makes a row the current one; -1: none. quiet: what is in sight stays.
  function pick(i, quiet) {
    picked = Math.min(Math.max(i, -1), shown.length - 1);
    if (picked >= 0 && !quiet) {
      const top = tops[picked], bottom = top + ROW;
      if (top < scroll.scrollTop + ROW) scroll.scrollTop = top - 2 * ROW;
      else if (bottom > scroll.scrollTop + scroll.clientHeight - ROW) scroll.scrollTop = bottom - scroll.clientHeight + 2 * ROW;
    }
    render();
    if (!$('detail').hidden) { if (picked >= 0) show(); else hide(); }
  }

  function hide() {
    $('detail').hidden = true;
    layout();
  }

  function pairOf(row) { return row.k === 'call' ? answerOf.get(row.n) : row.o && byNumber.get(row.o); }

  // show opens the current message.
  function show() {
    if (picked < 0) return;
    const row = shown[picked], opened = $('detail').hidden;
    $('detail').hidden = false;
    $('detail-title').textContent = (row.m || row.k) + (row.f ? ' (error)' : '');
    facts(row);
    const pair = pairOf(row);
    $('pair').hidden = !pair;
    if (pair) $('pair').textContent = row.k === 'call' ? 'Its response' : 'Its call';
    pretty($('body'), row);
    $('body').scrollTop = 0;
    if (opened) { layout(); pick(picked); }
  }

  function facts(row) {
    const list = [['Line', String(row.l)], ['Kind', row.k]];
    if (row.d) list.push(['From', row.d === 'send' ? 'client to server' : 'server to client']);
    list.push(['Time', row.t.toFixed(6) + ' s']);
    if (row.w !== undefined) list.push(['Took', shortTime(row.w)]);
    if (row.i) list.push([row.k === 'item' ? 'Stream' : 'Id', row.i]);
    if (row.c) list.push(['Connection', String(row.c)]);
    for (const [name, value] of row.h || []) list.push([name, value]);
    const parts = [];
    for (const [name, value] of list) parts.push(element('dt', '', name), element('dd', '', value));
    $('facts').replaceChildren(...parts);
  }

  // pretty writes JSON with line breaks and colours. It goes through the text, so that digits and order stay as they came.
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
  const PRETTYMOST = 200000;
  function pretty(into, row) {
    const text = row.r === undefined ? row.x || '' : row.r;
    if (row.r === undefined || !row.j || text.length > PRETTYMOST) {
      into.textContent = text;
      return;
    }
    const parts = document.createDocumentFragment();
    const tokens = text.match(token) || [];
    let depth = 0;
    const line = () => '\n' + '  '.repeat(Math.min(depth, 40));
    for (let i = 0; i < tokens.length; i++) {
      const t = tokens[i], next = tokens[i + 1];
      if (t === '{' || t === '[') {
        if (next === '}' || next === ']') { parts.append(element('span', 'm', t + next)); i++; continue; }
        depth++;
        parts.append(element('span', 'm', t), line());
      } else if (t === '}' || t === ']') {
        depth--;
        parts.append(line(), element('span', 'm', t));
      } else if (t === ',') {
        parts.append(element('span', 'm', t), line());
      } else if (t === ':') {
        parts.append(element('span', 'm', ': '));
      } else {
        parts.append(element('span', t[0] !== '"' ? 'n' : next === ':' ? 'k' : 's', t));
      }
    }
    into.replaceChildren(parts);
  }

  function toPair() {
    const pair = picked >= 0 && pairOf(shown[picked]);
    if (pair && placeOf.has(pair.n)) pick(placeOf.get(pair.n));
  }

  function nextError(step) {
    for (let i = picked + step; i >= 0 && i < shown.length; i += step) if (shown[i].f) return pick(i);
  }

  async function copy() {
    const row = shown[picked], text = row.r === undefined ? row.x || '' : row.r;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // a page from a file may not use the clipboard: select it for the user
      getSelection().selectAllChildren($('body'));
    }
  }

  // ---- Keyboard and controls -------------------------------------------------------------------------------------------

  const page = () => Math.max(Math.floor(scroll.clientHeight / ROW) - 1, 1);
  const zoom = (by) => {
    $('scale').checked = true;
    $('zoom').value = Number($('zoom').value) + by;
    rescale();
  };
  const keys = {
    ArrowDown: () => pick(picked + 1), j: () => pick(picked + 1),
    ArrowUp: () => pick(Math.max(picked - 1, 0)), k: () => pick(Math.max(picked - 1, 0)),
    PageDown: () => pick(picked + page()), PageUp: () => pick(Math.max(picked - page(), 0)),
    Home: () => pick(0), g: () => pick(0), End: () => pick(shown.length - 1), G: () => pick(shown.length - 1),
    Enter: show, a: toPair, e: () => nextError(1), E: () => nextError(-1),
    '/': () => { $('text').focus(); $('text').select(); },
    s: () => { $('scale').checked = !$('scale').checked; rescale(); },
    '+': () => zoom(10), '-': () => zoom(-10), '?': help,
  };

  // rescale keeps the current row, or the first in sight, where it is.
  function rescale() {
    const at = picked >= 0 ? picked : Math.min(first(scroll.scrollTop), shown.length - 1);
    const before = at >= 0 ? tops[at] - scroll.scrollTop : 0;
    layout();
    if (at >= 0) scroll.scrollTop = tops[at] - before;
    render();
  }

  function help() {
    $('help').hidden = !$('help').hidden;
    $('help-button').setAttribute('aria-expanded', String(!$('help').hidden));
    layout();
  }

  function escape() {
    if (!$('help').hidden) return help();
    if (!$('detail').hidden) { hide(); scroll.focus(); return; }
    $('text').value = $('method').value = $('conn').value = '';
    $('errors').checked = false;
    filter();
    scroll.focus();
  }

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') { event.preventDefault(); return escape(); }
    const at = event.target;
    if (at.id === 'text' && (event.key === 'ArrowDown' || event.key === 'Enter')) {
      event.preventDefault();
      scroll.focus();
      return pick(Math.max(picked, 0));
    }
    if (/^(INPUT|SELECT)$/.test(at.tagName) && !(at.type === 'checkbox' && event.key !== ' ')) return;
    if (at.tagName === 'BUTTON' && event.key === 'Enter' || at.id === 'body' && /^(Arrow|Page|Home|End)/.test(event.key)) return;
    const act = keys[event.key];
    if (act) { event.preventDefault(); act(); }
  });

  let wait = 0;
  const soon = () => { clearTimeout(wait); wait = setTimeout(filter, 120); };
  $('text').addEventListener('input', soon);
  for (const id of ['method', 'conn', 'errors']) $(id).addEventListener('change', filter);
  $('scale').addEventListener('change', rescale);
  $('zoom').addEventListener('input', rescale);
  $('filters').addEventListener('submit', (event) => event.preventDefault());
  $('help-button').addEventListener('click', help);
  $('close').addEventListener('click', () => { hide(); scroll.focus(); });
  $('copy').addEventListener('click', copy);
  $('pair').addEventListener('click', toPair);
  let frame = 0;
  scroll.addEventListener('scroll', () => {
    if (!frame) frame = requestAnimationFrame(() => { frame = 0; render(); paint(); });
  });
  addEventListener('resize', () => { render(); paint(); });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', paint);

  // ---- The beginning ---------------------------------------------------------------------------------------------------

  function choices(select, counts) {
    for (const [name, count] of [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))) {
      const option = element('option', '', name + ' (' + count + ')');
      option.value = name;
      select.append(option);
    }
  }

  const methods = new Map(), conns = new Map();
  for (const row of rows) {
    if (row.m) methods.set(row.m, (methods.get(row.m) || 0) + 1);
    conns.set(String(row.c || 0), (conns.get(String(row.c || 0)) || 0) + 1);
  }
  choices($('method'), methods);
  choices($('conn'), conns);
  $('conn').hidden = conns.size < 2;
  $('title').textContent = [tape.dialect, tape.endpoint].filter(Boolean).join(' · ') || 'tape';
  document.title = $('title').textContent + ' · rpcx tape';
  filter();
  scroll.focus();
})();
