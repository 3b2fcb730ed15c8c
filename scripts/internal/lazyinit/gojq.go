package main

// This patch makes gojq build its two tables when it first compiles a program that calls a function. The second table cannot have
// an initialiser, because some of its functions read the table.
var gojq = library{"gojq", "github.com/itchyny/gojq", []patch{
	{
		file:   "builtin.go",
		sha256: "1fa61a7a158cb6f69574e1122c6d74eda8466056ed3e34eb0994c36399880c03",
		edits: []edit{
			{1, "func init() {\n\tbuiltinFuncDefs = map[string][]*FuncDef{", "func makeBuiltinFuncDefs() map[string][]*FuncDef {\n\treturn map[string][]*FuncDef{"},
		},
	},
	{
		file:   "func.go",
		sha256: "e6a35c9864694cad38cab238a89e66e31a126e142c7439e9b27c8a1faab617aa",
		edits: []edit{
			{1, "var builtinFuncDefs map[string][]*FuncDef\n", "var builtinFuncDefs = sync.OnceValue(makeBuiltinFuncDefs)\n"},
			{
				1, "var internalFuncs map[string]function\n\nfunc init() {\n\tinternalFuncs = map[string]function{",
				"var (\n\tinternalFuncsMade sync.Once\n\tinternalFuncsMap  map[string]function\n)\n\n" +
					"func internalFuncs() map[string]function {\n\tinternalFuncsMade.Do(makeInternalFuncs)\n\treturn internalFuncsMap\n}\n\n" +
					"func makeInternalFuncs() {\n\tinternalFuncsMap = map[string]function{",
			},
			{1, "return internalFuncs[", "return internalFuncs()["},
		},
	},
	{
		file:   "compiler.go",
		sha256: "ceef8077b8cb143671a924fc834234543b6b1a789f5e0665c25ddc6d663d3d70",
		edits: []edit{
			{5, "internalFuncs[", "internalFuncs()["},
			{1, "range internalFuncs {", "range internalFuncs() {"},
			{1, "builtinFuncDefs[", "builtinFuncDefs()["},
			{1, "range builtinFuncDefs {", "range builtinFuncDefs() {"},
		},
	},
}}
