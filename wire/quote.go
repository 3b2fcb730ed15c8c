package wire

import "strings"

// plainChars are the characters that have no special meaning to a shell.
const plainChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=-"

// Quote quotes word for sh. It returns a word that needs no quotes unchanged, and otherwise adds single quotes.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plainChars) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
