package complete

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rpcx/commands/cmdline"
	"rpcx/wire/cache"
	"rpcx/wire/catalog"
	"rpcx/wire/testkit"
)

// bigCatalog describes n methods.
func bigCatalog(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"catalog":1,"methods":[`)
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"mod%d.method%d","description":"does thing %d","params":{"type":"object","properties":{"alpha":{"enum":["one","two","three"]},"beta":{"type":"integer"}}}}`, i%40, i, i)
	}
	return []byte(b.String() + `]}`)
}

// quickest returns the shortest duration of several runs of f.
func quickest(f func()) time.Duration {
	best := time.Hour
	for range 7 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

// TestManyMethods checks that completing one of 2,000 methods takes at most a few times as long as parsing their catalog.
func TestManyMethods(t *testing.T) {
	testkit.RaceSkips(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	big := bigCatalog(2000)
	file := filepath.Join(t.TempDir(), "big.json")
	testkit.OK(t, os.WriteFile(file, big, 0o600))
	c, err := catalog.Parse(big)
	testkit.OK(t, err)
	cache.KeepOutlines("ws://far.example/", "", cache.Outlines(c, cmdline.IsSafeName), catalog.Keep{})
	root := &cmdline.Command{Commands: []*cmdline.Command{{
		Name: "call", Args: "ENDPOINT METHOD [PARAMS...]", Flags: []*cmdline.Flag{{Name: "catalog", Arg: "FILE"}},
	}}}
	plain := quickest(func() {
		var v any
		testkit.OK(t, json.Unmarshal(big, &v))
	})
	for _, tt := range []struct {
		words []string
		want  int
		most  float64 // as a multiple of the time to parse the catalog
	}{
		{[]string{"call", "ws://far.example/", ""}, 40, 3}, // completes the names of modules
		{[]string{"call", "ws://far.example/", "mod3"}, 11, 3},
		{[]string{"call", "ws://far.example/", "mod3."}, 50, 3},
		{[]string{"call", "ws://far.example/", "mod3.method3", "alpha=t"}, 2, 3},
		{[]string{"call", "--catalog", file, "ws://other.example/", "mod3."}, 50, 15},
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out"))
		testkit.OK(t, err)
		took := quickest(func() {
			if _, err := out.Seek(0, 0); err != nil {
				t.Fatal(err)
			}
			testkit.OK(t, Print(out, root, tt.words, nil))
		})
		b, _ := os.ReadFile(out.Name())
		if n := strings.Count(string(b), "\n") - 1; n != tt.want {
			t.Errorf("%v: %d candidates, want %d: %.300s", tt.words, n, tt.want, b)
		}
		if ratio := float64(took) / float64(plain); ratio > tt.most {
			t.Errorf("%v took %v, %.1f times as long as reading the catalog (%v)", tt.words, took, ratio, plain)
		}
		t.Logf("%v: %v; reading the catalog took %v", tt.words, took, plain)
		out.Close()
	}
}
