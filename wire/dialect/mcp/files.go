package mcp

import (
	"strings"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// files returns the files in a response: images, audio and embedded resources in a tool's result or a prompt's messages, and the
// contents of a resource. raw is the whole message.
func files(raw []byte) (files []wire.File) {
	result := scan.Get(raw, "result")
	for part := range scan.Elements(scan.Get(result, "content")) {
		files = withFile(files, part)
	}
	for msg := range scan.Elements(scan.Get(result, "messages")) {
		files = withFile(files, scan.Get(msg, "content"))
	}
	for res := range scan.Elements(scan.Get(result, "contents")) {
		files = withResource(files, res)
	}
	return files
}

// withFile appends the file in part of a result, if any, to files.
func withFile(files []wire.File, part []byte) []wire.File {
	switch kind := scan.String(scan.Get(part, "type")); kind {
	case "image", "audio":
		return append(files, wire.File{Kind: kind, Type: scan.String(scan.Get(part, "mimeType")), Base64: scan.Get(part, "data")})
	case "resource":
		return withResource(files, scan.Get(part, "resource"))
	}
	return files
}

// withResource appends the contents of a resource. Their name is the last segment of the resource's URI.
func withResource(files []wire.File, res []byte) []wire.File {
	uri := scan.String(scan.Get(res, "uri"))
	uri, _, _ = strings.Cut(uri, "?")
	uri, _, _ = strings.Cut(uri, "#")
	f := wire.File{
		Kind: "resource", Name: uri[strings.LastIndexByte(uri, '/')+1:], Type: scan.String(scan.Get(res, "mimeType")),
		Base64: scan.Get(res, "blob"), Text: scan.Get(res, "text"),
	}
	if f.Base64 == nil && f.Text == nil {
		return files
	}
	return append(files, f)
}
