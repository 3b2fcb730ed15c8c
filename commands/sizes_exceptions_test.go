package commands

// An exception may exceed a limit up to its bound. The tables can only shrink: TestSizes fails for a row that is not needed or was
// exceeded.
type exception struct {
	bound int
	why   string
}

const record = "no state: a field for each thing that can be said"

var largeStructs = map[string]exception{
	"commands/options.Connection":  {22, record},
	"format/tapeview.Row":          {21, record},
	"wire/dialect/page/load.Serve": {22, record},
	"wire/session/daemon.Status":   {21, record},
	"wire/transport.Config":        {29, record},
}

var branchyFunctions = map[string]exception{}
