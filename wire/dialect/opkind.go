package dialect

import "rpcx/wire"

// opNames are the words for the operations that a user can request.
var opNames = map[OpKind]string{
	Call: "call", Notify: "notify", Subscribe: "subscribe", Raw: "raw", Watch: "watch", Eval: "eval",
	JobRun: "job.run", JobStart: "job.start", JobStatus: "job.status", JobWait: "job.wait", JobCancel: "job.cancel", JobList: "job.list",
}

// MarshalText returns the word for k. It fails for operations that only the dialect uses.
func (k OpKind) MarshalText() ([]byte, error) {
	if name, ok := opNames[k]; ok {
		return []byte(name), nil
	}
	return nil, wire.ErrUnsupported
}

// UnmarshalText sets k to the operation for the word b.
func (k *OpKind) UnmarshalText(b []byte) error {
	for kind, name := range opNames {
		if name == string(b) {
			*k = kind
			return nil
		}
	}
	return wire.Usagef("unknown operation %q", b)
}
