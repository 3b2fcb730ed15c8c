package jsonrpc

import "strings"

// words are the words for opening and ending a stream in the names of methods.
var words = [...]struct{ do, undo string }{
	{"subscribe", "unsubscribe"},
	{"Subscribe", "Unsubscribe"},
	{"SUBSCRIBE", "UNSUBSCRIBE"},
	{"_follow", "_unfollow"},
	{"Follow", "Unfollow"},
}

// UnsubscribeName returns the method that ends a stream of method. If no common pattern matches (known is false), this
// is the method of rpcx servers.
//
//	eth_subscribe → eth_unsubscribe      chain_subscribeNewHeads → chain_unsubscribeNewHeads
//	fooSubscribe → fooUnsubscribe        chainHead_v1_follow → chainHead_v1_unfollow
//	SUBSCRIBE → UNSUBSCRIBE              watchOrders → watchOrders_unsubscribe (not known)
func UnsubscribeName(method string) (name string, known bool) {
	for _, w := range words {
		i := strings.LastIndex(method, w.do)
		if i < 0 || continues(method, i, i+len(w.do)) {
			continue
		}
		return method[:i] + w.undo + method[i+len(w.do):], true
	}
	return method + "_unsubscribe", false
}

// continues reports whether method[i:j] is part of a longer word.
func continues(method string, i, j int) bool {
	if j < len(method) && lower(method[j]) {
		return true
	}
	return i > 0 && lower(method[i]) && lower(method[i-1])
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }

// Ends reports whether calling name may end a stream of method.
func Ends(name, method string) bool {
	derived, _ := UnsubscribeName(method)
	return name == derived || name == method+"_unsubscribe"
}

// subscribeNames returns the methods whose streams name may end.
func subscribeNames(name string) []string {
	var names []string
	if base, ok := strings.CutSuffix(name, "_unsubscribe"); ok {
		names = append(names, base)
	}
	for _, w := range words {
		if i := strings.LastIndex(name, w.undo); i >= 0 {
			names = append(names, name[:i]+w.do+name[i+len(w.undo):])
		}
	}
	return names
}
