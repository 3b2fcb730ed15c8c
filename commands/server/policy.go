package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/session"
)

// policy adds the member "policy" of the files of --hooks and --catalog to so:
// {"policy":{"allow":[PATTERN…],"deny":[PATTERN…]}}. Peers cannot see it.
func (o *Options) policy(so *session.Options) error {
	files := slices.Clone(o.Hooks.Files)
	if o.Catalog != "" {
		files = append(files, o.Catalog)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			continue
		}
		c, err := catalog.Load(file)
		if err != nil {
			return err
		}
		var p struct{ Allow, Deny []string }
		said := c.TakeExtra("policy")
		if said == nil {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(said))
		dec.DisallowUnknownFields() // a misspelt "allow" would allow everything
		if err := dec.Decode(&p); err != nil {
			return wire.NewFault(wire.Usage, fmt.Sprintf("%s: policy is {\"allow\":[PATTERN…],\"deny\":[PATTERN…]}: %v", file, err), err)
		}
		so.Allow, so.Deny = append(so.Allow, p.Allow...), append(so.Deny, p.Deny...)
	}
	so.Catalog.TakeExtra("policy")
	return nil
}
