package main

// This patch makes jsonschema compile the metaschemas of a draft when it first checks a schema of that draft. It does not check
// schemas that its caller marks with Trust, such as those of the embedded demos.
var jsonschema = library{"jsonschema", "github.com/santhosh-tekuri/jsonschema/v6", []patch{
	{
		file:   "draft.go",
		sha256: "bb436dc7f6070066e621cb1bb4b0da0a7e1fdf09e8563443885713cda2cf7dd2",
		edits: []edit{
			{1, "import (\n", "import (\n\t\"sync\"\n"},
			{1, "\tsch           *Schema\n", "\tload          func() (*Schema, map[string]*Schema) // those of url and of allVocabs; a copy of a Draft has them, too\n"},
			{
				1, "func init() {\n\tc := NewCompiler()\n\tc.AssertFormat()\n\tfor _, d := range []*Draft{Draft4, Draft6, Draft7, Draft2019, Draft2020} {\n\t\td.sch = c.MustCompile(d.url)\n",
				"func init() {\n\tfor _, d := range []*Draft{Draft4, Draft6, Draft7, Draft2019, Draft2020} {\n\t\td.load = sync.OnceValues(d.compile)\n\t}\n}\n\n" +
					"// Trust has schemas compiled that are known to be right.\nfunc (c *Compiler) Trust() { c.roots.loading = true }\n\n" +
					"func (d *Draft) compile() (sch *Schema, vocabs map[string]*Schema) {\n\tc := NewCompiler()\n\tc.Trust()\n\tc.AssertFormat()\n\t{\n\t\tsch, vocabs = c.MustCompile(d.url), map[string]*Schema{}\n",
			},
			{
				1, "\t\t\td.allVocabs[name] = c.MustCompile(strings.TrimSuffix(d.url, \"schema\") + \"meta/\" + name)\n\t\t}\n\t}\n",
				"\t\t\tvocabs[name] = c.MustCompile(strings.TrimSuffix(d.url, \"schema\") + \"meta/\" + name)\n\t\t}\n\t}\n\treturn sch, vocabs\n",
			},
			{1, "vocabularies map[string]*Vocabulary) *Schema {\n\tvocabs :=", "vocabularies map[string]*Vocabulary) *Schema {\n\tdraftSchema, vocabSchemas := d.draft.load()\n\tvocabs :="},
			{1, "\t\treturn d.draft.sch\n", "\t\treturn draftSchema\n"},
			{1, "sch := d.draft.allVocabs[vocab]", "sch := vocabSchemas[vocab]"},
			{1, "sch := d.draft.allVocabs[\"core\"]", "sch := vocabSchemas[\"core\"]"},
			{1, "\t\t\tsch = d.draft.sch\n", "\t\t\tsch = draftSchema\n"},
		},
	},
	{
		file:   "roots.go",
		sha256: "6e84cb61bbb143e334c5c587295064bac0eeadecec73c4e5685aaa67d461bdc2",
		edits: []edit{
			{1, "type roots struct {\n", "type roots struct {\n\tloading      bool // what is known to be right\n"},
			{1, "ptr jsonPointer) error {\n\tdialect := r.resource(ptr).dialect\n", "ptr jsonPointer) error {\n\tif rr.loading {\n\t\treturn nil\n\t}\n\tdialect := r.resource(ptr).dialect\n"},
		},
	},
	{
		file:   "output.go",
		sha256: "30e8122d7a3e60ac521c9d78f2bb41632643ad31d0a459c3ab22215d2c3992d4",
		edits: []edit{
			{1, "\t\"strings\"\n", "\t\"strings\"\n\t\"sync\"\n"},
			{1, "var defaultPrinter = message.NewPrinter(language.English)", "var defaultPrinter = sync.OnceValue(func() *message.Printer { return message.NewPrinter(language.English) })"},
			{4, "(defaultPrinter)", "(defaultPrinter())"},
		},
	},
}}
