#!/usr/bin/env bash
# a tape as an HTML page and as a HAR file, opened in headless Chromium, which rpcx controls through the DevTools protocol
. "$INTEROP/lib.sh"
needs awk node

chromium=
for program in chromium chromium-browser google-chrome; do
  if [[ -z $chromium ]] && type -P "$program" >/dev/null; then chromium=$program; fi
done
needs "${chromium:-chromium}"

# This small tape has hostile text in messages, text, a note, and the entries of the connection.
evil='</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>'
cat >small.tape <<TAPE
{"tape":1,"endpoint":"ws://127.0.0.1:9/$evil","dialect":"jsonrpc","started":"2026-11-22T10:00:00Z"}
{"t":0.001,"open":{"endpoint":"ws://127.0.0.1:9/","from":"$evil"}}
{"t":0.002,"dir":"send","msg":{"jsonrpc":"2.0","id":1,"method":"placeOrder","params":{"item":"$evil","count":12345678901234567890,"password":"hunter2"}}}
{"t":0.004,"dir":"recv","msg":{"jsonrpc":"2.0","id":"c1","method":"confirm","params":{"text":"$evil"}}}
{"t":1.5,"dir":"send","msg":{"jsonrpc":"2.0","id":"c1","result":true}}
{"t":1.52,"dir":"recv","msg":{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"$evil"}}}
{"t":1.6,"dir":"recv","text":"$evil"}
{"note":"$evil"}
{"t":2,"dir":"recv","close":{"code":1000,"reason":"$evil"}}
TAPE
# This long tape has 10,000 messages in 1,000 seconds.
awk 'BEGIN {
  print "{\"tape\":1,\"endpoint\":\"ws://127.0.0.1:9/\",\"dialect\":\"jsonrpc\"}"
  for (i = 0; i < 5000; i++) {
    printf "{\"t\":%.3f,\"dir\":\"send\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{\"id\":\"o_%d\"}}}\n", i * 0.2, i, i % 50 ? "getOrder" : "listOrders", i
    if (i % 100 == 99) printf "{\"t\":%.3f,\"dir\":\"recv\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":-32004,\"message\":\"no such order\"}}}\n", i * 0.2 + 0.05, i
    else printf "{\"t\":%.3f,\"dir\":\"recv\",\"msg\":{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"id\":\"o_%d\",\"total\":9.10}}}\n", i * 0.2 + 0.05, i, i
  }
}' >long.tape
for name in small long; do
  rpcx replay $name.tape --format html >$name.html
done

start 'DevTools listening on ws' "$chromium" --headless --no-sandbox --disable-gpu --hide-scrollbars \
  --user-data-dir="$PWD/profile" --window-size=1280,800 --remote-debugging-port=0 about:blank
browser=${line##* }
host=${browser%/devtools/*}
target=$(rpcx call "jsonrpc1+$browser" Target.getTargets '{}' -r -q '[.targetInfos[] | select(.type == "page")][0].targetId')
tab=jsonrpc1+$host/devtools/page/$target

# show FILE: opens a page, and waits until its script has run.
show() {
  rpcx call "$tab" Page.navigate "url=file://$PWD/$1" >/dev/null
  rpcx call "$tab" Runtime.evaluate awaitPromise:=true expression='new Promise((done) => {
    const look = () => document.getElementById("summary")?.textContent ? done() : setTimeout(look, 20); look(); })' >/dev/null
}

# page EXPRESSION: prints the value of EXPRESSION on the page as JSON, after a short wait.
page() {
  rpcx call "$tab" Runtime.evaluate awaitPromise:=true returnByValue:=true \
    "expression=new Promise((done) => setTimeout(done, 250)).then(() => ($1))" \
    -q 'if .exceptionDetails then .exceptionDetails.exception.description else .result.value end'
}

# press KEY...: presses keys on the page.
press() {
  local key
  for key; do
    rpcx call "$tab" Input.dispatchKeyEvent type=keyDown "key=$key" >/dev/null
    rpcx call "$tab" Input.dispatchKeyEvent type=keyUp "key=$key" >/dev/null
  done
}

# write TEXT: types TEXT into the focused element.
write() { rpcx call "$tab" Input.insertText "text=$1" >/dev/null; }

show small.html
want 0 '[8,false,0,0,0]' page '[document.querySelectorAll(".row").length, "hacked" in window, document.querySelectorAll("img").length,
  document.querySelectorAll("#canvas script").length, performance.getEntriesByType("resource").length]'
want 0 true page 'document.title.includes("</script>") && !document.documentElement.outerHTML.includes("hunter2")'
want 0 '["BLOCKED","BLOCKED"]' page '[(() => { try { return eval("1") } catch { return "BLOCKED" } })(),
  (() => { const s = document.createElement("script"); s.textContent = "window.hacked = 1"; document.body.append(s); return window.hacked ? "RAN" : "BLOCKED" })()]'
ok "a hostile tape is shown as text, and the page's policy blocks other scripts"

press j j Enter
want 0 '["placeOrder",true,"Its response"]' page '[document.getElementById("detail-title").textContent,
  document.getElementById("body").textContent.includes("\"count\": 12345678901234567890"), document.getElementById("pair").textContent]'
press a
want 0 '"placeOrder (error)"' page 'document.getElementById("detail-title").textContent'
press Escape
want 0 true page 'document.getElementById("detail").hidden'
press /
write confirm
want 0 '["confirm","= confirm"]' page '[...document.querySelectorAll(".row strong")].map((e) => e.textContent.replace("↩", "="))'
press Escape
want 0 8 page 'document.querySelectorAll(".row").length'
ok "keys open a message, go from a call to its response, and search"

press s
want 0 true page '(() => { const [first, second] = [...document.querySelectorAll(".row")].map((e) => e.offsetTop); return second - first >= 34; })()'
want 0 true page '(() => { const tops = [...document.querySelectorAll(".row")].map((e) => [parseFloat(e.querySelector(".when").textContent), e.offsetTop]);
  const at = tops.findIndex(([t]) => t === 1.5); return at < 0 || tops[at][1] - tops[at - 1][1] > 10 * 34; })()'
press s
ok "with times to scale, the distance between messages grows with the time between them"

began=$(date +%s%N)
show long.html
took=$((($(date +%s%N) - began) / 1000000))
want 0 true page 'document.getElementById("summary").textContent.startsWith("10000 messages · 50 errors")'
want 0 true page 'document.querySelectorAll(".row").length < 100'
press End
want 0 '["= getOrder",true]' page '(() => { const all = document.querySelectorAll(".row"), last = all[all.length - 1];
  return [last.querySelector("strong").textContent.replace(/[✗↩]/, "="), last.classList.contains("picked")]; })()'
want 0 true page '(() => { const scroll = document.getElementById("scroll"), began = performance.now();
  for (let i = 0; i < 50; i++) { scroll.scrollTop = i * 6000; scroll.dispatchEvent(new Event("scroll")); scroll.offsetHeight; }
  return performance.now() - began < 2000; })()'
press Home E e
want 0 true page 'document.querySelector(".picked").classList.contains("failed")'
want 0 true page '(() => { const select = document.getElementById("method"); select.value = "listOrders"; select.dispatchEvent(new Event("change"));
  return document.getElementById("summary").textContent.includes("· 200 shown ·"); })()'
want 0 true page '(() => { const select = document.getElementById("method"), began = performance.now();
  select.value = ""; document.getElementById("text").value = "/o_4[0-9]{3}/"; select.dispatchEvent(new Event("change"));
  return document.getElementById("summary").textContent.includes("· 2000 shown ·") && performance.now() - began < 2000; })()'
ok "10,000 messages: loaded in $took ms, fewer than 100 as elements, filtered by method and by regular expression"

# In a narrow window, the list scrolls instead of the page, so the head stays visible.
{
  printf '{"id":1,"method":"Emulation.setDeviceMetricsOverride","params":{"width":600,"height":700,"deviceScaleFactor":1,"mobile":false}}\n'
  printf '{"id":2,"method":"Runtime.evaluate","params":{"returnByValue":true,"expression":%s}}\n' \
    "$(node -p 'JSON.stringify(process.argv[1])' 'document.documentElement.scrollHeight <= innerHeight && document.getElementById("scroll").clientHeight < innerHeight')"
} >narrow.in
rpcx connect "$tab" <narrow.in >narrow.out
want 0 true sed -n 's/.*"id":2,.*"value":\(true\|false\).*/\1/p' narrow.out
ok "the header stays visible in a narrow window"

# The contrast between text and background is at least 4.5 in both colour schemes.
contrast='(() => { const lum = (c) => { const [r, g, b] = c.match(/[0-9.]+/g).map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = lum(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll(".row strong, .row .body, .when, #summary, .failed .label")].every((e) => {
    const ink = lum(getComputedStyle(e).color); return (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05) >= 4.5; }); })()'
show small.html
for scheme in light dark; do
  {
    printf '{"id":1,"method":"Emulation.setEmulatedMedia","params":{"features":[{"name":"prefers-color-scheme","value":"%s"}]}}\n' $scheme
    printf '{"id":2,"method":"Runtime.evaluate","params":{"returnByValue":true,"expression":%s}}\n' "$(node -p 'JSON.stringify(process.argv[1])' "$contrast")"
    printf '{"id":3,"method":"Page.captureScreenshot","params":{}}\n'
  } >look.in
  rpcx connect "$tab" <look.in >$scheme.out
  want 0 true sed -n 's/.*"id":2,.*"value":\(true\|false\).*/\1/p' $scheme.out
done
if cmp -s light.out dark.out; then bad=1; fi
ok "text is readable in light and dark mode"

# The network panel in Chromium's developer tools can open the HAR file.
rpcx replay small.tape --format har >small.har
target=$(rpcx call "jsonrpc1+$browser" Target.createTarget url=devtools://devtools/bundled/devtools_app.html -r -q .targetId)
tab=jsonrpc1+$host/devtools/page/$target
want 0 '["opened",1,"GET",101,"websocket",5,true]' page "(async () => {
  for (;;) { // until the panel is there
    try {
      const { NetworkPanel } = await import('devtools://devtools/bundled/panels/network/network.js');
      const { ViewManager } = await import('devtools://devtools/bundled/ui/legacy/legacy.js');
      const { HARFormat, Importer } = await import('devtools://devtools/bundled/models/har/har.js');
      await ViewManager.ViewManager.instance().showView('network');
      const har = $(cat small.har);
      await NetworkPanel.NetworkPanel.instance().networkLogView.onLoadFromFile(new File([JSON.stringify(har)], 'small.har'));
      for (let i = 0; i < 100 && !document.body.innerText.includes('1 requests'); i++) await new Promise((done) => setTimeout(done, 50));
      const all = Importer.Importer.requestsFromHARLog(new HARFormat.HARRoot(har).log), [r] = all;
      return [document.body.innerText.includes('1 requests') ? 'opened' : 'not opened', all.length, r.requestMethod, r.statusCode, r.resourceType().name(),
        r.frames().length, r.frames()[0].text.includes('12345678901234567890')];
    } catch (err) {
      if (performance.now() > 20000) throw err;
      await new Promise((done) => setTimeout(done, 200));
    }
  }
})()"
ok "the network panel opens the HAR file, and shows its WebSocket and messages"
