package httpclient

// maxConnections returns 0, because this system has no limit.
func maxConnections() int { return 0 }
