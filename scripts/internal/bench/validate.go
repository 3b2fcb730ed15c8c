package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
)

// orderSchema is the schema of the lines that validateRows check.
const orderSchema = `{"type":"object","required":["id","name","items","total"],"additionalProperties":false,"properties":{
"id":{"type":"integer","minimum":0},"name":{"type":"string","minLength":1},"status":{"enum":["open","paid"]},"total":{"type":"number"},
"items":{"type":"array","items":{"type":"object","required":["sku","n"],"properties":{"sku":{"type":"string","pattern":"^[A-Z]{3}-[0-9]+$"},"n":{"type":"integer","minimum":1}}}}}}`

// ajvChecks counts the lines in a file that match a schema.
const ajvChecks = `
const fs = require("fs"), ajv = require("ajv"), valid = new (ajv.default || ajv)().compile(JSON.parse(fs.readFileSync(process.argv[1])));
let n = 0;
require("readline").createInterface({input: fs.createReadStream(process.argv[2])})
  .on("line", (line) => { if (valid(JSON.parse(line))) n++; })
  .on("close", () => { if (n !== +process.argv[3]) process.exit(1); });`

// validateRows compare checking JSON values in rpcx with ajv in Node.js.
func validateRows() []row {
	return []row{{
		name: "validate-values", what: "`validate FILE --schema SCHEMA`, lines of 250 bytes", unit: cpuPerCall, goal: goal{2, "ajv"},
		n: size{100_000, 20_000}, runs: size{9, 3}, packages: []string{"ajv"},
		clients: func(l *lab, n int) ([]client, error) {
			schema, lines := l.at("order.json"), l.at("orders.ndjson")
			if err := os.WriteFile(schema, []byte(orderSchema), 0o600); err != nil {
				return nil, err
			}
			if err := orders(lines, n); err != nil {
				return nil, err
			}
			wd, err := filepath.Abs(modules)
			if err != nil {
				return nil, err
			}
			return []client{
				{"rpcx", l.rpcx("validate", lines, "--schema", schema)},
				{"ajv", job{args: []string{"node", "-e", ajvChecks, schema, lines, fmt.Sprint(n)}, env: []string{"NODE_PATH=" + wd}}},
			}, nil
		},
	}}
}

// orders writes n lines that match orderSchema.
func orders(file string, n int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range n {
		fmt.Fprintf(w, `{"id":%d,"name":"order number %d of a long list of all orders that a shop has taken in a year","status":"open","total":%d.5,"items":[{"sku":"ABC-%d","n":1},{"sku":"DEF-%d","n":2},{"sku":"GHI-%d","n":3},{"sku":"JKL-%d","n":4}]}`+"\n", i, i, i, i, i, i, i)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
