package httpclient

// maxConnections returns 0, because there is no limit.
func maxConnections() int { return 0 }
