//go:build darwin || windows

package keyring

import "github.com/zalando/go-keyring"

func get(name string) (string, error) { return keyring.Get(service, name) }

func set(name, secret string) error { return keyring.Set(service, name, secret) }

func remove(name string) error { return keyring.Delete(service, name) }
