package a2a

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// get answers GetTask.
func (s *served) get(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	t, err := s.find(in.Msg.Params)
	if err != nil {
		return nil, err
	}
	return t.json(limitOf(in.Msg.Params), true), nil
}

// limitOf returns the historyLength of params, or -1 for no limit (section 3.2.4).
func limitOf(params json.RawMessage) int {
	if n, err := strconv.Atoi(string(scan.Get(params, "historyLength"))); err == nil && n >= 0 {
		return n
	}
	return -1
}

// find returns the task that params name, if it belongs to the client.
func (s *served) find(params json.RawMessage) (*task, error) {
	return s.task(scan.String(scan.Get(params, "id")))
}

func (s *served) task(id string) (*task, error) {
	s.agent.mu.Lock()
	defer s.agent.mu.Unlock()
	for _, t := range s.agent.list {
		if t.id == id && t.client == s.client() {
			return t, nil
		}
	}
	return nil, failure(codeNotFound, "TASK_NOT_FOUND", "there is no task "+strconv.Quote(id))
}

// client returns the identity of the client, which owns its tasks.
func (s *served) client() string { return s.conn.Caller.Connection().Identity }

// ListTasks has a default and a maximum number of tasks per page (section 3.1.4).
const (
	defaultPage = 50
	largestPage = 100
)

// list returns a page of the client's tasks, the most recently changed first. The page token is the number of tasks on
// earlier pages.
func (s *served) list(_ context.Context, in *dialect.Inbound) (json.RawMessage, error) {
	p := in.Msg.Params
	size, skip := defaultPage, 0
	var err error
	if val := scan.Get(p, "pageSize"); val != nil {
		if size, err = strconv.Atoi(string(val)); err != nil || size < 1 || size > largestPage {
			return nil, wire.NewError(wire.CodeInvalidParams, "pageSize must be from 1 to 100")
		}
	}
	if token := scan.String(scan.Get(p, "pageToken")); token != "" {
		if skip, err = strconv.Atoi(token); err != nil || skip < 0 {
			return nil, wire.NewError(wire.CodeInvalidParams, "unknown pageToken")
		}
	}
	all := s.matching(p)
	page := all[min(skip, len(all)):min(skip+size, len(all))]
	var tasks scan.Array
	for _, t := range page {
		tasks.Add(t.json(limitOf(p), string(scan.Get(p, "includeArtifacts")) == "true"))
	}
	next := ""
	if skip+len(page) < len(all) {
		next = strconv.Itoa(skip + len(page))
	}
	var o scan.Object
	o.Add("tasks", tasks.End())
	o.Text("nextPageToken", next)
	o.Int("pageSize", int64(size))
	o.Int("totalSize", int64(len(all)))
	return o.End(), nil
}

func (s *served) matching(filter json.RawMessage) []*task {
	context, state := scan.String(scan.Get(filter, "contextId")), scan.String(scan.Get(filter, "status"))
	after := scan.String(scan.Get(filter, "statusTimestampAfter"))
	s.agent.mu.Lock()
	list := slices.Clone(s.agent.list)
	s.agent.mu.Unlock()
	changed := map[*task]string{}
	list = slices.DeleteFunc(list, func(t *task) bool {
		now, at := t.status()
		changed[t] = at
		return t.client != s.client() || context != "" && t.context != context || state != "" && now != state || after != "" && at < after
	})
	slices.SortStableFunc(list, func(a, b *task) int { return strings.Compare(changed[b], changed[a]) })
	return list
}
