package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
)

// SpeaksTLS reports whether the server at a host and port answers a TLS handshake, with any certificate. It sends
// nothing else.
func SpeaksTLS(ctx context.Context, hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return false
	}
	conn, err := (&tls.Dialer{Config: &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", hostPort)
	if err == nil {
		_ = conn.Close()
	}
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	return err == nil || errors.As(err, &certificate) || errors.As(err, &alert)
}
