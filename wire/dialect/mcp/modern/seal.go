package modern

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"time"

	"rpcx/wire"
	"rpcx/wire/scan"
)

// A seal encrypts state that clients store for the server. The state is valid only for the client and the call that it was made
// for.
type seal struct{ aead cipher.AEAD }

// newSeal returns a seal with a key. If key is nil, it uses a random key, and the state is valid only in this process.
func newSeal(key []byte) seal {
	if key == nil {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails
	}
	sum := sha256.Sum256(key)
	block, _ := aes.NewCipher(sum[:]) // the key length is valid
	aead, _ := cipher.NewGCM(block)
	return seal{aead}
}

// close encrypts the state of a call, together with the time when it expires. identity names the client, and what is
// the digest of the call.
func (s seal) close(state, identity, what string, within time.Duration) string {
	nonce := make([]byte, s.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	plain := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(within).UnixMilli()))
	plain = append(plain, state...)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, plain, bound(identity, what)))
}

// open decrypts a state.
func (s seal) open(sealed, identity, what string) (string, error) {
	wrong := wire.NewError(wire.CodeInvalidParams, "requestState is not valid for this call")
	b, err := base64.RawURLEncoding.DecodeString(sealed)
	n := s.aead.NonceSize()
	if err != nil || len(b) < n {
		return "", wrong
	}
	plain, err := s.aead.Open(nil, b[:n], b[n:], bound(identity, what))
	if err != nil || len(plain) < 8 {
		return "", wrong
	}
	if end := time.UnixMilli(int64(binary.BigEndian.Uint64(plain))); time.Now().After(end) {
		return "", wire.NewError(wire.CodeInvalidParams, "requestState has expired")
	}
	return string(plain[8:]), nil
}

// bound returns the data that an encrypted state is bound to.
func bound(identity, what string) []byte { return []byte(identity + "\x00" + what) }

// digest returns a digest of a call without the parts that differ when the call is repeated.
func digest(method string, params json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(scan.Without(scan.OrNull(params), "_meta", "inputResponses", "requestState")))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v) // v is valid JSON
	ordered, _ := json.Marshal(v)
	sum := sha256.Sum256(append([]byte(method+"\x00"), ordered...))
	return hex.EncodeToString(sum[:])
}
