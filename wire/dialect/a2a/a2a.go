// Package a2a implements the JSON-RPC binding of Agent2Agent 1.0. It contains the dialect file, and code for tasks (which
// are jobs) and for the files in message parts.
package a2a

import (
	_ "embed"

	"rpcx/wire"
	"rpcx/wire/dialect"
	"rpcx/wire/dialect/page"
	"rpcx/wire/dialect/page/codec"
	"rpcx/wire/scan"
)

//go:embed a2a.toml
var text string

// Flow returns the flow for dialect files with flow = "a2a", with the embedded dialect file.
func Flow() page.Flow {
	return page.Flow{
		Page:   text,
		Client: func(c *codec.Codec) codec.Flow { return &client{c: c} },
		Server: newServer,
		Jobs:   &dialect.Jobs{Bare: true, Lasting: true},
		Polls:  []dialect.Poll{{Method: "GetTask", Job: "/params/id", State: "/result/status/state", Running: []string{statePrefix + "SUBMITTED", statePrefix + "WORKING"}}},
		MadeUp: dialect.Places("/params/message/messageId"),
		Files:  &dialect.Files{Embedded: files},
	}
}

// files returns the files in a response: the parts with raw bytes in artifacts and messages (section 4.1.6).
func files(raw []byte) (found []wire.File) {
	result := scan.Get(raw, "result")
	if result == nil { // raw is the task of a job
		result = raw
	}
	for _, at := range []string{"/artifactUpdate/artifact", "/statusUpdate/status/message", "/message", "/task/status/message", "/status/message"} {
		found = withParts(found, scan.At(result, at))
	}
	for _, task := range [][]byte{scan.Get(result, "task"), result} {
		for artifact := range scan.Elements(scan.Get(task, "artifacts")) {
			found = withParts(found, artifact)
		}
	}
	return found
}

// withParts appends the files in a message or an artifact to found.
func withParts(found []wire.File, of []byte) []wire.File {
	for part := range scan.Elements(scan.Get(of, "parts")) {
		if bytes := scan.Get(part, "raw"); bytes != nil {
			found = append(found, wire.File{
				Kind: "part", Name: scan.String(scan.Get(part, "filename")), Type: scan.String(scan.Get(part, "mediaType")), Base64: bytes,
			})
		}
	}
	return found
}
