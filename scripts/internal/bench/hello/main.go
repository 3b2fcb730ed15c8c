// Command hello measures the minimal cost of a Go program.
package main

import "os"

func main() { _, _ = os.Stdout.WriteString("hello\n") }
