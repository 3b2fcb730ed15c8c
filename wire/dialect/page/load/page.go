// Package load reads pages: dialects that are written as data, in TOML with jq
// programs (rpcx-page(5)). Its errors name the line, the member and what was
// expected.
//
// The struct tags of this package's types are the only table of what a page can
// say: the names of the members, their choices and the manual's words.
package load

import "rpcx/wire/dialect/page/program"

// A Page is the text of a page, decoded.
type Page struct {
	Name         string   `toml:"name" says:"the dialect's name, as endpoints have it before +; must match [a-z][a-z0-9-]*"`
	Source       string   `toml:"source" says:"where the protocol is written down, for people"`
	Base         string   `toml:"base" of:"jsonrpc|jsonrpc1|none" says:"the dialect that holds for what the page does not say (jsonrpc)"`
	Framing      string   `toml:"framing" says:"the framing of streams of bytes whose endpoint names none (line)"`
	Subprotocols []string `toml:"subprotocols" says:"what a WebSocket is asked to speak"`

	Flow  string `toml:"flow" of:"mcp" says:"what needs more than data: mcp has tasks, which are jobs (rpcx job)"`
	Typed bool   `toml:"typed" says:"the peer is asked what it offers before a call: key=5 becomes what a method's schema wants"`

	Names     *Names                     `toml:"names" says:"the members of messages, where they are not those of the base. Each is a dotted path"`
	Write     Write                      `toml:"write" says:"whole messages, where names do not say how they are written. A program each, whose input is null"`
	Read      []Read                     `toml:"read" says:"messages that names do not tell. Of several the first whose condition holds counts. A program each, whose input is the message"`
	Greet     []Step                     `toml:"greet" says:"the greeting of a client: its steps in order, each one of call, notify and await"`
	Leave     []Step                     `toml:"leave" says:"the goodbye of a client, likewise"`
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
	Bridge    Bridge                     `toml:"bridge" says:"how methods of another dialect are offered in this one (serve LISTEN --to E)"`
	Rules     map[string]any             `toml:"rules" says:"what rpcx validate holds conversations against, beside the rules of the base: except, defs, about, [[rules.keep]], [[rules.rule]], see rpcx-rules(7)"`
}

// A Prog is a program in a page. It is a pointer, nil if the page has none
// there.
type Prog = *program.Program

// Names say which members of messages hold what.
type Names struct {
	Request  Members  `toml:"request" says:"of a request: method, params, id, const"`
	Response Members  `toml:"response" says:"of an answer: id, result, error, and below it code, message, data; method, which repeats that of the request; const"`
	Event    Members  `toml:"event" says:"of a notification: method, params, const"`
	OK       *OK      `toml:"ok" says:"the member that tells results from errors by its value"`
	Params   string   `toml:"params" of:"object|array|one|flat|prefixed" says:"how params are sent: as they are given (object), as an array, as an array of exactly one element, as members of the message itself, as an array with the method in front"`
	None     string   `toml:"none" of:"omit|{}|[]|null" says:"what is sent where no params are given (omit)"`
	IDs      string   `toml:"ids" of:"integer|string|none" says:"what ids are made (integer); none: answers come in the order of their requests"`
	Counter  string   `toml:"counter" of:"calls|all" says:"what takes an id: requests (calls), or each message that is written (all)"`
	Batches  bool     `toml:"batches" says:"an array is several messages"`
	Extra    []string `toml:"extra" says:"members beside them, which users give (--extra NAME=VALUE) and events have in extra; an answer repeats those of its request"`
	Sentinel bool     `toml:"sentinel" says:"on a line, what stands before the last byte 0xFF is no part of the message"`
}

// Members name the members of one kind of message. Each is a dotted path.
type Members struct {
	Method  string         `toml:"method" says:"what holds the method"`
	Params  string         `toml:"params" says:"what holds the params"`
	ID      string         `toml:"id" says:"what holds the id"`
	Result  string         `toml:"result" says:"what holds the result"`
	Error   string         `toml:"error" says:"what is there where the call failed"`
	Code    string         `toml:"code" says:"the error's code"`
	Message string         `toml:"message" says:"the error's message"`
	Data    string         `toml:"data" says:"what else the error says"`
	More    string         `toml:"more" says:"of an answer: what is true where further answers to the same request follow, which makes it one item of several"`
	Const   map[string]any `toml:"const" says:"members with values that never change"`
}

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
	Hello   Prog `toml:"hello" says:"what a server says before anything else"`
}

// Read is a rule that recognises a kind of message and reads it.
type Read struct {
	When   Prog   `toml:"when" says:"it is such a message where this holds"`
	Kind   string `toml:"kind" of:"response|request|notification|cancel" says:"what it is"`
	ID     Prog   `toml:"id" says:"its id; of a cancel, that of the request"`
	Method Prog   `toml:"method" says:"its method"`
	Params Prog   `toml:"params" says:"its params"`
	Result Prog   `toml:"result" says:"its result"`
	Error  Prog   `toml:"error" says:"its error, an object with code and message, or a text; nothing where it is none"`
}

// A Step is one message of a greeting or a goodbye.
type Step struct {
	Call     string           `toml:"call" says:"the method that is called, and answered before the next step"`
	Notify   string           `toml:"notify" says:"the notification that is sent"`
	Await    Prog             `toml:"await" says:"a condition: the message that is awaited, of all that came since the connection is open"`
	Params   Prog             `toml:"params" says:"its params"`
	When     Prog             `toml:"when" says:"the step is left out where this does not hold; its input is $kept"`
	Wait     *bool            `toml:"wait" says:"false: the answer is not awaited before the next step, but before the greeting is over"`
	Optional bool             `toml:"optional" says:"an answer that is an error, or that nothing comes of an await within, is no failure: nothing is kept of it"`
	Within   string           `toml:"within" says:"how long an await takes at most, such as 500ms"`
	For      []string         `toml:"for" of:"eval" says:"the step is taken, once, before the first operation of this kind, and not with the greeting"`
	Accept   map[string][]any `toml:"accept" says:"PROGRAM = values: what it makes of the answer must be one of them, else the status is 5"`
	Keep     map[string]Prog  `toml:"keep" says:"NAME = a program on the answer, or on the message that was awaited: its value is $kept.NAME from here on"`
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
	First  []Step `toml:"first" says:"calls before it, each time, whose answers keep values: the steps are those of a greeting"`
	Call   string `toml:"call" says:"the method that is called"`
	Params Prog   `toml:"params" says:"its params, made of $code"`
	Extra  Prog   `toml:"extra" says:"members beside, an object, made of $extra, which the user gave"`
	Result Prog   `toml:"result" says:"the value, of its result"`
	Error  Prog   `toml:"error" says:"the error that its result is: an object with code and message; nothing where it is none"`
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
	Notify string   `toml:"notify" says:"the notification that gives it up"`
	Call   string   `toml:"call" says:"the call that gives it up"`
	When   Prog     `toml:"when" says:"nothing is said where this does not hold"`
	Params Prog     `toml:"params" says:"its params, made of $id, $method, $params"`
	Except []string `toml:"except" says:"methods that are never given up"`
	HTTP   string   `toml:"http" of:"send" says:"a call over HTTP is given up in this way, too, and not only by hanging up"`
	// Answer is "none", or the code of the error.
	Answer  any             `toml:"answer" says:"what a call gets that was given up: \"none\", or the code of an error (-32800)"`
	Pending map[string]Prog `toml:"pending" says:"METHOD = a program on the params of a call of the peer that a hook still answers when we give up ours ($params): its answer then. Nothing: the hook goes on"`
}

// Subscribe says which stream a method opens, and how it ends.
type Subscribe struct {
	First bool  `toml:"first" says:"the answer to the request is its first item"`
	Item  Item  `toml:"item" says:"its items"`
	Until Prog  `toml:"until" says:"holds on the params of the item that is the last"`
	End   *Step `toml:"end" says:"how it is ended: call or notify, and params made of $params, $result and $id"`
}

// HTTP says what makes HTTP exchanges one session.
type HTTP struct {
	Session string              `toml:"session" says:"the header that names a session: what an answer has there goes with each request from then on. A server of the page begins one with the call that must be the first (serve.first)"`
	Again   int                 `toml:"again" says:"the status of an answer that only brings that header, such as 409: the message is sent again with it. A server of the page refuses so what comes without its header"`
	Values  map[string][]string `toml:"values" says:"HEADER = the values of it that a server takes; any other is refused with 400"`
	Prime   Prog                `toml:"prime" says:"holds on the params of that first call where the client takes event streams that begin with an empty event"`
	Headers map[string]Prog     `toml:"headers" says:"HEADER = a program on $kept, that makes its value, a text"`
	Events  string              `toml:"events" of:"GET" says:"what the peer says outside of our exchanges comes in a standing event stream; an answer whose stream ends too early is resumed"`
	End     string              `toml:"end" of:"DELETE" says:"how the session is ended"`
	Resolve *Resolve            `toml:"resolve" says:"how an address of http finds the WebSocket that the conversation is held on"`
}

// Resolve finds a WebSocket.
type Resolve struct {
	Get []string `toml:"get" says:"the paths that are asked with GET, in order, until one tells"`
	URL Prog     `toml:"url" says:"the WebSocket's URL, made of what is answered. Of it only the path counts: host and port are those of the address"`
}

// Describe is one question about what a peer offers.
type Describe struct {
	Call     string `toml:"call" says:"the method that is called"`
	Get      string `toml:"get" says:"the path that is asked with an HTTP GET, at the host of the WebSocket, in place of a call"`
	Params   Prog   `toml:"params" says:"its params"`
	When     Prog   `toml:"when" says:"it is left out where this does not hold; its input is $kept"`
	Next     *Next  `toml:"next" says:"further pages: result, a program that finds the cursor in the answer, and params, made of it"`
	Methods  Prog   `toml:"methods" says:"what it makes of the answer are methods of the catalog: {name, kind, description, params, result, extra}. Several of one name are one, whose lists go on"`
	Optional bool   `toml:"optional" says:"an answer that is an error says that there is none of it"`
	Defs     Prog   `toml:"defs" says:"schemas that the methods refer to, an object: #/$defs/NAME"`
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

// Serve says how a server of the dialect answers.
type Serve struct {
	First     string                     `toml:"first" says:"the method that a client must call before all others"`
	Early     *Early                     `toml:"early" says:"how a call before first is refused"`
	Answers   map[string]Prog            `toml:"answers" says:"METHOD = a program that makes the result of its params (the input). A hook of that exact name comes first"`
	Get       map[string]Prog            `toml:"get" says:"PATH = a program that makes what a GET of that path is answered with, over http and ws; its input is {url}, the URL of the WebSocket that is listened on. The guards of the listener hold"`
	Calls     map[string]Wrapped         `toml:"calls" says:"a method that wraps the calls of hooks: [serve.calls.METHOD]"`
	Subscribe map[string]Items           `toml:"subscribe" says:"how the stream of [subscribe.METHOD] is written: [serve.subscribe.METHOD]"`
	During    Told                       `toml:"during" says:"how progress and logs of a hook are told"`
	Stop      *Stop                      `toml:"stop" says:"a notification of the client that ends wrapped calls which run, other than by their id"`
	Keep      map[string]map[string]Prog `toml:"keep" says:"[serve.keep.METHOD] NAME = a program on the params: its value is $kept.NAME from that call on"`
	Can       Prog                       `toml:"can" says:"the names of the methods that the client answers, an array, of what was kept ($kept) when it has called first"`
	Batches   Prog                       `toml:"batches" says:"holds on $kept where a client may send several messages in one (always, if it is not said)"`
	Silent    []string                   `toml:"silent" says:"notifications of a client that need no hook; patterns"`
	Close     []string                   `toml:"close" says:"methods after which the connection is ended, once a request is answered"`
	More      Prog                       `toml:"more" says:"holds where a client takes several answers to one request, made of $params and $extra; else it gets an array of them. See names.response.more"`
	Then      map[string]Say             `toml:"then" says:"what is notified once a method is answered: [serve.then.METHOD]"`
}

// Stop recognises a notification that ends calls which run.
type Stop struct {
	Notify string `toml:"notify" says:"its method"`
	When   Prog   `toml:"when" says:"it ends the call for whose $params this holds; its input is its params"`
	Result Prog   `toml:"result" says:"what the call is answered with"`
}

// Early is the error for a call that the page does not allow, such as one that
// comes too early.
type Early struct {
	Code    int      `toml:"code" says:"the error's code"`
	Message string   `toml:"message" says:"its message"`
	Except  []string `toml:"except" says:"methods that may be called at any time"`
}

// Wrapped says how a server takes a wrapped call apart.
type Wrapped struct {
	Method  Prog   `toml:"method" says:"the name of the hook, of the params"`
	Params  Prog   `toml:"params" says:"the params of the hook, of the params"`
	Result  Prog   `toml:"result" says:"the result, made of the hook's (the input) and of $schema"`
	Checked Prog   `toml:"checked" says:"what of the hook's result has to fit its schema in the catalog (all of it); no output: nothing"`
	Error   Prog   `toml:"error" says:"the result that says that the hook failed, made of $error"`
	Unknown *Early `toml:"unknown" says:"the error where no hook has that name"`
}

// Items says how a server answers the request for a stream.
type Items struct {
	Method Prog `toml:"method" says:"the method of an item, where the page names only a pattern; made as its params are"`
	Result Prog `toml:"result" says:"the answer to the request, where it is not the first item"`
	Params Prog `toml:"params" says:"the params of an item, made of what the hook says (the input), of $params and of $result"`
}

// Told says how a server sends the events of a hook.
type Told struct {
	Token    Prog `toml:"token" says:"what stands for the call, of the params of the request; without it no progress is told"`
	Begin    *Say `toml:"begin" says:"what is said before the first progress of a call, made of $token"`
	Progress *Say `toml:"progress" says:"progress, made of $event and $token"`
	End      *Say `toml:"end" says:"what is said after the last progress of a call, made of $token"`
	Log      *Say `toml:"log" says:"a line of a log, likewise"`
	Items    *Say `toml:"items" says:"data that a hook of lines gives before its last, likewise"`
}

// Say says how one notification is written.
type Say struct {
	When   Prog   `toml:"when" says:"it is said where this holds; its input is $event"`
	Method string `toml:"method" says:"its method"`
	Params Prog   `toml:"params" says:"its params"`
}
