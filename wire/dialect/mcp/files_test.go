package mcp

import (
	"fmt"
	"strings"
	"testing"
)

// An MCP result can contain these files.
func TestFiles(t *testing.T) {
	for _, c := range []struct{ result, want string }{
		{`{}`, ""},
		{`{"content":[{"type":"text","text":"x"}]}`, ""},
		{`{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio","data":"BB==","mimeType":"audio/wav"}]}`, `image  image/png "AA==" ; audio  audio/wav "BB==" `},
		{`{"content":[{"type":"resource","resource":{"uri":"file:///a/b.txt?q=/1#/f","mimeType":"text/plain","text":"words"}}]}`, `resource b.txt text/plain  "words"`},
		{`{"content":[{"type":"resource","resource":{"uri":"b.bin","blob":"CC=="}}]}`, `resource b.bin  "CC==" `},
		{`{"content":[{"type":"resource","resource":{"uri":"x:/"}}]}`, ""},
		{`{"content":[{"type":"resource_link","uri":"x:/a"}]}`, ""},
		{`{"messages":[{"role":"user","content":{"type":"image","data":"DD==","mimeType":"i/p"}},{"role":"user","content":{"type":"text","text":"x"}}]}`, `image  i/p "DD==" `},
		{`{"contents":[{"uri":"x:/a","text":"t"},{"uri":"x:/b"},{"uri":"x:/c","blob":"EE=="}]}`, `resource a   "t"; resource c  "EE==" `},
	} {
		var got []string
		for _, f := range files([]byte(`{"id":1,"result":` + c.result + `}`)) {
			got = append(got, fmt.Sprintf("%s %s %s %s %s", f.Kind, f.Name, f.Type, f.Base64, f.Text))
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.result, s, c.want)
		}
	}
}
