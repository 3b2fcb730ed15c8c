package prompt

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/commands/env"
	"rpcx/format"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A completer contains the peer's catalog, which the first Tab requests.
type completer struct {
	mu      sync.Mutex
	catalog *catalog.Catalog
	until   time.Time // when Tab requests the catalog again
}

// ask requests the peer's catalog within env.LastMessagesTimeout. It keeps the catalog for as long as the peer allows.
func (p *prompt) ask() {
	ctx, done := context.WithTimeout(p.Deadline.Ctx, env.LastMessagesTimeout)
	defer done()
	p.completer.mu.Lock()
	defer p.completer.mu.Unlock()
	if time.Now().Before(p.completer.until) {
		return
	}
	p.completer.until = catalog.Keep{}.Until()
	cat, err := p.Conv.Describe(ctx)
	if err != nil {
		return
	}
	p.completer.catalog = cat
	p.completer.until = cat.Keep().Until()
}

// known returns the catalog of --catalog, or else the peer's, or nil.
func (p *prompt) known() *catalog.Catalog {
	p.completer.mu.Lock()
	defer p.completer.mu.Unlock()
	return cmp.Or(p.Catalog, p.completer.catalog)
}

// streams reports whether a call to method opens a stream, according to the catalog or because the name ends in
// _subscribe, as for Ethereum.
func (p *prompt) streams(cat *catalog.Catalog, method string) bool {
	if m := cmp.Or(cat, p.known()).Method(method); m != nil {
		return m.Kind == catalog.Stream
	}
	return strings.HasSuffix(method, "_subscribe")
}

// complete handles Tab: it completes the method, or after a method the name of a param. It lists several matches.
func (p *prompt) complete(line string, pos int) (string, int) {
	before := line[:pos]
	start := strings.LastIndexAny(before, " \t") + 1
	word := before[start:]
	if p.rest != "" || strings.HasPrefix(strings.TrimSpace(line), "{") || strings.HasPrefix(strings.TrimSpace(line), "[") {
		return line, pos
	}
	if p.Catalog == nil {
		p.ask()
	}
	cat := p.known()
	if cat == nil {
		return line, pos
	}
	fitting, end := cat.Names(), " "
	if method := strings.Fields(before[:start]); len(method) > 0 {
		fitting, end = nil, "="
		if m := cat.Method(method[0]); m != nil {
			fitting = catalog.Keys(scan.Get(m.Params, "properties"))
		}
	}
	fitting = slices.DeleteFunc(fitting, func(name string) bool { return !strings.HasPrefix(name, word) || !cmdline.IsSafeName(name) })
	if len(fitting) == 0 {
		return line, pos
	}
	slices.Sort(fitting)
	longer := common(fitting)
	switch {
	case len(fitting) == 1:
		longer += end
	case longer == word:
		_, _ = p.screen.Write([]byte(format.Cut(strings.Join(fitting, "  "), 2000) + "\n"))
	}
	return line[:start] + longer + line[pos:], start + len(longer)
}

// common returns the longest common prefix of sorted names.
func common(sorted []string) string {
	first, last := sorted[0], sorted[len(sorted)-1]
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	return first[:n]
}
