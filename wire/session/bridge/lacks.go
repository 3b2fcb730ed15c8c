package bridge

import (
	"cmp"
	"fmt"
	"slices"

	"rpcx/wire/catalog"
	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// cannotCross returns the features that the peer's dialect and catalog have but clients of the listener cannot use.
func (b *Bridge) cannotCross(offered *catalog.Catalog) (lacks []string) {
	there, here := b.spec, b.here
	thereCodes, thereData := errorMembers(there)
	hereCodes, hereData := errorMembers(here)
	for _, c := range []struct {
		what       string
		has, shown bool
	}{
		{"evaluations", there.Evaluation != nil && there.Evaluation.Runtime, false},
		{"function references", there.Params.Functions && there.Evaluation != nil, here.Params.Functions && here.Evaluation != nil},
		{"artifacts", there.Files.AreLocal(), false},
		{"the journal", there.Jobs != nil && there.Jobs.Journal, false},
		{"job status and cancellation", there.Jobs != nil, here.Jobs != nil},
		{b.unseenProgress(), there.Bridge.Progress != nil, false},
		{"requests from the peer", asks(there), asks(here) && (!declared(there) || here.Bridge.Client.Declares)},
		{"notifications from the peer", !there.Bridge.Calls, !here.Bridge.Calls},
		{"errors after which a stream continues", b.arrays(), false},
		{"endless streams (after " + wholeTimeout.String() + ", a stream ends with an error)", b.arrays(), false},
		{"classes", len(offered.Classes) > 0, here.Name == there.Name},
		{"constants", scan.Type(offered.Constants) == 'o', here.Name == there.Name},
		{"error codes", thereCodes, hereCodes},
		{"error data", thereData, hereData},
		{"cancellation of calls", cancels(here, b.framing), cancels(there, b.to.FramingName())},
	} {
		if c.what != "" && c.has && !c.shown {
			lacks = append(lacks, c.what)
		}
	}
	return lacks
}

// errorMembers reports whether errors of s have a code that the user can choose, and data.
func errorMembers(s dialect.Spec) (code, data bool) {
	if s.Bridge.Errors.Members == nil {
		return true, true
	}
	return s.Bridge.Errors.Members()
}

// unseenProgress returns the names of the methods whose progress clients do not receive.
func (b *Bridge) unseenProgress() string {
	shown := b.here.Bridge.Progress
	if shown == nil {
		return "progress"
	}
	var unseen []string
	for name, o := range b.offers {
		if there := b.spec.Bridge.Progress; there != nil && there(o.name, o.kind) && !shown(name, cmp.Or(o.kind, catalog.Call)) {
			unseen = append(unseen, o.name)
		}
	}
	switch n := len(unseen); {
	case n == 0:
		return ""
	case n == len(b.offers):
		return "progress"
	default:
		return fmt.Sprintf("progress of %d methods, such as %s", n, slices.Min(unseen))
	}
}

// arrays reports whether clients may receive a stream's items as an array.
func (b *Bridge) arrays() bool {
	if b.open && b.spec.Catalog.CallsStream && b.here.Bridge.NoStreams {
		return true
	}
	for _, o := range b.offers {
		if o.array || o.kind == catalog.Stream && b.here.Bridge.Gathers != nil && b.here.Bridge.Gathers(b.listed(o.name)) {
			return true
		}
	}
	return false
}

// asks reports whether servers of a dialect send requests that have method names.
func asks(s dialect.Spec) bool { return !s.Handshake.Plugin && !s.Evaluation.IsLive() }

// declared reports whether servers of a dialect send only requests for methods that the client has declared.
func declared(s dialect.Spec) bool {
	return s.Detection != nil && s.Detection.Probe != nil && len(s.Detection.Probe.Hooks) > 0
}

// cancels reports whether a server of the dialect can cancel calls.
func cancels(s dialect.Spec, framing string) bool {
	return s.Bridge.Cancels != nil && s.Bridge.Cancels(framing)
}
