package main

// This patch makes text build its tables for matching languages when it first matches one.
var text = library{"text", "golang.org/x/text", []patch{
	{
		file:   "language/match.go",
		sha256: "b8a6b973391cba46899d079173cf0b1d3064f28bb79a11c3fdc65c089cbe23d3",
		edits: []edit{
			{1, "\t\"strings\"\n", "\t\"strings\"\n\t\"sync\"\n"},
			{1, "func init() {\n", "var prepare = sync.OnceFunc(prepareTables)\n\nfunc prepareTables() {\n"},
			{1, "\tfor _, e := range paradigmLocales {\n", "\tprepare()\n\tfor _, e := range paradigmLocales {\n"},
			{1, "\tfor _, o := range notEquivalent {\n", "\tprepare()\n\tfor _, o := range notEquivalent {\n"},
		},
	},
	{
		file:   "internal/language/compact/compact.go",
		sha256: "e154aa511d328fd47a9c9fc1115d9c92be2d385e885ae65c5e348ec1d5844ead",
		edits: []edit{
			{1, "\t\"strings\"\n", "\t\"strings\"\n\t\"sync\"\n"},
			{1, "return specialTags[", "return specialTags()["},
			{
				1, "var specialTags []language.Tag\n\nfunc init() {\n",
				"var specialTags = sync.OnceValue(makeSpecialTags)\n\nfunc makeSpecialTags() []language.Tag {\n",
			},
			{
				1, "\tspecialTags = make([]language.Tag, len(tags))\n\tfor i, t := range tags {\n\t\tspecialTags[i] = language.MustParse(t)\n\t}\n",
				"\tspecial := make([]language.Tag, len(tags))\n\tfor i, t := range tags {\n\t\tspecial[i] = language.MustParse(t)\n\t}\n\treturn special\n",
			},
		},
	},
	{
		file:   "internal/language/compact/language.go",
		sha256: "1d49845ec8c93b000391718e3127c0979c054186570805fce27f7fe167ad2c5d",
		edits:  []edit{{1, "range specialTags {", "range specialTags() {"}},
	},
}}
