// Command linked is linked with rpcx's four libraries but does not use them, which shows their part in rpcx's start-up cost.
package main

import (
	"context"
	"os"

	"github.com/coder/websocket"
	"github.com/itchyny/gojq"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/urfave/cli/v3"
)

func main() {
	if len(os.Args) > 9 { // never true, but keeps the linker from removing the libraries
		use()
	}
	_, _ = os.Stdout.WriteString("linked\n")
}

func use() {
	ctx := context.Background()
	_ = (&cli.Command{}).Run(ctx, os.Args)
	if q, err := gojq.Parse(os.Args[1]); err == nil {
		if c, err := gojq.Compile(q); err == nil {
			c.Run(nil)
		}
	}
	if s, err := jsonschema.NewCompiler().Compile(os.Args[1]); err == nil {
		_ = s.Validate(nil)
	}
	if c, _, err := websocket.Dial(ctx, os.Args[1], nil); err == nil {
		_, _, _ = c.Read(ctx)
	}
}
