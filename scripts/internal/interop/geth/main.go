// Command geth serves go-ethereum's rpc package on http, ws and a Unix socket (what geth calls IPC), with methods, a
// failing one and a subscription; or it is a client of that package.
//
//	geth SOCKET
//	geth dial URL
//
// The server prints one line when all listen: {"http":"HOST:PORT","unix":"SOCKET"}; ws is on the address of http, below
// /ws.
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

// orders is what the server offers: its methods are called orders_add and so on.
type orders struct{}

// Add is orders_add.
func (orders) Add(a, b int) int { return a + b }

// Echo is orders_echo.
func (orders) Echo(v json.RawMessage) json.RawMessage { return v }

// failure is an error with a code and data.
type failure struct{}

func (failure) Error() string  { return "no such order" }
func (failure) ErrorCode() int { return 4711 }
func (failure) ErrorData() any { return map[string]string{"id": "o_9"} }

// Fail is orders_fail.
func (orders) Fail() error { return failure{} }

// Ticks is orders_subscribe ["ticks", n, ms]: n numbers, ms milliseconds apart, n = 0 being without end.
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
