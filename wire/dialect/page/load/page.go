// Package load reads pages: dialects that are written as data, in TOML with jq
// programs (rpcx-dialect-file(5)). Its errors name the line, the member and what was
// expected.
//
// The struct tags of this package's types are the only table of what a page can
// say: the names of the members, their choices and the manual's words.
package load

import "rpcx/wire/dialect/page/program"

// A Page is the text of a page, decoded.
type Page struct {
	Name         string `toml:"name" says:"the dialect's name, as endpoints have it before +; must match [a-z][a-z0-9-]*"`
	Source       string `toml:"source" says:"where the protocol is written down, for people"`
	Base         string `toml:"base" of:"jsonrpc|jsonrpc1|none" says:"the dialect that holds for what the page does not say (jsonrpc)"`
	Framing      string `toml:"framing" says:"the framing of streams of bytes whose endpoint names none (line)"`
	Subprotocols Texts  `toml:"subprotocols" says:"what a WebSocket is asked to speak"`

	Flow  string `toml:"flow" of:"mcp" says:"what needs more than data: mcp has tasks, which are jobs (rpcx job)"`
	Typed bool   `toml:"typed" says:"the peer is asked what it offers before a call: key=5 becomes what a method's schema wants"`

	Names     *Names                     `toml:"names" says:"the members of messages, where they are not those of the base. Each is a dotted path, in which a number is a place in an array; where all of them begin with numbers messages are arrays"`
	Write     Write                      `toml:"write" says:"whole messages, where names do not say how they are written. A program each, whose input is null"`
	Read      []Read                     `toml:"read" says:"messages that names do not tell. Of several the first whose condition holds counts. A program each, whose input is the message"`
	Set       map[string]string          `toml:"set" says:"NAME = TYPE: what users can set (--set NAME=TEXT), string, number, boolean, object, array or any: the type of a member that names.extra lists, or a value of the handshake, $meta.NAME"`
	Greet     []Step                     `toml:"greet" says:"the greeting of a client: its steps in order, each one of call, notify and await"`
	Leave     []Goodbye                  `toml:"leave" says:"the goodbye of a client: its steps in order, each one of call and notify"`
	Answers   map[string]Prog            `toml:"answers" says:"METHOD = a program that makes the result of its params: what every client owes. A hook of that exact name comes first, a pattern later"`
	Call      *Call                      `toml:"call" says:"a call that is wrapped in another"`
	Eval      *Eval                      `toml:"eval" says:"how code is evaluated (rpcx eval)"`
	Keep      map[string]map[string]Prog `toml:"keep" says:"[keep.METHOD] NAME = a program on the params of that notification: its value is $kept.NAME from then on"`
	After     []After                    `toml:"after" says:"what a client says once hooks have run for a notification"`
	During    During                     `toml:"during" says:"what is notified while a call runs, and belongs to it"`
	Cancel    *Cancel                    `toml:"cancel" says:"how a call is given up"`
	Subscribe map[string]Subscribe       `toml:"subscribe" says:"the stream of [subscribe.METHOD]. The method may be a pattern"`
	HTTP      HTTP                       `toml:"http" says:"what belongs to a session over HTTP, from the end of the greeting on"`
	Describe  []Describe                 `toml:"describe" says:"how a peer is asked what it offers: its parts in order. Without call, methods sees the greeting's kept values"`
	Serve     Serve                      `toml:"serve" says:"the server's side"`
	Detect    *Detect                    `toml:"detect" says:"by what a server shows that it speaks this dialect, where an endpoint names another"`
	Probe     *Probe                     `toml:"probe" says:"how a server is recognised by what it answers: rpcx describe --probe"`
	Bridge    Bridge                     `toml:"bridge" says:"how methods of another dialect are offered in this one (serve LISTEN --to E)"`
	Rules     map[string]any             `toml:"rules" says:"what rpcx validate holds conversations against, beside the rules of the base: except, defs, about, [[rules.keep]], [[rules.rule]], see rpcx-rules(7)"`
}

// Texts are several texts. A page may write a single one without an array around it.
type Texts []string

// UnmarshalText takes a single text.
func (t *Texts) UnmarshalText(text []byte) error {
	*t = Texts{string(text)}
	return nil
}

// A Prog is a program in a page. It is a pointer, nil if the page has none
// there.
type Prog = *program.Program

// Names say which members of messages hold what.
type Names struct {
	Request   Members `toml:"request" says:"of a request: method, params, id, const, forbidden"`
	Response  Members `toml:"response" says:"of an answer: id, result, error, and below it code, message, data; method, which repeats that of the request; const, forbidden"`
	Event     Members `toml:"event" says:"of a notification: method, params, const, forbidden"`
	Const     Consts  `toml:"const" says:"members with values that never change, in all messages"`
	Forbidden Texts   `toml:"forbidden" says:"members that no message has: one that comes with them is refused, none is sent with them, and jsonrpc of the base is left out where it is one"`
	OK        *OK     `toml:"ok" says:"the member that tells results from errors by its value"`
	Params    string  `toml:"params" of:"object|array|one|flat|prefixed" says:"how params are sent: as they are given (object), as an array, as an array of exactly one element, as members of the message itself, as an array with the method in front"`
	None      string  `toml:"none" of:"omit|{}|[]|null" says:"what is sent where no params are given (omit)"`
	IDs       string  `toml:"ids" of:"integer|string|none" says:"what ids are made (integer); none: answers come in the order of their requests"`
	Counter   string  `toml:"counter" of:"calls|all" says:"what takes an id: requests (calls), or each message that is written (all)"`
	Batches   bool    `toml:"batches" says:"an array is several messages"`
	Extra     Texts   `toml:"extra" says:"members beside them, which users give (--set NAME=VALUE) and events have in extra; an answer repeats those of its request"`
	Sentinel  bool    `toml:"sentinel" says:"on a line, what stands before the last byte 0xFF is no part of the message"`
}

// Members name the members of one kind of message. Each is a dotted path.
type Members struct {
	Method  string `toml:"method" says:"what holds the method"`
	Params  string `toml:"params" says:"what holds the params"`
	ID      string `toml:"id" says:"what holds the id"`
	Result  string `toml:"result" says:"what holds the result"`
	Error   string `toml:"error" says:"what is there where the call failed"`
	Code    string `toml:"code" says:"the error's code"`
	Message string `toml:"message" says:"the error's message. Where code names the same member it holds a code that is a text, such as the name of an error, and else the message"`
	Data    string `toml:"data" says:"what else the error says"`
	More    string `toml:"more" says:"of an answer: what is true where further answers to the same request follow, which makes it one item of several"`
	Const   Consts `toml:"const" says:"members with values that never change, and tell such messages from others"`

	Forbidden Texts `toml:"forbidden" says:"members that such messages do not have, which tells them from others"`
}

// Consts are members with their values.
type Consts map[string]any

// OK names the member that tells results from errors.
type OK struct {
	At string `toml:"at" says:"the member"`
	Is any    `toml:"is" says:"its value in a message with a result"`
}

// Write holds the programs that write whole messages.
type Write struct {
	Request Prog `toml:"request" says:"a request of $method, $params, $id"`
	Notify  Prog `toml:"notify" says:"a notification of $method, $params"`
	Result  Prog `toml:"result" says:"the answer $result to $request, whose id is $id"`
	Error   Prog `toml:"error" says:"the answer $error, likewise"`
	Event   Prog `toml:"event" says:"what a server notifies: $method, $params; and an item of a stream: $params is the item, $id the id of its $request, $result the answer to that"`
	End     Prog `toml:"end" says:"what a server says when a stream is over that it has not been asked to end, likewise"`
	Hello   Prog `toml:"hello" says:"what a server says before anything else"`
}

// Read is a rule that recognises a kind of message and reads it.
type Read struct {
	When   Prog   `toml:"when" says:"it is such a message where this holds"`
	Kind   string `toml:"kind" of:"response|request|notification|item|cancel" says:"what it is; an item is one of the stream, or of the call, whose request has its id"`
	From   string `toml:"from" of:"client|server" says:"who says it, where a message of the other side means something else (both)"`
	ID     Prog   `toml:"id" says:"its id; of an item and a cancel, that of the request"`
	Method Prog   `toml:"method" says:"its method"`
	Params Prog   `toml:"params" says:"its params; of an item, what it holds, if there is no result"`
	Result Prog   `toml:"result" says:"its result; of an item, what it holds"`
	Error  Prog   `toml:"error" says:"its error, an object with code and message, or a text; nothing where it is none"`
	Final  Prog   `toml:"final" says:"of an item: nothing follows where this holds, and where it holds nothing itself it is only the end. Of a response: whether nothing follows; without it items may follow the answer to a subscribe"`
	Extra  Prog   `toml:"extra" says:"what stands beside, an object: the extra of its event, and $extra"`
}

// A Step is one message of a greeting.
type Step struct {
	Call     string           `toml:"call" says:"the method that is called, and answered before the next step"`
	Notify   string           `toml:"notify" says:"the notification that is sent"`
	Await    Prog             `toml:"await" says:"a condition: the message that is awaited, of all that came since the connection is open"`
	Params   Prog             `toml:"params" says:"its params"`
	When     Prog             `toml:"when" says:"the step is left out where this does not hold; its input is $kept"`
	Wait     *bool            `toml:"wait" says:"false: the answer is not awaited before the next step, but before the greeting is over"`
	Optional bool             `toml:"optional" says:"an answer that is an error, or that nothing comes of an await within, is no failure: nothing is kept of it"`
	Within   string           `toml:"within" says:"how long an await takes at most, such as 500ms"`
	For      Texts            `toml:"for" of:"eval" says:"the step is taken, once, before the first operation of this kind, and not with the greeting"`
	Accept   map[string][]any `toml:"accept" says:"PROGRAM = values: what it makes of the answer must be one of them, else the status is 5"`
	Keep     map[string]Prog  `toml:"keep" says:"NAME = a program on the answer, or on the message that was awaited: its value is $kept.NAME from here on"`
}

// A Goodbye is one message of a goodbye. Whatever comes of a call, the next step follows.
type Goodbye struct {
	Call   string `toml:"call" says:"the method that is called, and answered before the next step"`
	Notify string `toml:"notify" says:"the notification that is sent"`
	Params Prog   `toml:"params" says:"its params, made of $kept (the input)"`
	When   Prog   `toml:"when" says:"the step is left out where this does not hold; its input is $kept"`
}

// An EvalPrelude is one message that is said before code is evaluated.
type EvalPrelude struct {
	Call     string           `toml:"call" says:"the method that is called, and answered before the next step"`
	Notify   string           `toml:"notify" says:"the notification that is sent"`
	Params   Prog             `toml:"params" says:"its params, made of $kept (the input)"`
	When     Prog             `toml:"when" says:"the step is left out where this does not hold; its input is $kept"`
	Optional bool             `toml:"optional" says:"an answer that is an error is no failure: nothing is kept of it"`
	Accept   map[string][]any `toml:"accept" says:"PROGRAM = values: what it makes of the answer must be one of them, else the status is 5"`
	Keep     map[string]Prog  `toml:"keep" says:"NAME = a program on the answer: its value is $kept.NAME from here on"`
}

// Call says how a user's call is carried by another method.
type Call struct {
	Plain  Prog `toml:"plain" says:"holds on the name of a method that is not wrapped"`
	Method Prog `toml:"method" says:"the method that is called in place of $method"`
	Params Prog `toml:"params" says:"its params, made of $method and $params"`
	Result Prog `toml:"result" says:"what the user gets of its result"`
	Error  Prog `toml:"error" says:"the error that its result is: an object with code and message; nothing where it is none"`
}

// Eval says how code is evaluated.
type Eval struct {
	First  []EvalPrelude `toml:"first" says:"what is said before it, each time: steps in order, each one of call and notify"`
	Call   string        `toml:"call" says:"the method that is called"`
	Params Prog          `toml:"params" says:"its params, made of $code"`
	Extra  Prog          `toml:"extra" says:"members beside, an object, made of $extra, which the user gave"`
	Result Prog          `toml:"result" says:"the value, of its result"`
	Error  Prog          `toml:"error" says:"the error that its result is: an object with code and message; nothing where it is none"`
}

// After is what a client says after a notification.
type After struct {
	Event  string `toml:"event" says:"the notification"`
	When   Prog   `toml:"when" says:"nothing is said where this does not hold; its input is the params"`
	Call   string `toml:"call" says:"the method that is called"`
	Params Prog   `toml:"params" says:"its params"`
}

// During says which notifications belong to a call while it runs.
type During struct {
	Token    Prog  `toml:"token" says:"an object that is merged into the params of a call, made of $token"`
	Progress *Item `toml:"progress" says:"progress: {message, fraction}"`
	Log      *Item `toml:"log" says:"a line of a log: {level, message, data, source}"`
	Items    *Item `toml:"items" says:"data"`
}

// An Item recognises the notifications that belong to a call or a stream.
type Item struct {
	Method string `toml:"method" says:"its method, or a pattern"`
	When   Prog   `toml:"when" says:"it belongs to the call or stream for which this holds; its input is the params. Without it: to the only one"`
	Event  Prog   `toml:"event" says:"what is shown of it; its input is the params (.)"`
}

// Cancel says how a call is cancelled.
type Cancel struct {
	Notify string `toml:"notify" says:"the notification that gives it up"`
	Call   string `toml:"call" says:"the call that gives it up"`
	When   Prog   `toml:"when" says:"nothing is said where this does not hold"`
	Params Prog   `toml:"params" says:"its params, made of $id, $method, $params"`
	Except Texts  `toml:"except" says:"methods that are never given up"`
	HTTP   string `toml:"http" of:"send" says:"a call over HTTP is given up in this way, too, and not only by hanging up"`
	// Answer is "none", or the code of the error.
	Answer  any             `toml:"answer" says:"what a call gets that was given up: \"none\", or the code of an error (-32800)"`
	Pending map[string]Prog `toml:"pending" says:"METHOD = a program on the params of a call of the peer that a hook still answers when we give up ours ($params): its answer then. Nothing: the hook goes on"`
}

// Subscribe says which stream a method opens, and how it ends.
type Subscribe struct {
	First bool `toml:"first" says:"the answer to the request is its first item"`
	Item  Item `toml:"item" says:"its items"`
	Until Prog `toml:"until" says:"holds on the params of the item that is the last"`
	End   *End `toml:"end" says:"how it is ended"`
}

// End is what ends a stream.
type End struct {
	Call   string `toml:"call" says:"the method that is called"`
	Notify string `toml:"notify" says:"the notification that is sent"`
	Method string `toml:"method" says:"another word for call"`
	Params Prog   `toml:"params" says:"its params, made of $params, $result (the input) and $id"`
}

// Detect says how a server of the dialect is detected.
type Detect struct {
	First   Texts    `toml:"first" says:"regular expressions that all match its first bytes, or the text of its errors"`
	Unless  string   `toml:"unless" says:"a regular expression that does not match them"`
	Instead Texts    `toml:"instead" says:"the dialects that it may be taken for (any)"`
	Refusal *Refusal `toml:"refusal" says:"how it refuses what is asked in plain JSON-RPC before the greeting"`
}

// Refusal is an error of a server that was not greeted.
type Refusal struct {
	Method string `toml:"method" says:"a regular expression that matches the method that was asked"`
	Error  string `toml:"error" says:"a regular expression that matches the code of the error, a blank and its message"`
	Hint   string `toml:"hint" says:"what is missing, for people"`
}

// Probe says how a server of the dialect is recognised by asking.
type Probe struct {
	Send    Prog  `toml:"send" says:"the whole message that is sent, made of $id; without it the server sends first"`
	Is      Prog  `toml:"is" says:"holds on a message of such a server, and of no other; $request is the message that it answers (null: none)"`
	Session bool  `toml:"session" says:"the message begins a session: only rpcx describe --probe sends it"`
	Lists   bool  `toml:"lists" says:"the result is a list of methods"`
	Hooks   Texts `toml:"hooks" says:"to a client with these hooks a server may offer more: rpcx describe --probe compares"`
}

// HTTP says what makes HTTP exchanges one session.
type HTTP struct {
	Session string           `toml:"session" says:"the header that names a session: what an answer has there goes with each request from then on. A server of the page begins one with the call that must be the first (serve.first)"`
	Again   int              `toml:"again" says:"the status of an answer that only brings that header, such as 409: the message is sent again with it. A server of the page refuses so what comes without its header"`
	Values  map[string]Texts `toml:"values" says:"HEADER = the values of it that a server takes; any other is refused with 400"`
	Prime   Prog             `toml:"prime" says:"holds on the params of that first call where the client takes event streams that begin with an empty event"`
	Headers map[string]Prog  `toml:"headers" says:"HEADER = a program on $kept, that makes its value, a text"`
	Events  string           `toml:"events" of:"GET" says:"what the peer says outside of our exchanges comes in a standing event stream; an answer whose stream ends too early is resumed"`
	End     string           `toml:"end" of:"DELETE" says:"how the session is ended"`
	Resolve *Resolve         `toml:"resolve" says:"how an address of http finds the WebSocket that the conversation is held on"`
}

// Resolve finds a WebSocket.
type Resolve struct {
	Get Texts `toml:"get" says:"the paths that are asked with GET, in order, until one tells"`
	URL Prog  `toml:"url" says:"the WebSocket's URL, made of what is answered. Of it only the path counts: host and port are those of the address"`
}

// Describe is one question about what a peer offers.
type Describe struct {
	Call     string `toml:"call" says:"the method that is called"`
	Get      string `toml:"get" says:"the path that is asked with an HTTP GET, at the host of the WebSocket, in place of a call"`
	Params   Prog   `toml:"params" says:"its params"`
	When     Prog   `toml:"when" says:"it is left out where this does not hold; its input is $kept"`
	Next     *Next  `toml:"next" says:"further pages: result, a program that finds the cursor in the answer, and params, made of it"`
	Methods  Prog   `toml:"methods" says:"what it makes of the answer are methods of the catalog: {name, kind, description, params, result, extra}. Several of one name are one, whose lists go on"`
	Info     Prog   `toml:"info" says:"who the peer is: {name, version, description, extra} of the catalog, made of the answer. What an earlier part has said stays"`
	Optional bool   `toml:"optional" says:"an answer that is an error says that there is none of it"`
	Defs     Prog   `toml:"defs" says:"schemas that the methods refer to, an object: #/$defs/NAME"`
	Partial  string `toml:"partial" says:"why the peer may have methods that this does not list, a clause"`
}

// Next says how the next page of a list is asked for.
type Next struct {
	Result Prog `toml:"result" says:"the cursor in an answer; null or nothing: there is no further page"`
	Params Prog `toml:"params" says:"the params of the next call; the input is the cursor"`
}

// Bridge is how methods of another dialect are offered.
type Bridge struct {
	Name    Prog `toml:"name" says:"a name by which a method can be offered, of its own name"`
	Objects bool `toml:"objects" says:"params must be an object: others become its member params"`
	Whole   bool `toml:"whole" says:"a call is answered by one value: what streams is offered as an array of its items, if it ends"`
}
