package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serve runs a server with the tools that cases/mcp-servers.sh calls: gomcp serve stdio|http. Over HTTP, it prints its URL.
func serve(ctx context.Context, transport string) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "gomcp", Version: "1"}, nil)
	type message struct {
		Message string `json:"message"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Message}}}, nil, nil
	})
	server.AddTool(&mcp.Tool{Name: "twice", InputSchema: map[string]any{"type": "object"}}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ask := func(key, message, state string) *mcp.CallToolResult {
			return &mcp.CallToolResult{RequestState: state, InputRequests: mcp.InputRequestMap{key: &mcp.ElicitParams{
				Message: message, RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{key: map[string]any{"type": "string"}}},
			}}}
		}
		said := func(key string) any {
			if a, ok := r.Params.InputResponses[key].(*mcp.ElicitResult); ok {
				return a.Content[key]
			}
			return nil
		}
		name := r.Params.RequestState
		if said, ok := said("name").(string); ok {
			name = said
		}
		if name == "" {
			return ask("name", "Who?", ""), nil
		}
		city, ok := said("city").(string)
		if !ok {
			return ask("city", "Where?", name), nil
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " in " + city}}}, nil
	})
	if transport == "stdio" {
		return server.Run(ctx, &mcp.StdioTransport{})
	}
	listener := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	defer listener.Close()
	fmt.Fprintf(os.Stdout, "{\"url\":%q}\n", listener.URL)
	select {}
}
