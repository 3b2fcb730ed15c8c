package load

// HTTP defines the sessions, headers and URLs for messages over HTTP.
type HTTP struct {
	Session string           `toml:"session" says:"the header that names a session. A client sends the value from a response with each later request. A server starts a session with the first call (serve.first)"`
	Again   int              `toml:"again" says:"the HTTP status, such as 409, of a response that serves only to deliver that header. A client sends the message again with the header. A server uses this status to reject requests without the header"`
	Values  map[string]Texts `toml:"values" says:"HEADER = the values that a server accepts. It rejects other values with HTTP status 400"`
	Prime   Prog             `toml:"prime" says:"true if the client accepts event streams that begin with an empty event; the input is the params of the first call"`
	When    Prog             `toml:"when" says:"http.headers, http.events and http.end apply if this is true; the input is $kept"`
	Headers map[string]Prog  `toml:"headers" says:"HEADER = a program that makes the header's value, a string, from $kept"`
	Mirror  map[string]Prog  `toml:"mirror" says:"HEADER = a program that makes the header's value, a string, from each message (the input, $method, $params). If the program has no output, rpcx omits the header. If the value contains characters that a header cannot contain, rpcx sends it as =?base64?…?="`
	Events  string           `toml:"events" of:"GET" says:"messages that belong to no request arrive on a permanent event stream, and rpcx resumes a response whose stream ends early"`
	End     string           `toml:"end" of:"DELETE" says:"the HTTP method with which a client ends the session"`
	Resolve *Resolve         `toml:"resolve" says:"how rpcx finds the URL of the WebSocket, or the URL for POST requests, at an http:// endpoint"`
}

// Resolve finds the URL of a WebSocket or for POST requests.
type Resolve struct {
	Get  Texts `toml:"get" says:"the paths that rpcx requests with GET, in order, until a response contains the URL"`
	URL  Prog  `toml:"url" says:"the WebSocket's URL, made from the response. rpcx uses only its path, and takes the host and port from the endpoint"`
	Post Prog  `toml:"post" says:"the URL for POST requests, instead of url, if the endpoint has no path. A URL with another host is an error"`
}

// Requests defines the common parts of a client's requests.
type Requests struct {
	Params Prog `toml:"params" yields:"object|nothing" says:"a program that makes an object from $method and $kept (the input); rpcx merges it into the params of each request from a client. If the program has no output, rpcx adds nothing"`
}

// Input defines how a response requests input for a call, which is then repeated with the input.
type Input struct {
	When      Prog   `toml:"when" says:"true for a result that requests input and is not final"`
	Requests  string `toml:"requests" says:"the member of the result with the requests, an object that maps names to {method, params}. Hooks answer the requests"`
	Responses string `toml:"responses" says:"the member of the next call's params for the results, an object with the same names"`
	Carry     Texts  `toml:"carry" says:"members of the result that the next call repeats in its params"`
	Most      int    `toml:"most" says:"the maximum number of times that a call may request input"`
}
