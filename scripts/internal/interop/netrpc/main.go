// Command netrpc is a server that uses Go's net/rpc/jsonrpc. With -call, it is a client.
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

// Args has the arguments of Arith's methods.
type Args struct{ A, B int }

// Arith is the example service in the documentation of net/rpc.
type Arith struct{}

// Multiply returns the product of A and B.
func (Arith) Multiply(args *Args, reply *int) error {
	*reply = args.A * args.B
	return nil
}

// Divide returns the quotient of A and B, or an error if B is zero.
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
