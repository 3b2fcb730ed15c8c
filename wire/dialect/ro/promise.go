package ro

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// hasMoreResults reports whether a response only announces further results. The answer to a call does so if it is only
// a promise, or if the user started it as a job and it has a promise's status. A subscription always continues.
func hasMoreResults(kind dialect.OpKind, job bool, body []byte) bool {
	switch status(body) {
	case "accepted", "pending":
		return kind == dialect.Subscribe || job || isPromise(body)
	case "done", "error":
		return false
	}
	if kind != dialect.Subscribe {
		return false
	}
	switch scan.Type(body) { // an acknowledgement
	case 't', '0':
		return true
	case 'o':
		return scan.Count(body) == 0
	}
	return false
}

// promiseMembers are the members of a result that only reports how far a call is: those of the specification, and those
// that name the job. An object with any other member, such as an order with its own status, is the answer itself.
var promiseMembers = []string{
	"status", "progress", "percent", "percentage", "stage", "content", "message",
	"resource", "subresource", "parent", "target", "request_id", "job", "job_id", "jobId",
}

// acceptedMembers are those of a result whose status is accepted. An id alone beside it is the job's, because an object
// of a user has more members.
var acceptedMembers = append([]string{"id"}, promiseMembers...)

// failureMembers are the members of a result that only reports that, and how, a call failed.
var failureMembers = append([]string{"error", "reason", "code", "data", "kind", "retryable"}, promiseMembers...)

// onlyMembers reports whether an object has only these members.
func onlyMembers(obj []byte, names []string) bool {
	for key := range scan.Named(obj) {
		if !slices.Contains(names, key) {
			return false
		}
	}
	return true
}

// isPromise reports whether a result only announces that others follow.
func isPromise(body []byte) bool {
	switch status(body) {
	case "accepted":
		return onlyMembers(body, acceptedMembers)
	case "pending":
		return onlyMembers(body, promiseMembers)
	}
	return false
}

// announces reports whether a status means that results follow.
func announces(status string) bool { return status == "accepted" || status == "pending" }

// status returns the "status" of a result object, or "" if there is none.
func status(body []byte) string {
	if scan.Type(body) != 'o' {
		return ""
	}
	return scan.String(scan.Get(body, "status"))
}
