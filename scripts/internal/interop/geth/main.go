// Command geth is a server or a client that uses go-ethereum's rpc package. The server listens on HTTP, WebSocket and a Unix socket
// (which geth calls IPC). It has several methods, one of which fails, and a subscription.
//
//	geth SOCKET
//	geth dial URL
//
// When all listeners are open, the server prints one line: {"http":"HOST:PORT","unix":"SOCKET"}. WebSocket is at the same address as
// http, with the path /ws.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/ethereum/go-ethereum/rpc"
)

// orders is the service of the server. Its methods are named orders_add and so on.
type orders struct{}

// Add implements orders_add.
func (orders) Add(a, b int) int { return a + b }

// Echo implements orders_echo.
func (orders) Echo(v json.RawMessage) json.RawMessage { return v }

// failure is an error with a code and data.
type failure struct{}

func (failure) Error() string  { return "no such order" }
func (failure) ErrorCode() int { return 4711 }
func (failure) ErrorData() any { return map[string]string{"id": "o_9"} }

// Fail implements orders_fail.
func (orders) Fail() error { return failure{} }

// Ticks implements orders_subscribe ["ticks", n, ms]. It sends n numbers, one every ms milliseconds. If n is 0, it does not end.
func (orders) Ticks(ctx context.Context, n, ms int) (*rpc.Subscription, error) {
	notifier, ok := rpc.NotifierFromContext(ctx)
	if !ok {
		return nil, rpc.ErrNotificationsUnsupported
	}
	sub := notifier.CreateSubscription()
	go func() {
		for i := 0; n == 0 || i < n; i++ {
			select {
			case <-sub.Err(): // unsubscribed, or the connection has gone
				fmt.Println("unsubscribed after some")
				return
			case <-time.After(time.Duration(ms) * time.Millisecond):
			}
			if notifier.Notify(sub.ID, map[string]int{"number": i}) != nil {
				return
			}
		}
	}()
	return sub, nil
}

func main() {
	log.SetFlags(0)
	if len(os.Args) > 2 && os.Args[1] == "dial" {
		if err := dial(os.Args[2], os.Args[3:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	server := rpc.NewServer()
	if err := server.RegisterName("orders", orders{}); err != nil {
		log.Fatal(err)
	}
	socket := os.Args[1]
	unix, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(server.ServeListener(unix)) }()

	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", server)
	mux.Handle("/ws", server.WebsocketHandler([]string{"*"}))
	fmt.Printf("{\"http\":\"%s\",\"unix\":\"%s\"}\n", tcp.Addr(), socket)
	log.Fatal(http.Serve(tcp, mux))
}
