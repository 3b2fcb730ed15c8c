// Command hello shows the least cost of a Go program.
package main

import "os"

func main() { _, _ = os.Stdout.WriteString("hello\n") }
