package load

import (
	"testing"

	"rpcx/wire"
)

// What does not go together on a page is told with its line, and what would. "": nothing is wrong.
func TestRules(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"[[greet]]", "p.toml:2: greet[0]: expected exactly one of call, notify and await"},
		{"[[greet]]\ncall = 'a'\nawait = '.'", "p.toml:2: greet[0]: expected exactly one of call, notify and await"},
		{"[[greet]]\nnotify = 'a'\nawait = '.'", "p.toml:2: greet[0]: expected exactly one of call, notify and await"},
		{"[[greet]]\nawait = '.'", ""},
		{"[[greet]]\nawait = '.'\nwithin = '500ms'", ""},
		{"[[greet]]\nawait = '.'\nwithin = '0s'", "p.toml:4: greet[0].within: expected a duration, such as 500ms, beside await"},
		{"[[greet]]\nawait = '.'\nwithin = '-1s'", "p.toml:4: greet[0].within: expected a duration, such as 500ms, beside await"},
		{"[[greet]]\nawait = '.'\nwithin = 'soon'", "p.toml:4: greet[0].within: expected a duration, such as 500ms, beside await"},
		{"[[greet]]\ncall = 'a'\nwithin = '1s'", "p.toml:4: greet[0].within: expected a duration, such as 500ms, beside await"},
		{"[[greet]]\nawait = '.'\nwait = false", "p.toml:4: greet[0].wait: only a call has an answer to wait for"},
		{"[[greet]]\nnotify = 'a'\nwait = true", "p.toml:4: greet[0].wait: only a call has an answer to wait for"},
		{"[[greet]]\ncall = 'a'\nwait = false", ""},
		{"[[greet]]\nnotify = 'a'\nkeep = { a = '.' }", "p.toml:2: greet[0]: a notification has no answer: keep and accept go with call and await"},
		{"[[greet]]\nnotify = 'a'\naccept = { '.' = [1] }", "p.toml:2: greet[0]: a notification has no answer: keep and accept go with call and await"},
		{"[[greet]]\nawait = '.'\nkeep = { a = '.' }\naccept = { '.' = [1] }", ""},
		{"[[greet]]\ncall = 'a'\nfor = ['eval']", ""},
		{"[[greet]]\ncall = 'a'\nfor = ['evil']", "p.toml:4: greet[0].for: expected one of eval, not \"evil\"; did you mean eval?"},
		{"[[leave]]\nawait = '.'", "p.toml:3: leave[0].await: only a greeting awaits: expected call or notify"},
		{"[[leave]]", "p.toml:2: leave[0]: expected exactly one of call, notify and await"},
		{"[[leave]]\nnotify = 'a'", ""},
		{"[eval]\ncall = 'a'", "p.toml:2: eval: expected call and params: what evaluates $code"},
		{"[eval]\nparams = '.'", "p.toml:2: eval: expected call and params: what evaluates $code"},
		{"[eval]\ncall = 'a'\nparams = '.'", ""},
		{"[eval]\ncall = 'a'\nparams = '.'\n[[eval.first]]", "p.toml:5: eval.first[0]: expected exactly one of call, notify and await"},
		{"[eval]\ncall = 'a'\nparams = '.'\n[[eval.first]]\nawait = '.'", "p.toml:6: eval.first[0].await: only a greeting awaits: expected call or notify"},
		{"[http]\nheaders = { Host = '.' }", "p.toml:3: http.headers.Host: a page does not set this header"},
		{"[http]\nheaders = { X-Own = '.' }", ""},
		{"[http]\nheaders = { 'X Own' = '.' }", "p.toml:3: http.headers.X Own: a page does not set this header"},
		{"[http]\nheaders = { 'X:Own' = '.' }", "p.toml:3: http.headers.X:Own: a page does not set this header"},
		{"[http]\nsession = 'Authorization'", "p.toml:3: http.session: a page does not set this header"},
		{"[http]\nsession = 'X-Session'", ""},
		{"[http]\nagain = 409", "p.toml:3: http.again: expected session beside it: the header that such an answer brings"},
		{"[http]\nsession = 'X-Session'\nagain = 399", "p.toml:4: http.again: expected a status from 400 to 499, such as 409"},
		{"[http]\nsession = 'X-Session'\nagain = 400", ""},
		{"[http]\nsession = 'X-Session'\nagain = 499", ""},
		{"[http]\nsession = 'X-Session'\nagain = 500", "p.toml:4: http.again: expected a status from 400 to 499, such as 409"},
		{"[http]\nevents = 'POST'", "p.toml:3: http.events: expected one of GET, not \"POST\""},
		{"[http]\nend = 'DELETE'", ""},
		{"[serve.get]\n'json' = '.'", "p.toml:3: serve.get.json: expected a path, such as \"/json/version\""},
		{"[serve.get]\n'/json' = '.'", ""},
		{"[[read]]\nwhen = '.'", "p.toml:2: read[0]: expected a kind: response, request, notification or cancel"},
		{"[[read]]\nwhen = '.'\nkind = 'response'", "p.toml:2: read[0]: a response needs an id"},
		{"[[read]]\nwhen = '.'\nkind = 'response'\nid = '.'", ""},
		{"[[read]]\nwhen = '.'\nkind = 'request'\nid = '.'", "p.toml:2: read[0]: a request needs a method"},
		{"[[read]]\nwhen = '.'\nkind = 'request'\nid = '.'\nmethod = '.'", ""},
		{"[[read]]\nwhen = '.'\nkind = 'notification'", "p.toml:2: read[0]: a notification needs a method"},
		{"[[read]]\nwhen = '.'\nkind = 'notification'\nmethod = '.'", ""},
		{"[[read]]\nwhen = '.'\nkind = 'cancel'", "p.toml:2: read[0]: a cancel needs an id"},
		{"[[read]]\nwhen = '.'\nkind = 'cancel'\nid = '.'", ""},
		{"[[read]]\nwhen = '.'\nkind = 'odd'", "p.toml:4: read[0].kind: expected one of response, request, notification, cancel, not \"odd\""},
		{"[[describe]]\nmethods = '.'", ""},
		{"[[describe]]\ncall = 'a'", "p.toml:2: describe[0]: expected methods: a program that makes methods of the answer"},
		{"[cancel]\nnotify = 'a'\ncall = 'b'", "p.toml:2: cancel: expected exactly one of notify and call"},
		{"[cancel]\nnotify = 'a'", ""},
		{"[cancel]\ncall = 'b'", ""},
		{"[cancel]", "p.toml:2: cancel: expected exactly one of notify and call"},
		{"[cancel]\ncall = 'b'\nanswer = 'none'", ""},
		{"[cancel]\ncall = 'b'\nanswer = -7", ""},
		{"[cancel]\ncall = 'b'\nanswer = 'all'", "p.toml:4: cancel.answer: expected \"none\" or the code of an error, such as -32800"},
		{"[cancel]\ncall = 'b'\nanswer = 1.5", "p.toml:4: cancel.answer: expected \"none\" or the code of an error, such as -32800"},
		{"[cancel]\ncall = 'b'\nanswer = true", "p.toml:4: cancel.answer: expected \"none\" or the code of an error, such as -32800"},
		{"[subscribe.a]", "p.toml:2: subscribe.a: expected item.method: which notifications are items"},
		{"[subscribe.a]\nitem = { when = '.' }", "p.toml:2: subscribe.a: expected item.method: which notifications are items"},
		{"[subscribe.a]\nitem = { method = 'i' }", ""},
		{"[[after]]\nevent = 'e'", "p.toml:2: after[0]: expected event and call: what is called after which notification"},
		{"[[after]]\ncall = 'c'", "p.toml:2: after[0]: expected event and call: what is called after which notification"},
		{"[[after]]\nevent = 'e'\ncall = 'c'", ""},
		{"[serve.calls.do]", "p.toml:2: serve.calls.do: expected method: a program that finds the hook's name in the params"},
		{"[serve.calls.do]\nmethod = '.'", ""},
		{"flow = 'mcp'", ""},
		{"flow = 'other'", "p.toml:2: flow: expected one of mcp, not \"other\""},
		{"typed = 1", "p.toml:2: typed: expected true or false"},
		{"typed = true", ""},
		{"[serve.early]\ncode = 'x'", "p.toml:3: serve.early.code: expected a whole number"},
		{"[serve.early]\ncode = 1", ""},
		{"[serve]\nsilent = 'a'", "p.toml:3: serve.silent: expected an array of texts"},
		{"[serve]\nsilent = ['a']", ""},
		{"[names]\nextra = [1]", "p.toml:3: names.extra: expected an array of texts"},
		{"[names]\nids = 'uuid'", "p.toml:3: names.ids: expected one of integer, string, none, not \"uuid\""},
		{"[names]\nbatches = 'yes'", "p.toml:3: names.batches: expected true or false"},
		{"[names.ok]\nat = 'a'\nis = { b = 1 }", ""},
		{"[names.request]\nconst = { a = [1, { b = 2 }] }", ""},
		{"[rules]\nanything = { goes = 1 }", ""},
		{"[keep.n]\na = 1", "p.toml:3: keep.n.a: expected a program"},
		{"[keep]\nn = '.'", "p.toml:3: keep.n: expected a table of NAME = a program"},
		{"answers = 'x'", "p.toml:2: answers: expected a table of NAME = a program"},
		{"[greet]\ncall = 'a'", "p.toml:2: greet: expected an array of tables"},
		{"greet = [1]", "p.toml:2: greet: expected an array of tables"},
		{"name.x = 1", "p.toml:2: key name is already defined"},
		{"odd = 1", "p.toml:2: odd: a page has no member \"odd\""},
		{"[serve.keep.a]\nb = 'error('", "p.toml:3: serve.keep.a.b: jq: unexpected EOF at offset 6 of: error("},
		{"[answers]\na = '$nothing'", "p.toml:3: answers.a: jq: variable not defined: $nothing in: $nothing"},
	} {
		_, err := Parse("p.toml", []byte("name = 'x'\n"+c.page))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.page, got, c.want)
		}
		if f := wire.AsFault(err); err != nil && (f == nil || f.Kind != wire.Usage) {
			t.Errorf("%s: %v is no usage fault", c.page, err)
		}
	}
}
