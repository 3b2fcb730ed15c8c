package load

// HTTP defines which HTTP exchanges form a session.
type HTTP struct {
	Session string           `toml:"session" says:"the header that names a session: its value in a response is sent with each request from then on. A server starts a session with the first call (serve.first)"`
	Again   int              `toml:"again" says:"the status of a response whose only purpose is that header, such as 409: rpcx sends the message again with the header. A server rejects requests without the header with this status"`
	Values  map[string]Texts `toml:"values" says:"HEADER = the values that a server accepts; it rejects other values with 400"`
	Prime   Prog             `toml:"prime" says:"a program on the params of the first call: true if the client accepts event streams that begin with an empty event"`
	When    Prog             `toml:"when" says:"headers, events and end apply if this is true; its input is $kept"`
	Headers map[string]Prog  `toml:"headers" says:"HEADER = a program on $kept that makes its value, a string"`
	Mirror  map[string]Prog  `toml:"mirror" says:"HEADER = a program that makes its value, a string, from each message (the input, $method, $params); no output: no header. A value that a header cannot hold is sent as =?base64?…?="`
	Events  string           `toml:"events" of:"GET" says:"GET: messages that belong to no request arrive on a permanent event stream; a response whose stream ends early is resumed"`
	End     string           `toml:"end" of:"DELETE" says:"how a client ends the session"`
	Resolve *Resolve         `toml:"resolve" says:"how rpcx finds the URL of the WebSocket, or the URL for POST requests, at an http:// endpoint"`
}

// Resolve finds the URL of a WebSocket or for POST requests.
type Resolve struct {
	Get  Texts `toml:"get" says:"the paths that rpcx requests with GET, in order, until a response contains the URL"`
	URL  Prog  `toml:"url" says:"the WebSocket's URL, made from the response. Only its path is used; host and port are those of the endpoint"`
	Post Prog  `toml:"post" says:"instead of url: the URL for POST requests, if the endpoint has no path. A URL with another host is an error"`
}

// Requests defines the common parts of a client's requests.
type Requests struct {
	Params Prog `toml:"params" says:"an object that is merged into the params of each request of a client, made from $kept (the input) and $method; no output: nothing is added"`
}

// Input defines how a response requests input for a call, which is then repeated with the input.
type Input struct {
	When      Prog   `toml:"when" says:"true for a result that is not final, but requests input"`
	Requests  string `toml:"requests" says:"the member of the result with the requests: an object of {method, params} by name, which hooks answer"`
	Responses string `toml:"responses" says:"the member of the next call's params that receives the results, by the same names"`
	Carry     Texts  `toml:"carry" says:"members of the result that the next call repeats in its params"`
	Most      int    `toml:"most" says:"how many times a call may request input"`
}
