//go:build !linux

package commands

import "errors"

func onScreen(string, func(string) string) (string, int, error) {
	return "", 0, errors.New("only on linux are there terminals for transcripts")
}
