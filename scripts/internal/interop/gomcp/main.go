// Command gomcp is a client that uses the Go SDK of MCP and calls the tools in cases/mcp-clients.sh: gomcp auto|VERSION URL|COMMAND
// ARGS... It can also be a server (see serve).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	log.SetFlags(0)
	if os.Args[1] == "serve" {
		log.Fatal(serve(context.Background(), os.Args[2]))
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, version, command string, args []string) error {
	var mu sync.Mutex
	seen := []float64{}
	answers := map[string]any{"Your name?": "Ada", "Your age?": 36}
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"v": answers[r.Params.Message]}}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "none", Content: &mcp.TextContent{Text: "sampled"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, r.Params.Progress)
		},
	})
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: command}
	if !strings.HasPrefix(command, "http") {
		transport = &mcp.CommandTransport{Command: exec.Command(command, args...)}
	}
	var o *mcp.ClientSessionOptions
	if version != "auto" {
		o = &mcp.ClientSessionOptions{ProtocolVersion: version}
	}
	s, err := client.Connect(ctx, transport, o)
	if err != nil {
		return err
	}
	defer s.Close()
	show(s.InitializeResult().ProtocolVersion)
	tools, err := s.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	var names []string
	for _, t := range tools.Tools {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	show(names)
	for _, tool := range []string{"echo", "long", "ask", "sample"} {
		p := &mcp.CallToolParams{Name: tool, Arguments: map[string]any{}}
		if tool == "echo" {
			p.Arguments = map[string]any{"message": "hé"}
		}
		if tool == "long" {
			p.SetProgressToken("t")
		}
		r, err := s.CallTool(ctx, p)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", tool, err)
		case tool == "ask":
			show(r.StructuredContent)
		default:
			show(r.Content[0].(*mcp.TextContent).Text)
		}
		if tool == "long" {
			mu.Lock()
			show(seen[:min(len(seen), 2)])
			mu.Unlock()
		}
	}
	r, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://one"})
	if err != nil {
		return err
	}
	show(r.Contents[0].Text)
	_, err = s.CallTool(ctx, &mcp.CallToolParams{Name: "none", Arguments: map[string]any{}})
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		return fmt.Errorf("none: %v", err)
	}
	show(rpc.Code)
	return nil
}

// show prints a value as JSON, with the members of an object in the same order as in the output of the other clients.
func show(v any) {
	if m, ok := v.(map[string]any); ok {
		fmt.Printf("{\"name\":%q,\"age\":%v}\n", m["name"], m["age"])
		return
	}
	b, _ := json.Marshal(v)
	fmt.Println(string(b))
}
