package httpclient

// maxConnections returns 0: there is no limit.
func maxConnections() int { return 0 }
