package hotrepl

import (
	"slices"
	"sync"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// maxJournal bounds the entries of each kind. A query without a limit returns defaultJournal entries.
const (
	maxJournal     = 1024
	defaultJournal = 100
)

// A journal stores the latest evals and commands.
type journal struct {
	mu      sync.Mutex
	entries []entry // oldest first
}

type entry struct {
	kind    string // eval or command
	id      wire.ID
	name    string
	code    string
	begun   time.Time
	took    time.Duration
	failure string // the kind of the error, or ""
}

// add stores e, which has just ended.
func (j *journal) add(e entry) {
	e.took = time.Since(e.begun)
	e.id = e.id.Clone()
	same := func(o entry) bool { return o.kind == e.kind }
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for _, o := range j.entries {
		if same(o) {
			n++
		}
	}
	if n == maxJournal {
		oldest := slices.IndexFunc(j.entries, same)
		j.entries = slices.Delete(j.entries, oldest, oldest+1)
	}
	j.entries = append(j.entries, e)
}

// newest returns the entries member of a journal_query_result: the last n entries of a kind, or of both kinds if kind
// is "", newest first.
func (j *journal) newest(kind string, n int) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list scan.Array
	for _, e := range slices.Backward(j.entries) {
		if n > 0 && (kind == "" || kind == e.kind) {
			list.Add(e.json())
			n--
		}
	}
	return list.End()
}

func (e entry) json() []byte {
	b := build("").id(e.id).text("kind", e.kind)
	b.o.SomeText("name", e.name)
	if e.kind == "eval" {
		b = b.text("code", e.code)
	}
	b = b.bool("success", e.failure == "").int("durationMs", int(e.took/time.Millisecond))
	b.o.SomeText("errorKind", e.failure)
	return b.text("timestamp", e.begun.UTC().Format("2006-01-02T15:04:05.000Z")).end()
}

// query answers a journal_query.
func (s *server) query(t task) {
	kind, _ := scan.Text(scan.Get(t.msg.Raw, "kind"))
	n := defaultJournal
	if limit := scan.Get(t.msg.Raw, "limit"); scan.Type(limit) == 'n' {
		n = number(limit)
	}
	t.h.send(build(typeJournalResult).id(t.msg.ID).raw("entries", s.journal.newest(kind, n)).end())
}
