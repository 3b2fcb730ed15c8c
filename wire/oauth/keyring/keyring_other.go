//go:build !linux && !darwin && !windows

package keyring

func get(string) (string, error) { return "", errNone }

func set(string, string) error { return errNone }

func remove(string) error { return errNone }
