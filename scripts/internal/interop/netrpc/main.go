// Command netrpc is a server, and with -call a client, of Go's own net/rpc/jsonrpc.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/rpc"
	"net/rpc/jsonrpc"
)

// Args are what Arith's methods take.
type Args struct{ A, B int }

// Arith is the service of net/rpc's own documentation.
type Arith struct{}

// Multiply multiplies.
func (Arith) Multiply(args *Args, reply *int) error {
	*reply = args.A * args.B
	return nil
}

// Divide divides.
func (Arith) Divide(args *Args, reply *int) error {
	if args.B == 0 {
		return errors.New("divide by zero")
	}
	*reply = args.A / args.B
	return nil
}

func main() {
	call := flag.String("call", "", "the address of a server whose methods are called")
	flag.Parse()
	if *call != "" {
		client(*call)
		return
	}
	if err := rpc.Register(Arith{}); err != nil {
		log.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("{\"port\":%d}\n", l.Addr().(*net.TCPAddr).Port)
	for {
		conn, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go jsonrpc.ServeConn(conn)
	}
}

func client(address string) {
	c, err := jsonrpc.Dial("tcp", address)
	if err != nil {
		log.Fatal(err)
	}
	for _, method := range []string{"Arith.Multiply", "Arith.Divide", "Arith.None"} {
		var reply int
		err := c.Call(method, Args{7, 8}, &reply)
		fmt.Println(method, reply, err)
	}
}
