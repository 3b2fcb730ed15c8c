package httpserver

import (
	"net/http"
	"strconv"
)

// isGet reports whether a request is a GET that the dialect answers itself.
func (g *guard) isGet(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && g.c.Gets[r.URL.Path] != nil && !isUpgrade(r)
}

// get answers such a GET. The dialect gets the URL of its WebSocket, with the host name that the client used.
func (h *handler) get(w http.ResponseWriter, r *http.Request) {
	from, scheme := serve(r, h.c.Watch), "ws"
	if r.TLS != nil {
		scheme = "wss"
	}
	body, err := h.c.Gets[r.URL.Path](scheme + "://" + r.Host + h.path)
	if err != nil {
		h.c.Warnf("GET %s: %v", r.URL.Path, err)
		refuse(w, http.StatusInternalServerError, "internal error")
		return
	}
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("Content-Length", strconv.Itoa(len(body)))
	head.Set("Cache-Control", "no-store")
	from.answered(http.StatusOK, head)
	_, _ = w.Write(body)
}
