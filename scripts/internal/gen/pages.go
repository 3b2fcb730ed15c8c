package main

import (
	"embed"
	"fmt"
	"strings"
)

// pages holds the manual's other pages: NAME.SECTION.txt, whose first line says
// what it is, and in which "# HEADING" begins a section.
//
//go:embed pages/*.txt
var pages embed.FS

// otherPages makes the pages of man/ beside rpcx.1.
func otherPages() ([]file, error) {
	entries, err := pages.ReadDir("pages")
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		b, err := pages.ReadFile("pages/" + e.Name())
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(e.Name(), ".txt")
		text, err := otherPage(name, string(b))
		if err != nil {
			return nil, fmt.Errorf("pages/%s: %w", e.Name(), err)
		}
		files = append(files, file{"man/" + name, text})
	}
	return files, nil
}

func otherPage(file, text string) ([]byte, error) {
	name, section, ok := strings.Cut(file, ".")
	says, rest, cut := strings.Cut(text, "\n")
	if !ok || !cut {
		return nil, fmt.Errorf("no NAME.SECTION.txt, or nothing but a title")
	}
	p := &page{}
	p.line(".\\\" Made by scripts/gen; do not edit.")
	p.line(`.TH %s %s "" "rpcx" "File Formats"`, strings.ToUpper(literal(name)), section)
	p.line(".SH NAME\n%s \\- %s", literal(name), literal(says))
	for _, part := range strings.Split("\n"+strings.TrimLeft(rest, "\n"), "\n# ")[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		p.line(".SH %s", literal(heading))
		p.prose(body)
	}
	return p.Bytes(), nil
}
