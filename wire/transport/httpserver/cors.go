package httpserver

import "net/http"

// isPreflight reports whether a request is a browser's CORS preflight.
func (g *guard) isPreflight(r *http.Request, from string) bool {
	return !g.c.NoPosts && from != "" && r.Method == http.MethodOptions
}

// preflight answers a browser's CORS preflight for posting JSON with the allowed methods and headers, including those of MCP
// over HTTP.
func (g *guard) preflight(w http.ResponseWriter, from string) {
	allowOrigin(w, from)
	w.Header().Set("Access-Control-Allow-Methods", g.methods())
	w.Header().Set("Access-Control-Allow-Headers",
		"Content-Type, Authorization, Accept, Mcp-Session-Id, MCP-Protocol-Version, Last-Event-ID")
	w.WriteHeader(http.StatusNoContent)
}

func allowOrigin(w http.ResponseWriter, from string) {
	w.Header().Set("Access-Control-Allow-Origin", from)
	w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id")
	w.Header().Add("Vary", "Origin")
}
