// Package mcp is the Model Context Protocol: its dialect file, and in Go its tasks, which a dialect file cannot express. A task is a call
// whose response only names the task; the client polls its status and requests its result by that name.
package mcp

import (
	_ "embed"
	"encoding/json"

	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page"
	"rpcx/wire/dialect/page/codec"
)

var (
	//go:embed mcp.toml
	text string
	//go:embed rules.toml
	rules string
)

// Flow returns the flow that dialect files name with flow = "mcp", and its embedded dialect file.
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
	}
}

// The methods of tasks.
const (
	taskGet    = "tasks/get"
	taskResult = "tasks/result"
	taskCancel = "tasks/cancel"
	taskList   = "tasks/list"
	taskStatus = "notifications/tasks/status"
)

// asTask is the Extra of a Call that should become a task.
var asTask = json.RawMessage(`{"task":{}}`)

// isOver reports whether a task with that status is over.
func isOver(status string) bool {
	return status == "completed" || status == "failed" || status == "cancelled"
}
