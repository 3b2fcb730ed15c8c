package format

import "unicode"

// columns is the number of columns that r takes on a terminal, near enough.
func columns(r rune) int {
	switch {
	case unicode.Is(unicode.Mn, r), r == 0x200d, 0xfe00 <= r && r <= 0xfe0f:
		return 0
	case 0x1100 <= r && r <= 0x115f, 0x2e80 <= r && r <= 0xa4cf, 0xac00 <= r && r <= 0xd7a3,
		0xf900 <= r && r <= 0xfaff, 0xfe30 <= r && r <= 0xfe6f, 0xff00 <= r && r <= 0xff60,
		0xffe0 <= r && r <= 0xffe6, 0x1f300 <= r && r <= 0x1faff, 0x20000 <= r && r <= 0x3fffd:
		return 2
	}
	return 1
}

// Width is the number of columns that s takes on a terminal, near enough.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

// Cut is s, or where it takes more than width columns as much of it as leaves
// room for an ellipsis. A width of 0 or less cuts nothing.
func Cut(s string, width int) string {
	if width <= 0 || len(s) <= width || Width(s) <= width {
		return s
	}
	n := 0
	for i, r := range s {
		if n += columns(r); n > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}
