// Package mcp implements the Model Context Protocol. It contains the dialect file, and code for tasks, which a dialect file cannot
// express. A task is a call whose response only names the task. With that name, the client polls the status and requests the result.
package mcp

import (
	"context"
	_ "embed"
	"encoding/json"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/mcp/modern"
	"rpcx/wire/dialect/page"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/scan"
)

var (
	//go:embed mcp.toml
	text string
	//go:embed rules.toml
	rules string
)

// Flow returns the flow for dialect files with flow = "mcp", with the embedded dialect file.
func Flow() page.Flow {
	return page.Flow{
		Page:         text,
		Rules:        rules,
		Notification: taskStatus,
		Client:       func(c *codec.Codec) codec.Flow { return &client{c: c} },
		Server:       newServer,
		Rounds:       true,
		Jobs:         &dialect.Jobs{Call: asTask, Bare: true},
		Polls:        []dialect.Poll{{Method: "tasks/get", Job: "/params/taskId", State: "/result/status", Running: []string{"working"}}},
		Files:        &dialect.Files{Embedded: files},
		Unchanged:    servesAll,
	}
}

// Methods for tasks.
const (
	taskGet    = "tasks/get"
	taskResult = "tasks/result"
	taskCancel = "tasks/cancel"
	taskList   = "tasks/list"
	taskStatus = "notifications/tasks/status"
)

// asTask is the Extra of a Call that should become a task.
var asTask = json.RawMessage(`{"task":{}}`)

// isOver reports whether a task with that status has ended.
func isOver(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}

// servesAll reports whether a server supports versions with a handshake and versions without one.
func servesAll(ctx context.Context, open func(context.Context, dialect.Op) (dialect.Stream, error)) bool {
	st, err := open(ctx, dialect.Op{Kind: dialect.Call, Method: "server/discover"})
	if err != nil {
		return false
	}
	defer func() { _ = st.Cancel(ctx) }()
	m, err := st.Next(ctx)
	old, current := false, false
	for version := range scan.Elements(scan.Get(m.Body, "supportedVersions")) {
		if scan.String(version) < modern.Version {
			old = true
		} else {
			current = true
		}
	}
	return err == nil && old && current
}
