package wire

import (
	"strconv"
	"strings"
)

// plainChars are the characters that have no special meaning to a shell.
const plainChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@%+,=-"

// Quote quotes word for sh. It returns a word that needs no quotes unchanged, and otherwise adds single quotes.
func Quote(word string) string {
	if word != "" && strings.Trim(word, plainChars) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Excerpt returns the beginning of text, at most most bytes of it, and an ellipsis if there is more.
func Excerpt[T ~string | ~[]byte](text T, most int) string {
	if len(text) <= most {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:most]), "") + "…"
}

// Phrase joins words, as in "a, b or c". The conjunction comes before the last word.
func Phrase(words []string, conjunction string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + conjunction + " " + words[n-1]
	}
	return strings.Join(words, "")
}

// Count returns n and a noun in the right number, such as "1 value" or "2 values".
func Count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
