package framing

import "strings"

const (
	a = `{"a":1}`
	b = `{"b":[2,"}"]}`
)

var lineScenarios = []scenario{
	{name: "nothing", framing: "line"},
	{name: "lines", framing: "line", in: a + "\n" + b + "\n", want: []string{a, b}},
	{name: "CRLF and blanks", framing: "line", in: a + "\r\n\r\n\n  \n\t" + b + " \r\n", want: []string{a, b}},
	{name: "no last newline", framing: "line", in: a + "\n" + b, want: []string{a, b}},
	{name: "byte order mark", framing: "line", in: "\ufeff" + a + "\n", want: []string{a}},
	{name: "half a mark", framing: "line", in: "\xef\xbb\n", fault: `not JSON: "\xef\xbb"`},
	{name: "batch", framing: "line", in: "[" + a + "]\n", want: []string{"[" + a + "]"}},
	{name: "broken JSON is for the dialect", framing: "line", in: "{\"a\":\n[info] x\n{x}\n", want: []string{`{"a":`, "[info] x", "{x}"}},
	{name: "invalid UTF-8 is for the dialect", framing: "line", in: "{\"a\":\"\xff\"}\n", want: []string{"{\"a\":\"\xff\"}"}},
	{name: "deep is for the dialect", framing: "line", in: strings.Repeat("[", 20) + strings.Repeat("]", 20), depth: 5, limit: 1, want: []string{strings.Repeat("[", 20) + strings.Repeat("]", 20)}},
	{name: "no noise on a listener", framing: "line", in: "GET / HTTP/1.1\r\n" + a + "\n", fault: `not JSON: "GET / HTTP/1.1"`},
	{name: "no late noise on a listener", framing: "line", in: a + "\nhello\n", want: []string{a}, fault: `"hello"`},
	{name: "scalars are no messages", framing: "line", in: "42\n", fault: `"42"`},
	{
		name: "noise", framing: "line", limit: 9, in: "hello\r\n" + a + "\n 42\ntrue\n[info] listening\n[12:30] up [ok]\n{starting}\n{\"a\"=>1}\n{\"a\":\n" + b + "\n\"bye\"",
		want: []string{a, b}, noise: []string{"hello", " 42", "true", "[info] listening", "[12:30] up [ok]", "{starting}", `{"a"=>1}`, `{"a":`, `"bye"`},
	},
	{name: "what has both ends is for the dialect", framing: "line", limit: 9, in: "{\"a\":1 \"b\"}\n{}\n{ }\n", want: []string{`{"a":1 "b"}`, "{}", "{ }"}},
	{
		name: "too much noise", framing: "line", limit: 2, in: "one\n\ntwo\n" + a + "\nthr\x1b[31mee" + strings.Repeat("e", 100) + "\n", want: []string{a}, noise: []string{"one", "two"},
		fault: `more than 2 lines that are not JSON, the last: "thr\x1b[31mee`,
	},
	{name: "too long", framing: "line", max: 8, in: a + " \n" + b + "\n", want: []string{a}, fault: "limit of 8 bytes"},
	{name: "noise too long", framing: "line", max: 50, limit: 3, in: "x" + strings.Repeat("0", 60) + "\n", fault: "limit of 50 bytes"},
	{name: "just not too long", framing: "line", max: len(b), in: b + "\r\n", want: []string{b}},
}

var lspScenarios = []scenario{
	{name: "nothing", framing: "lsp"},
	{name: "messages", framing: "lsp", in: "Content-Length: 7\r\n\r\n" + a + "Content-Length: 13\r\n\r\n" + b, want: []string{a, b}},
	{name: "LF only", framing: "lsp", in: "Content-Length: 7\n\n" + a + "\nContent-Length:13\n\n" + b + "\n", want: []string{a, b}},
	{name: "extra headers", framing: "lsp", in: "content-LENGTH:  7 \r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\nX-Y: z\r\n\r\n" + a, want: []string{a}},
	{name: "extra header first", framing: "lsp", in: "X-Y: z\r\nContent-Length: 7\r\n\r\n" + a, limit: 1, want: []string{a}},
	{name: "line breaks inside", framing: "lsp", in: "Content-Length: 9\r\n\r\n{\n\"a\":1\n}", want: []string{"{\n\"a\":1\n}"}},
	{name: "one byte", framing: "lsp", in: "Content-Length: 1\r\n\r\n7", want: []string{"7"}},
	{name: "empty", framing: "lsp", in: "Content-Length: 0\r\n\r\n", want: []string{""}},
	{name: "the same twice", framing: "lsp", in: "Content-Length: 7\r\nContent-Length: 07\r\n\r\n" + a, want: []string{a}},
	{name: "two lengths", framing: "lsp", in: "Content-Length: 7\r\nContent-Length: 8\r\n\r\n" + a, fault: "two different Content-Lengths, 7 and 8"},
	{name: "negative", framing: "lsp", in: "Content-Length: -7\r\n\r\n" + a, fault: "malformed Content-Length"},
	{name: "signed", framing: "lsp", in: "Content-Length: +7\r\n\r\n" + a, fault: "malformed Content-Length"},
	{name: "no number", framing: "lsp", in: "Content-Length: 7x\r\n\r\n" + a, fault: "malformed Content-Length"},
	{name: "no length", framing: "lsp", in: "Content-Type: x\r\n\r\n" + a, fault: "without Content-Length"},
	{name: "huge", framing: "lsp", in: "Content-Length: 99999999999999999999999\r\n\r\n" + a, fault: "limit of 67108864 bytes (--max-message)"},
	{name: "over the limit", framing: "lsp", max: 6, in: "Content-Length: 7\r\n\r\n" + a, fault: "limit of 6 bytes (--max-message)"},
	{name: "cut off", framing: "lsp", in: "Content-Length: 8\r\n\r\n" + a, fault: "ended inside a message: 7 of 8 bytes"},
	{name: "cut off in headers", framing: "lsp", in: "Content-Length: 8\r\nConte", fault: "its headers are not whole"},
	{name: "noise on a listener", framing: "lsp", in: a + "\n", fault: "not JSON"},
	{name: "request of a browser", framing: "lsp", strict: true, in: "POST / HTTP/1.1\r\nContent-Length: 7\r\n\r\n" + a, fault: "POST / HTTP/1.1"},
	{name: "foreign header, strict", framing: "lsp", strict: true, in: "Host: x\r\nContent-Length: 7\r\n\r\n" + a, fault: `does not belong there: "Host: x`},
	{name: "own headers, strict", framing: "lsp", strict: true, in: "Content-Type: x\r\nContent-Length: 7\r\n\r\n" + a + "X-Y: z\r\nContent-Length: 7\r\n\r\n" + a, want: []string{a, a}},
	{
		name: "noise", framing: "lsp", limit: 4, in: "hello\nINFO: up\nContent-Length: 7\r\n\r\n" + a + "\nat 12:30: x\nContent-Length: 7\r\n\r\n" + a + "bye",
		want: []string{a, a}, noise: []string{"hello", "INFO: up", "at 12:30: x", "bye"},
	},
	{name: "too much noise", framing: "lsp", limit: 1, in: "hello\nagain\nContent-Length: 7\r\n\r\n" + a, noise: []string{"hello"}, fault: `the last: "again"`},
}

var nulScenarios = []scenario{
	{name: "nothing", framing: "nul"},
	{name: "messages", framing: "nul", in: a + "\x00" + b + "\x00", want: []string{a, b}},
	{name: "last one without", framing: "nul", in: a + "\x00" + b, want: []string{a, b}},
	{name: "blanks and line breaks", framing: "nul", in: "\x00\x00\r\n" + a + "\n\x00 {\n\"a\":\n1}\x00 \n", want: []string{a, "{\n\"a\":\n1}"}},
	{name: "broken is for the dialect", framing: "nul", in: "{x\x00[y\x00", want: []string{"{x", "[y"}},
	{name: "noise on a listener", framing: "nul", in: "hello\n" + a + "\x00", fault: `"hello"`},
	{name: "noise", framing: "nul", limit: 5, in: "hello\n[info] x\n" + a + "\x00{y\nz\x00" + b + "\x00end", want: []string{a, b}, noise: []string{"hello", "[info] x", "{y", "z", "end"}},
	{name: "noise before the last", framing: "nul", limit: 5, in: "[info] x\n" + a, want: []string{a}, noise: []string{"[info] x"}},
	{name: "noise at the end", framing: "nul", limit: 5, in: a + "\x00[x\n{y", want: []string{a}, noise: []string{"[x", "{y"}},
	{name: "too much noise", framing: "nul", limit: 1, in: "one\ntwo\n" + a + "\x00", noise: []string{"one"}, fault: `"two"`},
	{name: "noise too long", framing: "nul", max: 50, limit: 3, in: "[\n" + strings.Repeat("0", 60) + "\x00", fault: "limit of 50 bytes"},
	{name: "too long", framing: "nul", max: 7, in: a + "\x00" + b + "\x00", want: []string{a}, fault: "limit of 7 bytes"},
}

var seqScenarios = []scenario{
	{name: "nothing", framing: "seq"},
	{name: "messages", framing: "seq", in: "\x1e" + a + "\n\x1e" + b + "\n", want: []string{a, b}},
	{name: "no LF", framing: "seq", in: "\x1e" + a + "\x1e" + b, want: []string{a, b}},
	{name: "empty ones", framing: "seq", in: "\x1e\x1e\n\x1e \n" + a + "\r\n", want: []string{a}},
	{name: "many lines", framing: "seq", in: "\x1e{\n\"a\":\n1\n}\n\x1e" + b, want: []string{"{\n\"a\":\n1\n}", b}},
	{name: "scalars", framing: "seq", in: "\x1e42\n\x1etrue\n", want: []string{"42", "true"}},
	{name: "truncated", framing: "seq", in: "\x1e{\"a\":\"x\x1e" + b + "\n\x1e[1,\n\x1e" + a + "\n\x1e{\"b\"", want: []string{`{"a":"x`, b, "[1,", a, `{"b"`}},
	{name: "broken", framing: "seq", in: "\x1e{\"a\":x\n  \"b\":1\n}\n\x1e" + a + "\n", want: []string{`{"a":x`, a}},
	{name: "deep", framing: "seq", depth: 2, in: "\x1e[[[[]]]]\n", want: []string{"[[[[]]]]"}},
	{name: "deeper than a stack should be", framing: "seq", in: "\x1e" + strings.Repeat("[", 1100) + strings.Repeat("]", 1100), want: []string{strings.Repeat("[", 1100) + strings.Repeat("]", 1100)}},
	{name: "noise on a listener", framing: "seq", in: a + "\n\x1e" + a + "\n", fault: `"{\"a\":1}"`},
	{name: "noise", framing: "seq", limit: 4, in: "hello\nx\x1e" + a + " y\nz\n\x1e" + b + "\n", want: []string{a, b}, noise: []string{"hello", "x", "y", "z"}},
	{name: "text too long", framing: "seq", max: 50, in: "\x1e" + strings.Repeat("0", 60) + "\n", fault: "limit of 50 bytes"},
	{name: "too long", framing: "seq", max: 7, in: "\x1e" + a + "\n\x1e" + b + "\n", want: []string{a}, fault: "limit of 7 bytes"},
}

var concatScenarios = []scenario{
	{name: "nothing", framing: "concat"},
	{name: "lines", framing: "concat", in: a + "\n" + b + "\r\n", want: []string{a, b}},
	{name: "one after the other", framing: "concat", in: a + b + " " + a, want: []string{a, b, a}},
	{name: "pretty", framing: "concat", in: "{\r\n  \"a\": [\r\n    1\r\n  ]\r\n}\r\n" + b, want: []string{"{\r\n  \"a\": [\r\n    1\r\n  ]\r\n}", b}},
	{name: "noise on a listener", framing: "concat", in: "hello\n" + a, fault: `"hello"`},
	{name: "scalars are no messages", framing: "concat", in: "42\n", fault: `"42"`},
	{name: "broken is noise", framing: "concat", in: "{x}\n" + a, fault: `"{x}"`},
	{name: "noise", framing: "concat", limit: 9, in: "hello\n" + a + " more\n[info] up\n" + b + "\n{x}\n" + a + "end", want: []string{a, b, a}, noise: []string{"hello", "more", "[info] up", "{x}", "end"}},
	{name: "broken over lines", framing: "concat", limit: 9, in: "{\"a\":1,\n\"b\" 2,\n" + b + "\n", want: []string{b}, noise: []string{`{"a":1,`, `"b" 2,`}},
	{name: "what was begun and not ended", framing: "concat", limit: 9, in: "{\"a\":1\n" + b + "\n{\"a\":\"x\n" + a + "\n", want: []string{b, a}, noise: []string{`{"a":1`, `{"a":"x`}},
	{name: "nested is no message", framing: "concat", limit: 9, in: "{\"a\":[" + b + ",\n" + b + "],x}\n" + a, want: []string{a}, noise: []string{`{"a":[` + b + ",", b + "],x}"}},
	{name: "too much noise", framing: "concat", limit: 1, in: "one\n{\ntwo\n" + a, noise: []string{"one"}, fault: `the last: "{"`},
	{name: "cut off", framing: "concat", in: a + `{"b":`, want: []string{a}, fault: `ended inside a message: "{\"b\":"`},
	{name: "deep is for the dialect", framing: "concat", depth: 3, in: "[[[]]][[[[]]]]", want: []string{"[[[]]]", "[[[[]]]]"}},
	{name: "deeper than usual", framing: "concat", depth: 1100, in: strings.Repeat("[", 1100) + strings.Repeat("]", 1100), want: []string{strings.Repeat("[", 1100) + strings.Repeat("]", 1100)}},
	{name: "noise too long", framing: "concat", max: 50, limit: 3, in: strings.Repeat("0", 60) + "\n", fault: "limit of 50 bytes"},
	{name: "too long", framing: "concat", max: 7, in: a + b, want: []string{a}, fault: "limit of 7 bytes"},
}
