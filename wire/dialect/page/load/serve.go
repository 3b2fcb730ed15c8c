package load

// Serve defines how a server responds.
type Serve struct {
	First     string                     `toml:"first" says:"the method that a client must call, or notify, before all others. Without a hook or program, its result is {}"`
	Early     *Early                     `toml:"early" says:"the error for a request that arrives before the call of first has succeeded"`
	Answers   map[string]Prog            `toml:"answers" says:"METHOD = a program that makes the result from the params, which are its input. A hook with that exact name takes precedence"`
	Get       map[string]Prog            `toml:"get" says:"PATH = a program that makes the response to a GET request for that path, over http and ws; the input is {url}, the WebSocket's URL. The listener checks these requests like all others"`
	Calls     map[string]Wrapped         `toml:"calls" says:"[serve.calls.METHOD] defines a method that wraps calls to hooks"`
	Subscribe map[string]Items           `toml:"subscribe" says:"[serve.subscribe.METHOD] defines how the server writes the stream of [subscribe.METHOD]"`
	During    HookEvents                 `toml:"during" says:"how the server sends the progress and logs of a hook"`
	Stop      *Stop                      `toml:"stop" says:"a notification from the client that ends running wrapped calls without naming their ids"`
	Keep      map[string]map[string]Prog `toml:"keep" says:"[serve.keep.METHOD] NAME = a program whose input is the params; its output becomes $kept.NAME after the response to that call, or after the notification"`
	Can       Prog                       `toml:"can" says:"an array of the methods that the client answers, made from $kept after the call of first"`
	Batches   Prog                       `toml:"batches" says:"true if a client may send batches, made from $kept (by default, true)"`
	Silent    Texts                      `toml:"silent" says:"patterns of notifications that need no hook"`
	Close     Texts                      `toml:"close" says:"methods after which the server closes the connection; for a request, after its response"`
	More      Prog                       `toml:"more" says:"true if the client accepts several responses to the request, made from $params and $extra. Otherwise the client gets an array. See names.response.more"`
	Then      map[string]Say             `toml:"then" says:"[serve.then.METHOD] defines a notification that the server sends after the response to a call of that method, or after the hook for a notification"`
}

// Stop recognizes a notification that ends calls.
type Stop struct {
	Notify string `toml:"notify" says:"the method"`
	When   Prog   `toml:"when" says:"true for the $params of a call that the notification ends; the input is the notification's params"`
	Result Prog   `toml:"result" says:"the result of the call"`
}

// Early is the error for a call that is not allowed before the first call.
type Early struct {
	Code    int    `toml:"code" says:"the error's code"`
	Message string `toml:"message" says:"the error's message"`
	Except  Texts  `toml:"except" says:"methods that may be called at any time"`
}

// Wrapped defines how a server answers a call that wraps another one.
type Wrapped struct {
	Method  Prog   `toml:"method" says:"the name of the hook, made from the params of the call"`
	Params  Prog   `toml:"params" says:"the hook's params, made from the params of the call"`
	Result  Prog   `toml:"result" says:"the result, made from $schema and the hook's result, which is the input"`
	Checked Prog   `toml:"checked" says:"the part of the hook's result that must conform to its schema in the catalog (by default, all of it). If the program has no output, rpcx checks nothing"`
	Error   Prog   `toml:"error" says:"the result for a failed hook, made from $error"`
	Unknown *Early `toml:"unknown" says:"the error if no hook has that name"`
}

// Items defines how a server answers the request for a stream.
type Items struct {
	Hooks   Prog   `toml:"hooks" says:"the names of the hooks whose data are the items, made from the params of the request. rpcx ignores hooks that do not stream. In the other programs, $name is the name of the hook. A client ends the stream with a message whose params contain that name"`
	Method  Prog   `toml:"method" says:"the method of an item, if the file has only a pattern for it, made from the same values as the params of the item"`
	Result  Prog   `toml:"result" says:"the response to the request, if the response is not the first item"`
	Params  Prog   `toml:"params" says:"the params of an item, made from $params, $result and the hook's output, which is the input"`
	Unknown *Early `toml:"unknown" says:"the error for a request to end a stream that does not exist (by default, rpcx returns the result {})"`
}

// HookEvents defines how a server sends the events of a hook.
type HookEvents struct {
	Token    Prog `toml:"token" says:"the token of the call, made from the params of the request. Without a token, the server sends no progress"`
	Begin    *Say `toml:"begin" says:"the message before the first progress of a call, made from $token"`
	Progress *Say `toml:"progress" says:"the message with progress, made from $event and $token"`
	End      *Say `toml:"end" says:"the message after the last progress of a call, made from $token"`
	Log      *Say `toml:"log" says:"the message with a log line, made from $event and $token"`
	Items    *Say `toml:"items" says:"the message with a data event of a hook, made from $event and $token. The last data event is not sent as an item, because it is the result, unless result in [serve.calls.METHOD] makes the result"`
}

// Say defines one notification.
type Say struct {
	When   Prog   `toml:"when" says:"the server sends the message if this is true; the input is $event"`
	Method string `toml:"method" says:"the method"`
	Params Prog   `toml:"params" says:"the params"`
}
