//go:build linux

package main

import "testing"

func TestSampleOfRO(t *testing.T) { try(t, []string{"ro-job/exec/term-noclose"}) }
