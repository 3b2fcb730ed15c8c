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

// A seal encrypts the state that the client stores for the server. Only the same caller can return it, and only with the same call.
type seal struct{ aead cipher.AEAD }

// newSeal returns a seal with a key. With a nil key, it uses a random key, and no other process can open the seal.
func newSeal(key []byte) seal {
	if key == nil {
		key = make([]byte, 32)
		_, _ = rand.Read(key) // never fails
	}
	sum := sha256.Sum256(key)
	block, _ := aes.NewCipher(sum[:]) // its length is valid
	aead, _ := cipher.NewGCM(block)
	return seal{aead}
}

// close returns the sealed state of a call, which contains its expiry.
func (s seal) close(state, identity, what string, within time.Duration) string {
	nonce := make([]byte, s.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	plain := binary.BigEndian.AppendUint64(nil, uint64(time.Now().Add(within).UnixMilli()))
	plain = append(plain, state...)
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, plain, bound(identity, what)))
}

// open returns the state.
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

// bound returns the data to which a state is bound.
func bound(identity, what string) []byte { return []byte(identity + "\x00" + what) }

// digest returns the digest of a call without the parts that change with a repetition.
func digest(method string, params json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(scan.Without(scan.OrNull(params), "_meta", "inputResponses", "requestState")))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v) // v is valid JSON
	ordered, _ := json.Marshal(v)
	sum := sha256.Sum256(append([]byte(method+"\x00"), ordered...))
	return hex.EncodeToString(sum[:])
}
