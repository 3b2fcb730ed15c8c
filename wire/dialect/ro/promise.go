package ro

import (
	"slices"

	"rpcx/wire/dialect"
	"rpcx/wire/scan"
)

// hasMoreResults reports whether a response only announces further results. The
// answer to a call does so if it is a promise and nothing else, or if the user started it as a job and it has a promise's
// status; a subscription is meant to go on.
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

// promiseMembers are the members of a result that only says how far a call is: those
// of the page, and those that name the job. An object with any other, such as an
// order with a status of its own, is the answer itself.
var promiseMembers = []string{
	"status", "progress", "percent", "percentage", "stage", "content", "message",
	"resource", "subresource", "parent", "target", "request_id", "job", "job_id", "jobId",
}

// acceptedMembers are those of a result whose status is accepted. An id beside it alone is the job's: an object of a user's
// has more.
var acceptedMembers = append([]string{"id"}, promiseMembers...)

// failureMembers are the members of a result that says no more than that, and
// how, a call failed.
var failureMembers = append([]string{"error", "reason", "code", "data", "kind", "retryable"}, promiseMembers...)

// onlyMembers reports whether an object has no members but these.
func onlyMembers(obj []byte, names []string) bool {
	for key := range scan.Named(obj) {
		if !slices.Contains(names, key) {
			return false
		}
	}
	return true
}

// isPromise reports whether a result says that others follow, and nothing else.
func isPromise(body []byte) bool {
	switch status(body) {
	case "accepted":
		return onlyMembers(body, acceptedMembers)
	case "pending":
		return onlyMembers(body, promiseMembers)
	}
	return false
}

// announces reports whether a status says that results follow.
func announces(status string) bool { return status == "accepted" || status == "pending" }

// status returns the "status" of a result object, or "" if there is none.
func status(body []byte) string {
	if scan.Type(body) != 'o' {
		return ""
	}
	text, _ := scan.Text(scan.Get(body, "status"))
	return text
}
