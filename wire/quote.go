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

// Phrase joins words, as in "a, b or c". The conjunction comes before the last word.
func Phrase(words []string, conjunction string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + conjunction + " " + words[n-1]
	}
	return strings.Join(words, "")
}
