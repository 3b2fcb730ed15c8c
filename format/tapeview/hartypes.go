package tapeview

// These types have the members of HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/) for which a tape has
// values. Unknown sizes are -1.

type harFile struct {
	Log harLog `json:"log"`
}

type harLog struct {
	Version string     `json:"version"`
	Creator harCreator `json:"creator"`
	Entries []harOut   `json:"entries"`
}

type harCreator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type harOut struct {
	Started  string       `json:"startedDateTime"`
	Time     float64      `json:"time"` // in milliseconds, as are all times except those of messages
	Request  harRequest   `json:"request"`
	Response harResponse  `json:"response"`
	Cache    struct{}     `json:"cache"`
	Timings  harTimings   `json:"timings"`
	Remote   string       `json:"serverIPAddress,omitempty"`
	Type     string       `json:"_resourceType"`
	Messages []harMessage `json:"_webSocketMessages,omitempty"`
}

type harRequest struct {
	Method      string     `json:"method"`
	URL         string     `json:"url"`
	Version     string     `json:"httpVersion"`
	Cookies     []harPair  `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	Query       []harPair  `json:"queryString"`
	Post        *harPosted `json:"postData,omitempty"`
	HeadersSize int        `json:"headersSize"`
	BodySize    int        `json:"bodySize"`
}

type harPosted struct {
	Type string `json:"mimeType"`
	Text string `json:"text"`
}

type harResponse struct {
	Status      int        `json:"status"`
	StatusText  string     `json:"statusText"`
	Version     string     `json:"httpVersion"`
	Cookies     []harPair  `json:"cookies"`
	Headers     []harPair  `json:"headers"`
	Content     harContent `json:"content"`
	Redirect    string     `json:"redirectURL"`
	HeadersSize int        `json:"headersSize"`
	BodySize    int        `json:"bodySize"`
	Error       string     `json:"_error,omitempty"`
}

type harContent struct {
	Size int    `json:"size"`
	Type string `json:"mimeType"`
	Text string `json:"text,omitempty"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type harTimings struct {
	Blocked float64 `json:"blocked"`
	DNS     float64 `json:"dns"`
	Connect float64 `json:"connect"`
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
	SSL     float64 `json:"ssl"`
}

// A harMessage is a WebSocket message as Chromium writes it. Its time is in seconds since 1970. Its opcode is 1 for
// text and 2 for bytes, which are in base64.
type harMessage struct {
	Type   string  `json:"type"`
	Time   float64 `json:"time"`
	Opcode int     `json:"opcode"`
	Data   string  `json:"data"`
}
