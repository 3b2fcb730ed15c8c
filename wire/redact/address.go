package redact

import "strings"

// Address redacts the userinfo and the query values of an endpoint or URL. It redacts a command in the same way as
// Text.
func Address(text string) string {
	before, rest, ok := strings.Cut(text, "://")
	if !ok {
		if schemes, _, _ := strings.Cut(text, ":"); schemes == "exec" || strings.HasSuffix(schemes, "+exec") {
			return string(Text([]byte(text)))
		}
		return Query(text)
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = Mark + authority[i:]
	}
	return before + "://" + authority + Query(path)
}

// Query redacts the values in a path's query, because they are often keys and tokens.
func Query(path string) string {
	path, query, ok := strings.Cut(path, "?")
	if !ok {
		return path
	}
	parts := strings.Split(query, "&")
	for i, p := range parts {
		if key, val, ok := strings.Cut(p, "="); ok && val != "" {
			parts[i] = key + "=" + Mark
		}
	}
	return path + "?" + strings.Join(parts, "&")
}
