package program

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
)

// hashed implements hash(NAME; FORM) and hmac(NAME; KEY; FORM), which return the hash of the input, as the response to a
// challenge or as a signature.
func hashed(_ context.Context, input any, args []any) (any, error) {
	makers := map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New}
	forms := map[string]func([]byte) string{"hex": hex.EncodeToString, "base64": base64.StdEncoding.EncodeToString}
	text, ok := input.(string)
	name, _ := args[0].(string)
	as, _ := args[len(args)-1].(string)
	form, maker := forms[as], makers[name]
	key, keyed := args[1].(string)
	if !ok || form == nil || maker == nil || !keyed {
		return nil, errors.New(`hash and hmac need a string as input, a NAME ("sha256" or "sha512") and a FORM ("hex" or "base64")`)
	}
	h := maker()
	if len(args) == 3 {
		h = hmac.New(maker, []byte(key))
	}
	h.Write([]byte(text))
	return form(h.Sum(nil)), nil
}
