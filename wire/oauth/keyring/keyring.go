// Package keyring stores secrets in the system's keyring if an unlocked one exists. It never unlocks a keyring, because that
// would ask the user.
package keyring

import (
	"errors"
	"time"
)

// service is rpcx's name in the keyring.
const service = "rpcx"

var (
	errNone    = errors.New("there is no unlocked keyring")
	errMissing = errors.New("it is not in the keyring")
	errSilent  = errors.New("the keyring does not respond")
)

// operationTimeout is the maximum duration of a keyring operation.
const operationTimeout = 3 * time.Second

// Get returns a secret.
func Get(name string) (secret string, err error) {
	err = inTime(func() (err error) { secret, err = get(name); return err })
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Set stores a secret, and replaces an earlier one with the same name.
func Set(name, secret string) error { return inTime(func() error { return set(name, secret) }) }

// Delete deletes a secret.
func Delete(name string) error { return inTime(func() error { return remove(name) }) }

func inTime(do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(operationTimeout):
		return errSilent
	}
}
