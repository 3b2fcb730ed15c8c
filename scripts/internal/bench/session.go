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
	"strings"
)

// sessions compares a call through a session with one on a connection of its
// own, over ws and over wss. What the session's process does is not in the CPU
// time, but in the wall clock's.
func sessions(t *table, rpcx, dir, ws string, runs int) error {
	run := filepath.Join(dir, "run")
	if err := os.Mkdir(run, 0o700); err != nil {
		return err
	}
	if err := os.Setenv("XDG_RUNTIME_DIR", run); err != nil {
		return err
	}
	wss, ca, stop, err := listenTLS(rpcx, dir)
	if err != nil {
		return err
	}
	defer stop()
	for _, own := range [][]string{{ws}, {wss, "--cacert", ca}} {
		scheme, _, _ := strings.Cut(own[0], ":")
		if out, err := exec.Command(rpcx, append([]string{"connect", "--session", scheme}, own...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("opening a session: %w: %s", err, out)
		}
		err := t.measure(runs, msPerRun,
			program{"one call through a session over " + scheme, job{args: []string{rpcx, "call", "@" + scheme, "echo", "[1]"}}},
			program{"the same on its own connection", job{args: append([]string{rpcx, "call", own[0], "echo", "[1]"}, own[1:]...)}})
		if closed := exec.Command(rpcx, "session", "close", scheme).Run(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// listenTLS starts a server with a certificate of this machine's own, which ca
// holds.
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
	cmd := exec.Command(rpcx, "serve", "wss://127.0.0.1:0/", "--cert", ca, "--key", keyFile, "--on", "echo=jq:.")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", "", nil, err
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
		return "", "", nil, fmt.Errorf("the TLS server did not start: %w", err)
	}
	return said.Listening, ca, stop, nil
}
