// Command qmp is a client of the QEMU Machine Protocol that uses go-qemu. Its argument is the path of the server's socket.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/digitalocean/go-qemu/qmp"
)

func main() {
	m, err := qmp.NewSocketMonitor("unix", os.Args[1], 2*time.Second)
	if err == nil {
		err = m.Connect()
	}
	if err != nil {
		fmt.Println("not connected:", err)
		os.Exit(1)
	}
	defer m.Disconnect()
	for _, command := range []string{
		`{"execute":"query-name"}`, `{"execute":"nosuch"}`, `{"execute":"add","arguments":{"a":1,"b":2}}`,
	} {
		out, err := m.Run([]byte(command))
		fmt.Printf("%s %v\n", out, err)
	}
	events, err := m.Events(nil)
	if err != nil {
		fmt.Println("no events:", err)
		os.Exit(1)
	}
	go func() { _, _ = m.Run([]byte(`{"execute":"stop"}`)) }() // the response arrives after the event
	e := <-events
	fmt.Println("event", e.Event, e.Data)
}
