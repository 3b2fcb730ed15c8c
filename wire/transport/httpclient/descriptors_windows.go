package httpclient

// maxConnections returns 0, because Windows has no limit of file descriptors.
func maxConnections() int { return 0 }
