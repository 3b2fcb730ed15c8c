package main

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
)

// session opens a session for the lifetime of l. The work of the session's process is part of a call's elapsed time, but not of its
// CPU time.
func (l *lab) session(name string, endpoint ...string) error {
	run := l.at("run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		return err
	}
	if err := os.Setenv("XDG_RUNTIME_DIR", run); err != nil {
		return err
	}
	words := append([]string{"connect", "--session", name}, endpoint...)
	if out, err := exec.Command(l.at("rpcx"), words...).CombinedOutput(); err != nil {
		return fmt.Errorf("opening a session: %w: %s", err, out)
	}
	l.ends = append(l.ends, func() { _ = exec.Command(l.at("rpcx"), "session", "close", name).Run() })
	return nil
}

// sessionRows measure calls through a session where opening a connection is expensive.
func sessionRows() []row {
	return []row{{
		name: "session-wss", what: "one call over wss through a session", unit: wallPerRun, n: size{1, 1}, runs: callRuns,
		clients: func(l *lab, _ int) ([]client, error) {
			wss, ca, stop, err := listenTLS(l.at("rpcx"), l.dir)
			if err != nil {
				return nil, err
			}
			l.ends = append(l.ends, stop)
			if err := l.session("wss", wss, "--cacert", ca); err != nil {
				return nil, err
			}
			return []client{
				{"rpcx", l.rpcx("call", "@wss", "echo", "[1]")},
				{"rpcx on its own connection", l.rpcx("call", wss, "echo", "[1]", "--cacert", ca)},
			}, nil
		},
	}}
}

// listenTLS starts a server with a certificate of its own, and writes the certificate to the file ca.
func listenTLS(rpcx, dir string) (url, ca string, stop func(), err error) {
	s := httptest.NewTLSServer(nil) // for its certificate
	defer s.Close()
	pair := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		return "", "", nil, err
	}
	ca, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	err = errors.Join(
		os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]}), 0o600),
		os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
	if err != nil {
		return "", "", nil, err
	}
	url, stop, err = serve(rpcx, "wss://127.0.0.1:0/", "--cert", ca, "--key", keyFile, "--on", "echo=jq:.")
	return url, ca, stop, err
}

// serve starts rpcx as a server, and returns its URL.
func serve(rpcx string, args ...string) (url string, stop func(), err error) {
	cmd := exec.Command(rpcx, append([]string{"serve"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	var said struct {
		Listening string `json:"listening"`
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &said)
	}
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("the server did not start: %w", err)
	}
	return said.Listening, stop, nil
}
