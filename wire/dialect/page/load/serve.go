package load

// Serve says how a server of the dialect answers.
type Serve struct {
	First     string                     `toml:"first" says:"the method that a client must call, or notify, before all others. Where nothing else answers it the answer is {}"`
	Early     *Early                     `toml:"early" says:"how a call before first is refused"`
	Answers   map[string]Prog            `toml:"answers" says:"METHOD = a program that makes the result of its params (the input). A hook of that exact name comes first"`
	Get       map[string]Prog            `toml:"get" says:"PATH = a program that makes what a GET of that path is answered with, over http and ws; its input is {url}, the URL of the WebSocket that is listened on. The guards of the listener hold"`
	Calls     map[string]Wrapped         `toml:"calls" says:"a method that wraps the calls of hooks: [serve.calls.METHOD]"`
	Subscribe map[string]Items           `toml:"subscribe" says:"how the stream of [subscribe.METHOD] is written: [serve.subscribe.METHOD]"`
	During    HookEvents                 `toml:"during" says:"how progress and logs of a hook are told"`
	Stop      *Stop                      `toml:"stop" says:"a notification of the client that ends wrapped calls which run, other than by their id"`
	Keep      map[string]map[string]Prog `toml:"keep" says:"[serve.keep.METHOD] NAME = a program on the params: its value is $kept.NAME once that call is answered, and for all that comes behind a notification"`
	Can       Prog                       `toml:"can" says:"the names of the methods that the client answers, an array, of what was kept ($kept) when it has called first"`
	Batches   Prog                       `toml:"batches" says:"holds on $kept where a client may send several messages in one (always, if it is not said)"`
	Silent    Texts                      `toml:"silent" says:"notifications of a client that need no hook; patterns"`
	Close     Texts                      `toml:"close" says:"methods after which the connection is ended, once a request is answered"`
	More      Prog                       `toml:"more" says:"holds where a client takes several answers to one request, made of $params and $extra; else it gets an array of them. See names.response.more"`
	Then      map[string]Say             `toml:"then" says:"what is notified once a method is answered, or the hook of a notification has run: [serve.then.METHOD]"`
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
	Code    int    `toml:"code" says:"the error's code"`
	Message string `toml:"message" says:"its message"`
	Except  Texts  `toml:"except" says:"methods that may be called at any time"`
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

// HookEvents says how a server sends the events of a hook.
type HookEvents struct {
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
