package httpserver

import (
	"net/http"
	"strconv"
)

// isGet reports whether a request is a GET that the dialect itself answers, beside what is
// spoken here.
func (g *guard) isGet(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && g.gets[r.URL.Path] != nil && !isUpgrade(r)
}

// get answers such a GET. The dialect is told where its WebSocket is, by the name under which
// the client has reached us.
func (l *listener) get(w http.ResponseWriter, r *http.Request) {
	from, scheme := serve(r, l.c.Watch), "ws"
	if r.TLS != nil {
		scheme = "wss"
	}
	body, err := l.gets[r.URL.Path](scheme + "://" + r.Host + l.path)
	if err != nil {
		l.c.Warnf("GET %s: %v", r.URL.Path, err)
		refuse(w, http.StatusInternalServerError, "this could not be answered")
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	from.answered(http.StatusOK, h)
	_, _ = w.Write(body)
}
