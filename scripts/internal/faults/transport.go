//go:build linux

package main

// A transport is a way to reach the peer.
type transport struct {
	name    string
	scheme  string
	carrier func(*peer, *link) error
	tls     bool
	child   bool // the peer is a child of rpcx
	ws      bool
	http    bool
	events  bool // HTTP responses are event streams
	listen  string
}

var transports = []*transport{
	{name: "ws", scheme: "ws://", carrier: overWS, ws: true, listen: "ws://127.0.0.1:0/"},
	{name: "wss", scheme: "wss://", carrier: overWS, ws: true, tls: true, listen: "ws://127.0.0.1:0/"},
	{name: "http", scheme: "http://", carrier: overHTTP, http: true, listen: "http://127.0.0.1:0/"},
	{name: "https", scheme: "https://", carrier: overHTTP, http: true, tls: true, listen: "http://127.0.0.1:0/"},
	{name: "sse", scheme: "http://", carrier: overHTTP, http: true, events: true, listen: "http://127.0.0.1:0/"},
	{name: "tcp", scheme: "tcp://", carrier: overLines, listen: "tcp://127.0.0.1:0"},
	{name: "tls", scheme: "tls://", carrier: overLines, tls: true, listen: "tcp://127.0.0.1:0"},
	{name: "unix", scheme: "unix:", carrier: overLines, listen: "unix:{dir}/listen"},
	{name: "exec", scheme: "exec:", carrier: overLines, child: true, listen: "tcp://127.0.0.1:0"},
	{name: "ipc", scheme: "ipc:", carrier: overLines, child: true, listen: "tcp://127.0.0.1:0"},
}
