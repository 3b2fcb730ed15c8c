package main

import (
	"fmt"
	"path/filepath"
	"strconv"
)

// pluginCalls is how many calls go through one plugin, 16 in flight.
const pluginCalls = 20_000

// plugin measures calls of a Scriptling plugin, rpcx on both sides of a pipe,
// against the same calls in plain JSON-RPC.
func plugin(t *table, rpcx, dir string, runs int) error {
	requests := filepath.Join(dir, "plugin-requests")
	if err := writeRequests(requests, pluginCalls); err != nil {
		return err
	}
	return t.measure(runs, usPer("call", pluginCalls),
		program{"a plugin called 20,000 times, 16 in flight, both sides", pluginJob(rpcx, requests)},
		program{"JSON-RPC over a pipe, both sides", batchJob(rpcx, requests, "exec:"+rpcx+" serve stdio: --on echo=jq:.[0]")})
}

func pluginJob(rpcx, requests string) job {
	return batchJob(rpcx, requests, "scriptling+exec:"+rpcx+" plugin serve --on echo=jq:.args[0]")
}

func batchJob(rpcx, requests, endpoint string) job {
	return job{stdin: requests, args: []string{rpcx, "call", endpoint, "--batch", "--jobs", "16"}}
}

// pluginMemory says what ten times as many calls of a plugin cost, on the side
// that needs more.
func pluginMemory(rpcx, dir string, runs int) error {
	var peaks []int64
	for _, n := range []int{pluginCalls / 10, pluginCalls} {
		requests := filepath.Join(dir, "plugin-"+strconv.Itoa(n))
		if err := writeRequests(requests, n); err != nil {
			return err
		}
		var all []int64
		for range runs {
			s, err := pluginJob(rpcx, requests).run()
			if err != nil {
				return err
			}
			all = append(all, s.rss)
		}
		peaks = append(peaks, median(all))
	}
	if peaks[0] > 0 {
		fmt.Printf("Peak memory of calls of a plugin: %.1f MB after %d, %.1f MB after %d (%.2f times as much).\n",
			float64(peaks[0])/1e6, pluginCalls/10, float64(peaks[1])/1e6, pluginCalls, float64(peaks[1])/float64(peaks[0]))
	}
	return nil
}
