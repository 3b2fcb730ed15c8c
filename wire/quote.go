package wire

import "strings"

// plainChars are the characters with no special meaning to a shell, wherever they stand in a word.
const plainChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=-"

// Quote returns word in a form that sh reads as one word: unchanged if it needs no quotes, else in
// single quotes.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plainChars) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
