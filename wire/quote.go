package wire

import "strings"

// plainChars mean nothing to a shell, wherever they stand in a word.
const plainChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=-"

// Quote returns word as sh takes it: as it is where it needs no quotes, else in
// single quotes.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plainChars) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
