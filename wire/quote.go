package wire

import "strings"

// plainChars are the characters without special meaning to a shell, wherever they occur in a word.
const plainChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=-"

// Quote quotes word for sh. It returns word unchanged if it needs no quotes, and otherwise encloses it in single
// quotes.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plainChars) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
