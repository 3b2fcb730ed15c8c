package introspect

import (
	"testing"

	"rpcx/wire"
	"rpcx/wire/catalog"
	"rpcx/wire/scan"
)

// A client that has read done and unsubscribes before the writer continues ends nothing.
func TestDoneIsTheEnd(t *testing.T) {
	var out *streamWriter
	said := 0
	emit := func(ev wire.Event) error {
		said++
		if out.end() || string(scan.Get(ev.Data, "type")) != `"done"` {
			t.Errorf("%s is not the end", ev.Data)
		}
		return nil
	}
	out = newStreamWriter(newModuleCatalog(&catalog.Catalog{}), "storage_quick", emit, func() {})
	for range 2 {
		if err := out.done(); err != nil {
			t.Error(err)
		}
	}
	if said != 1 {
		t.Errorf("done was said %d times", said)
	}
}
