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
	last    int
	entries map[string][]entry // by kind, oldest first
}

type entry struct {
	number int // the position in the order in which evals and commands ended
	id     wire.ID
	name   string
	code   string
	begun  time.Time
	took   time.Duration
	ok     bool
	kind   string // the kind of the error, or ""
}

// add stores e, which has just ended. kind is eval or command.
func (j *journal) add(kind string, e entry) {
	e.took = time.Since(e.begun)
	e.id = e.id.Clone()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.entries == nil {
		j.entries = map[string][]entry{}
	}
	j.last++
	e.number = j.last
	list := append(j.entries[kind], e)
	if len(list) > maxJournal {
		list = list[1:]
	}
	j.entries[kind] = list
}

// newest returns the entries member of a journal_query_result: the last n entries of a kind, or of both kinds if kind
// is "", newest first.
func (j *journal) newest(kind string, n int) []byte {
	type kept struct {
		entry
		of string
	}
	var all []kept
	j.mu.Lock()
	for of, list := range j.entries {
		if kind == "" || kind == of {
			all = append(all, wire.Map(list, func(e entry) kept { return kept{e, of} })...)
		}
	}
	j.mu.Unlock()
	slices.SortFunc(all, func(a, b kept) int { return b.number - a.number })
	var list scan.Array
	for _, e := range all[:min(n, len(all))] {
		list.Add(e.json(e.of))
	}
	return list.End()
}

func (e entry) json(kind string) []byte {
	b := build("").id(e.id).text("kind", kind)
	b.o.SomeText("name", e.name)
	if kind == "eval" {
		b = b.text("code", e.code)
	}
	b = b.bool("success", e.ok).int("durationMs", int(e.took/time.Millisecond))
	b.o.SomeText("errorKind", e.kind)
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
