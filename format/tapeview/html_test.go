package tapeview

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"rpcx/wire/tape"
	"rpcx/wire/testkit"
)

func html(t *testing.T, r *tape.Reader) string {
	t.Helper()
	var b strings.Builder
	testkit.OK(t, HTML(context.Background(), &b, r, Options{}))
	return b.String()
}

// dataOf returns the data in the page.
func dataOf(t *testing.T, page string) string {
	t.Helper()
	_, after, ok := strings.Cut(page, `<script type="application/json" id="tape">`)
	data, _, closed := strings.Cut(after, "</script>")
	if !ok || !closed {
		t.Fatal("the page has no data")
	}
	return data
}

func TestHTMLContainsTheTape(t *testing.T) {
	var doc struct {
		pageHead
		Rows []pageRow
	}
	data := dataOf(t, html(t, open(t, "orders.tape")))
	testkit.OK(t, json.Unmarshal([]byte(data), &doc))
	if doc.Endpoint != "ws://127.0.0.1:9000/rpc" || doc.Dialect != "jsonrpc" || len(doc.Rows) != 24 {
		t.Errorf("%+v with %d rows", doc.pageHead, len(doc.Rows))
	}
	answer := doc.Rows[7]
	if answer.Kind != "response" || answer.Method != "placeOrder" || answer.Of != 2 || *answer.Took != 1.518 || !strings.Contains(*answer.Raw, "9.00") {
		t.Errorf("%+v", answer)
	}
}

// Text from a tape cannot close the element around it, and only the page's script may run.
func TestHTMLIsSafe(t *testing.T) {
	evil := `</script><script>alert(1)</script><!--<script>&lt;\u2028\u202e`
	page := html(t, read(t, `{"tape":1,"endpoint":"`+evil+`","dialect":"`+evil+`"}
{"note":"`+evil+`"}
{"dir":"send","msg":{"id":"`+evil+`","method":"`+evil+`","params":{"token":"t0p","x":"`+evil+`"}}}
{"dir":"recv","text":"`+evil+`"}
{"http":{"method":"`+evil+`","url":"`+evil+`","request":[["Authorization","t0p"],["`+evil+`","`+evil+`"]],"times":{}}}
`))
	if data := dataOf(t, page); strings.ContainsAny(data, "<>&\u2028\u202e") {
		t.Errorf("markup in the data: %s", data)
	}
	if strings.Contains(page, "t0p") {
		t.Error("a secret is in the page")
	}
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d script elements, want the data and the page's own", n)
	}
	for _, want := range []string{"default-src 'none'", "script-src '" + hashSource(pageJS) + "'", "style-src '" + hashSource(pageCSS) + "'"} {
		if !strings.Contains(page, want) {
			t.Errorf("the policy lacks %s", want)
		}
	}
}

// The page's script never interprets text as markup.
func TestHTMLScriptWritesTextOnly(t *testing.T) {
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "setAttribute('on", "{{"} {
		if strings.Contains(pageJS, bad) {
			t.Errorf("the script has %s", bad)
		}
	}
}

// Apart from its data, the page has the same size with 10,000 messages as with none.
func TestHTMLBesideTheData(t *testing.T) {
	var tape strings.Builder
	tape.WriteString(`{"tape":1}` + "\n")
	for i := range 5000 {
		fmt.Fprintf(&tape, `{"t":%d,"dir":"send","msg":{"jsonrpc":"2.0","id":%d,"method":"getOrder","params":{"id":"o_%d"}}}`+"\n", i, i, i)
		fmt.Fprintf(&tape, `{"t":%d,"dir":"recv","msg":{"jsonrpc":"2.0","id":%d,"result":{"id":"o_%d","total":%d}}}`+"\n", i, i, i, i*i)
	}
	beside := func(lines string) int {
		page := html(t, read(t, lines))
		return len(page) - len(dataOf(t, page))
	}
	empty, full := beside(`{"tape":1}`+"\n"), beside(tape.String())
	if full >= 300_000 || full != empty {
		t.Errorf("%d bytes without the data of 10,000 messages, %d without messages", full, empty)
	}
}

func TestHTMLNeedsNothingElse(t *testing.T) {
	page := html(t, read(t, `{"tape":1}`+"\n"))
	if found := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]+\.|@import|url\(|<link|<img|<iframe|fetch\(|XMLHttpRequest|src=`).FindString(page); found != "" {
		t.Errorf("the page loads another resource: %s", found)
	}
}

// A page has a bounded number of rows, and shows how many are left out.
func TestPageOmits(t *testing.T) {
	var in, out bytes.Buffer
	in.WriteString("{\"tape\":1}\n")
	for range maxPageRows + 2 {
		in.WriteString("{\"note\":\"a \u202e b\"}\n")
	}
	r, err := tape.NewReader(&in, "x.tape")
	testkit.OK(t, err)
	w := bufio.NewWriter(&out)
	testkit.OK(t, pageData(t.Context(), w, r, Options{}))
	_ = w.Flush()
	if !bytes.HasSuffix(out.Bytes(), []byte(`],"omitted":2}`)) || bytes.Contains(out.Bytes(), []byte("\u202e")) {
		t.Errorf("%.300s … %s", out.Bytes(), out.Bytes()[out.Len()-80:])
	}
}
