// Package load reads dialect files, which define dialects in TOML with jq programs (rpcx-dialect-file(5)). Errors name the line, the
// member and the expected value.
//
// The struct tags of this package are the only table of the members of dialect files: their names, their choices, and their
// descriptions in the manual.
package load

import "rpcx/wire/dialect/page/program"

// A Page is a decoded dialect file.
type Page struct {
	Name         string `toml:"name" says:"the dialect's name, as in NAME+tcp://…, which must match [a-z][a-z0-9-]*"`
	Source       string `toml:"source" says:"a reference to the protocol's documentation, such as a URL"`
	Base         string `toml:"base" of:"jsonrpc|jsonrpc1|none" says:"the dialect for everything that the file does not define (by default, jsonrpc)"`
	Framing      string `toml:"framing" says:"the framing of byte streams, unless the endpoint names one (by default, line)"`
	Subprotocols Texts  `toml:"subprotocols" says:"WebSocket subprotocols that the client requests"`

	Flow  string `toml:"flow" of:"a2a|mcp" says:"the built-in code for the tasks of a2a or mcp, which are jobs (rpcx job)"`
	Typed bool   `toml:"typed" says:"If true, rpcx requests the catalog before a call, and key=5 gets its type from the method's schema"`

	Text      Text                       `toml:"text" says:"text around the JSON in WebSocket messages"`
	Names     *Names                     `toml:"names" says:"the names of the members of messages, where they differ from the base. Each name is a dotted path, in which a number is an array index. If every path begins with a number, each message is an array"`
	Write     Write                      `toml:"write" says:"programs that write whole messages, where names are not enough; the input is null"`
	Read      []Read                     `toml:"read" says:"programs that read messages, where names are not enough; the input is the message. The first rule whose condition is true applies"`
	Set       map[string]string          `toml:"set" says:"NAME = TYPE (string, number, boolean, object, array or any) for each value that users can set with --set NAME=TEXT. NAME is a member listed in names.extra, or a value of the handshake, $meta.NAME"`
	Handshake []Step                     `toml:"greet" says:"the client's handshake, as steps in order, each with call, notify or await"`
	Leave     []Goodbye                  `toml:"leave" says:"the last messages that a client sends, as steps in order, each with call or notify"`
	Answers   map[string]Prog            `toml:"answers" says:"METHOD = a program that makes the result from the params, for requests that every client answers. A hook with that exact name takes precedence over the program; the program takes precedence over hooks whose names are patterns"`
	Call      *Call                      `toml:"call" says:"how rpcx wraps calls in calls to another method"`
	Eval      *Eval                      `toml:"eval" says:"how rpcx evaluates code (rpcx eval)"`
	Keep      map[string]map[string]Prog `toml:"keep" says:"[keep.METHOD] NAME = a program whose input is the params of that notification; its output becomes $kept.NAME. The program can use $extra. METHOD may be a pattern"`
	After     []After                    `toml:"after" says:"the calls that a client makes after the hooks for a notification have run"`
	During    During                     `toml:"during" says:"the notifications that belong to a running call"`
	Alive     Alive                      `toml:"alive" says:"heartbeats"`
	Requests  Requests                   `toml:"requests" says:"params that all requests have"`
	Input     *Input                     `toml:"input" says:"how a response requests further input instead of returning a result"`
	Cancel    *Cancel                    `toml:"cancel" says:"how rpcx cancels a call"`
	Subscribe map[string]Subscribe       `toml:"subscribe" says:"[subscribe.METHOD] defines the stream of a method, which may be a pattern"`
	HTTP      HTTP                       `toml:"http" says:"sessions over HTTP, which start after the handshake"`
	Describe  []Describe                 `toml:"describe" says:"how rpcx requests the parts of the catalog, in order. In a part without call, the input of methods is $kept"`
	Serve     Serve                      `toml:"serve" says:"how rpcx behaves as a server"`
	Detect    *Detect                    `toml:"detect" says:"how rpcx detects a server of this dialect when the endpoint names another"`
	Probe     *Probe                     `toml:"probe" says:"how rpcx describe --probe recognizes a server by its messages"`
	Bridge    Bridge                     `toml:"bridge" says:"how a bridge (serve LISTEN --to E) offers the methods of another dialect in this dialect"`
	Rules     map[string]any             `toml:"rules" says:"rules for rpcx validate, in addition to those of the base (except, defs, about, [[rules.keep]], [[rules.rule]]); see rpcx-rules(7)"`
}

// Texts is a list of strings. A dialect file may contain a single string instead.
type Texts []string

// UnmarshalText sets t to a single string.
func (t *Texts) UnmarshalText(text []byte) error {
	*t = Texts{string(text)}
	return nil
}

// A Prog is a program in a dialect file, or nil.
type Prog = *program.Program

// Text defines the text around the JSON of a message.
type Text struct {
	Before string `toml:"before" says:"a regular expression for the text before the JSON. For [names], programs, rpcx connect and tapes, each message is then an array of this text and the JSON (if any)"`
	After  string `toml:"after" says:"the text after each message. One WebSocket message may contain several messages"`
}

// Alive defines the heartbeats of both sides.
type Alive struct {
	Client *Beat `toml:"client" says:"the heartbeats of a client, which start after the handshake"`
	Server *Beat `toml:"server" says:"the heartbeats of a server, which start with the first call"`
}

// Of returns the heartbeats of the server if serving is true, and otherwise those of the client.
func (a Alive) Of(serving bool) *Beat {
	if serving {
		return a.Server
	}
	return a.Client
}

// A Beat defines how one side keeps the connection alive.
type Beat struct {
	Every  Prog `toml:"every" yields:"number|nothing" says:"the interval between heartbeats, in milliseconds; the input is $kept"`
	Send   Prog `toml:"send" says:"the whole heartbeat message; the input is $kept"`
	Is     Prog `toml:"is" says:"true for a heartbeat from the peer, which rpcx does not show and which needs no hook"`
	Answer Prog `toml:"answer" says:"the whole reply to that heartbeat; the input is the heartbeat"`
}

// Write contains the programs that write whole messages.
type Write struct {
	Request Prog `toml:"request" says:"a request with $method, $params and $id"`
	Notify  Prog `toml:"notify" says:"a notification with $method and $params"`
	Result  Prog `toml:"result" says:"the response with $result to $request, whose id is $id"`
	Error   Prog `toml:"error" says:"the response with $error to $request, whose id is $id"`
	Event   Prog `toml:"event" says:"a notification from a server, with $method and $params. For an item of a stream, $params is the item, $id the id of its $request, and $result the response to that request"`
	End     Prog `toml:"end" says:"the server's message at the end of a stream that the client has not ended, with the same variables as event"`
	Hello   Prog `toml:"hello" yields:"object|array" says:"the server's first message"`
}

// Read is a rule that recognizes one kind of message and reads it.
type Read struct {
	When   Prog   `toml:"when" says:"the rule applies if this is true"`
	Kind   string `toml:"kind" of:"response|request|notification|item|cancel" says:"the kind of message; an item belongs to the stream or call whose request has the item's id"`
	From   string `toml:"from" of:"client|server" says:"the side whose messages the rule reads, if the other side uses such messages with another meaning (by default, both)"`
	ID     Prog   `toml:"id" says:"the message's id; for an item and a cancel, the id of the request"`
	Method Prog   `toml:"method" says:"the method"`
	Params Prog   `toml:"params" says:"the params; for an item without a result, the item's value"`
	Result Prog   `toml:"result" says:"the result; for an item, the item's value"`
	Error  Prog   `toml:"error" says:"the error, as an object with code and message, or as a string. No output means no error"`
	Final  Prog   `toml:"final" says:"true for the last item (an item without a value only ends the stream), and for a response after which no items arrive. If final is absent, items may follow the response to a request for a stream"`
	Extra  Prog   `toml:"extra" says:"an object with the extra members: the member extra of the event, and $extra in programs"`
}

// A Step is one message of a handshake.
type Step struct {
	Call     string           `toml:"call" says:"the method to call. The next step waits for the response"`
	Notify   string           `toml:"notify" says:"the notification to send"`
	Await    Prog             `toml:"await" says:"true for the message to wait for, among all messages since the start of the connection"`
	Params   Prog             `toml:"params" says:"the params"`
	When     Prog             `toml:"when" says:"the step is skipped unless this is true; the input is $kept"`
	Wait     *bool            `toml:"wait" says:"If false, the response may arrive after the next step, but must arrive before the end of the handshake"`
	ID       string           `toml:"id" says:"the id of the call, instead of a number"`
	Optional bool             `toml:"optional" says:"If true, an error response, an HTTP status of 400 or above (except 401, 403, 407, 429 and 502 to 504), or a timeout is not a failure, and rpcx keeps none of the step's values"`
	Within   string           `toml:"within" says:"the timeout, such as 500ms, of an await or of an optional call that is not an HTTP request. rpcx still accepts a late response to the call until the response to the next call has arrived"`
	Again    bool             `toml:"again" says:"If true, and the peer closes the connection during this optional call, rpcx connects again and skips the call"`
	Refused  map[string]Prog  `toml:"refused" says:"NAME = a program whose input is the error (code, message, data) of an optional call; its output becomes $kept.NAME"`
	For      Texts            `toml:"for" of:"eval" says:"the step runs once, before the first operation of this kind, instead of in the handshake"`
	Accept   map[string][]any `toml:"accept" says:"PROGRAM = an array that must contain the program's output for the response; otherwise the exit status is 5"`
	Login    bool             `toml:"login" says:"If true, an error response, or one that is not accepted, means that the peer refuses the login (exit status 6)"`
	Keep     map[string]Prog  `toml:"keep" says:"NAME = a program whose input is the response, or the awaited message; its output becomes $kept.NAME"`
}

// A Goodbye is one message that a client sends before it closes the connection. The next one is sent whatever the
// response is.
type Goodbye struct {
	Call   string `toml:"call" says:"the method to call. The next step waits for the response"`
	Notify string `toml:"notify" says:"the notification to send"`
	Params Prog   `toml:"params" says:"the params; the input is $kept"`
	When   Prog   `toml:"when" says:"the step is skipped unless this is true; the input is $kept"`
}

// An EvalPrelude is one message that precedes an evaluation of code.
type EvalPrelude struct {
	Call     string           `toml:"call" says:"the method to call. The next step waits for the response"`
	Notify   string           `toml:"notify" says:"the notification to send"`
	Params   Prog             `toml:"params" says:"the params; the input is $kept"`
	When     Prog             `toml:"when" says:"the step is skipped unless this is true; the input is $kept"`
	Optional bool             `toml:"optional" says:"If true, an error response is not a failure, and rpcx keeps none of the step's values"`
	Accept   map[string][]any `toml:"accept" says:"PROGRAM = an array that must contain the program's output for the response; otherwise the exit status is 5"`
	Keep     map[string]Prog  `toml:"keep" says:"NAME = a program whose input is the response; its output becomes $kept.NAME"`
}

// Call defines how another method carries a user's call.
type Call struct {
	Plain  Prog `toml:"plain" says:"true for the name of a method whose calls rpcx does not wrap"`
	Method Prog `toml:"method" yields:"string" says:"the method to call instead of $method"`
	Params Prog `toml:"params" says:"the params, made from $method and $params"`
	Result Prog `toml:"result" says:"the result for the user, made from the result of that method"`
	Error  Prog `toml:"error" says:"the error that the result of that method represents, as an object with code and message. No output means no error"`
}

// Eval defines how code is evaluated.
type Eval struct {
	First  []EvalPrelude `toml:"first" says:"messages before each evaluation, as steps in order, each with call or notify"`
	Call   string        `toml:"call" says:"the method to call"`
	Params Prog          `toml:"params" says:"the params, made from $code"`
	Extra  Prog          `toml:"extra" says:"an object with extra members, made from the extra members that the user set ($extra)"`
	Result Prog          `toml:"result" says:"the value of the code, made from the result of that method"`
	Error  Prog          `toml:"error" says:"the error that the result of that method represents, as an object with code and message. No output means no error"`
}

// After defines the client's calls after a notification.
type After struct {
	Event  string `toml:"event" says:"the notification"`
	When   Prog   `toml:"when" says:"the call is skipped unless this is true; the input is the params"`
	Call   string `toml:"call" says:"the method to call"`
	Params Prog   `toml:"params" says:"the params"`
}

// During defines which notifications belong to a running call.
type During struct {
	Token    Prog  `toml:"token" yields:"object|nothing" says:"an object that rpcx merges into the params of a call, made from $token"`
	Progress *Item `toml:"progress" says:"progress, as {message, fraction}"`
	Log      *Item `toml:"log" says:"log lines, as {level, message, data, source}"`
	Items    *Item `toml:"items" says:"data events"`
}

// An Item recognizes notifications that belong to a call or a stream.
type Item struct {
	Method string `toml:"method" says:"the method, or a pattern"`
	When   Prog   `toml:"when" says:"true for the call or stream to which the notification belongs; the input is the params. If when is absent, the notification belongs to the only call or stream"`
	Event  Prog   `toml:"event" says:"the value that the user gets; the input is the params"`
}

// Cancel defines how a call is cancelled.
type Cancel struct {
	Notify string `toml:"notify" says:"the notification that cancels the call"`
	Call   string `toml:"call" says:"the method whose call cancels the call"`
	When   Prog   `toml:"when" says:"rpcx sends nothing unless this is true"`
	Params Prog   `toml:"params" says:"the params, made from $id, $method and $params"`
	Except Texts  `toml:"except" says:"methods whose calls are never cancelled"`
	HTTP   string `toml:"http" of:"send" says:"over HTTP, rpcx also cancels calls in this way, in addition to closing the request"`
	// Answer is "none" or an error code.
	Answer  any             `toml:"answer" says:"the response to a cancelled call, which is \"none\" or an error code (by default, -32800)"`
	Pending map[string]Prog `toml:"pending" says:"METHOD = a program that makes the result of the peer's call from its params, if the hook is still running when the local call ($params) is cancelled. If the program has no output, the hook continues"`
}

// Subscribe defines the stream that a method opens, and its end.
type Subscribe struct {
	First   bool     `toml:"first" says:"If true, the response to the request is the first item"`
	Opened  string   `toml:"opened" says:"the notification that confirms the stream, which rpcx recognizes in the same way as an item. The response to the request then ends the stream"`
	Instead *Instead `toml:"instead" says:"another request that opens the stream"`
	Item    Item     `toml:"item" says:"the items of the stream"`
	Until   Prog     `toml:"until" says:"true for the params of the last item"`
	End     *End     `toml:"end" says:"how rpcx ends the stream"`
}

// Instead is a request for a stream that replaces the user's request.
type Instead struct {
	When   Prog   `toml:"when" says:"rpcx sends this request if this is true; the input is $kept"`
	Method string `toml:"method" says:"the method, whose [subscribe.METHOD] describes how the stream opens and ends"`
	Params Prog   `toml:"params" says:"the params; the input is $params"`
	Item   Item   `toml:"item" says:"the items of the stream"`
}

// End defines the end of a stream.
type End struct {
	Call   string `toml:"call" says:"the method to call"`
	Notify string `toml:"notify" says:"the notification to send"`
	Method string `toml:"method" says:"the same as call"`
	Params Prog   `toml:"params" says:"the params, made from $params, $result and $id; the input is $result"`
}

// Detect defines how to detect a server of the dialect.
type Detect struct {
	First   Texts    `toml:"first" says:"regular expressions that must all match the server's first bytes, or the text of its errors"`
	Unless  string   `toml:"unless" says:"a regular expression that must not match these bytes or this text"`
	Instead Texts    `toml:"instead" says:"the dialects for which the server may be mistaken (by default, any)"`
	Refusal *Refusal `toml:"refusal" says:"the server's error for a plain JSON-RPC request before the handshake"`
}

// Refusal is a server's error before the handshake.
type Refusal struct {
	Method string `toml:"method" says:"a regular expression that matches the method of the request"`
	Error  string `toml:"error" says:"a regular expression that matches the error's code, a space and its message"`
	Hint   string `toml:"hint" says:"a hint for the user, as a sentence"`
}

// Probe defines a request that identifies a server of the dialect.
type Probe struct {
	Send    Prog  `toml:"send" says:"the whole message to send, made from $id. If send is absent, the server sends the first message"`
	Is      Prog  `toml:"is" says:"true only for messages of such a server; $request is the message that it responds to, or null"`
	Session bool  `toml:"session" says:"If true, the message begins a session, so only rpcx describe --probe sends it"`
	Lists   bool  `toml:"lists" says:"If true, the result is a list of methods"`
	Hooks   Texts `toml:"hooks" says:"client hooks that may cause a server to offer more methods; rpcx describe --probe compares the lists"`
}

// Describe defines one request for a peer's catalog.
type Describe struct {
	Call     string `toml:"call" says:"the method to call"`
	Get      string `toml:"get" says:"the path of an HTTP GET request to the WebSocket's host, instead of a call"`
	Params   Prog   `toml:"params" says:"the params"`
	When     Prog   `toml:"when" says:"this part is skipped unless this is true; the input is $kept"`
	Next     *Next  `toml:"next" says:"how to request the next page of a list"`
	Methods  Prog   `toml:"methods" says:"the methods of the catalog, made from the response, as {name, kind, description, params, result, extra}. rpcx merges methods with the same name"`
	Info     Prog   `toml:"info" says:"the info of the catalog, made from the response, as {name, version, description, extra}. Values of an earlier part take precedence"`
	Optional bool   `toml:"optional" says:"If true, an error response means that the peer does not have this part"`
	Defs     Prog   `toml:"defs" says:"an object with the schemas to which the methods refer as #/$defs/NAME"`
	Fresh    Prog   `toml:"fresh" says:"the number of milliseconds for which the response is valid, made from the response. If the program has no output, rpcx requests the response each time"`
	Private  Prog   `toml:"private" says:"true if the response may be for this user only; rpcx then does not store it on disk"`
	Stale    string `toml:"stale" says:"the notification after which the response is no longer valid"`
	Partial  string `toml:"partial" says:"a clause that states why the peer may have unlisted methods"`
}

// Next defines how to request the next page of a list.
type Next struct {
	Result Prog `toml:"result" says:"the cursor in a response. On the last page, the program yields null or nothing"`
	Params Prog `toml:"params" says:"the params of the next call; the input is the cursor"`
}

// Bridge defines how a bridge offers methods of another dialect.
type Bridge struct {
	Name    Prog  `toml:"name" says:"the name under which the bridge offers a method, made from the method's own name"`
	Objects bool  `toml:"objects" says:"If true, params must be an object, and the bridge wraps other params in an object with the member params"`
	Asks    Texts `toml:"asks" says:"patterns of the requests that servers send to clients. If a bridge connects to such a server, the hooks for these requests answer only the server, not the bridge's own clients"`
	Whole   bool  `toml:"whole" says:"If true, a call returns a single result, so the bridge returns a stream that ends as an array of its items"`
}
