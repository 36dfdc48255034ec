// Closed-loop load generator: -c workers, each with one call in flight. Prints one line of JSON.
//
//	loadgen -kind grpc -target HOST:PORT -request HEX [-pid PID]          server-streaming gRPC call
//	loadgen -kind mcp  -target http://HOST:PORT/mcp -request JSON         tools/call over streamable HTTP
//	loadgen -cold 10 -kind ... -target ... -request ... -- PROGRAM ARGS   time from start to the first good reply
//
// Every reply must hold -marker. Calls, time and errors are bounded: nothing runs longer than -d and the warm-up.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

var (
	kind     = flag.String("kind", "grpc", "grpc or mcp")
	target   = flag.String("target", "", "HOST:PORT of a gRPC server, or URL of an MCP server")
	request  = flag.String("request", "", "encoded request in hex (grpc), or arguments as JSON (mcp)")
	method   = flag.String("method", "/postern.v1.ActionService/Execute", "gRPC method")
	tool     = flag.String("tool", "get_items", "MCP tool")
	marker   = flag.String("marker", "item-0001", "text that every good reply holds")
	workers  = flag.Int("c", 1, "calls in flight")
	calls    = flag.Int("n", 20000, "calls at most")
	duration = flag.Duration("d", 3*time.Second, "time at most")
	warmup   = flag.Duration("warm", time.Second, "time of the warm-up")
	warmMax  = flag.Int("warmn", 20000, "calls of the warm-up at most")
	pid      = flag.Int("pid", 0, "server process, for CPU and memory")
	cold     = flag.Int("cold", 0, "starts of PROGRAM")
)

const errorsMax = 20

// caller makes one call of one worker.
type caller func(worker int) error

type result struct {
	Calls    int     `json:"calls"`
	PerSec   float64 `json:"perSecond"`
	P50      float64 `json:"p50Us"`
	P99      float64 `json:"p99Us"`
	CPU      float64 `json:"serverCpuUs"`
	RSS      int     `json:"serverRssKb"`
	Errors   int     `json:"errors"`
	FirstErr string  `json:"firstError,omitempty"`
}

func main() {
	flag.Parse()
	if *cold > 0 {
		printLine(coldStarts(*cold, flag.Args()))
		return
	}
	call, err := newCaller()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	drive(call, *warmMax, *warmup)
	before := cpuSeconds(*pid)
	run := drive(call, *calls, *duration)
	run.out.CPU = (cpuSeconds(*pid) - before) * 1e6 / float64(max(1, run.out.Calls))
	run.out.RSS = rssKb(*pid)
	printLine(run.out)
}

func newCaller() (caller, error) {
	if *kind == "mcp" {
		return mcpCaller(*target, *tool, *request, *workers)
	}
	return grpcCaller(*target, *method, *request)
}

type driven struct {
	out result
}

// drive runs the workers until n calls are made, d has passed, or too many calls failed.
func drive(call caller, n int, d time.Duration) driven {
	var (
		left      atomic.Int64
		failed    atomic.Int64
		mutex     sync.Mutex
		group     sync.WaitGroup
		latencies []time.Duration
		first     string
	)
	left.Store(int64(n))
	started := time.Now()
	for worker := range *workers {
		group.Go(func() {
			own := make([]time.Duration, 0, n / *workers + 1)
			for left.Add(-1) >= 0 && failed.Load() < errorsMax {
				begin := time.Now()
				if begin.Sub(started) > d {
					break
				}
				if err := call(worker); err != nil {
					failed.Add(1)
					mutex.Lock()
					first = err.Error()
					mutex.Unlock()
					continue
				}
				own = append(own, time.Since(begin))
			}
			mutex.Lock()
			latencies = append(latencies, own...)
			mutex.Unlock()
		})
	}
	group.Wait()
	took := time.Since(started)
	sort.Slice(latencies, func(i, j int) bool { return latencies[i] < latencies[j] })
	return driven{result{
		Calls:    len(latencies),
		PerSec:   float64(len(latencies)) / took.Seconds(),
		P50:      quantile(latencies, 0.5),
		P99:      quantile(latencies, 0.99),
		Errors:   int(failed.Load()),
		FirstErr: first,
	}}
}

func quantile(sorted []time.Duration, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	index := min(len(sorted)-1, int(share*float64(len(sorted))))
	return float64(sorted[index].Nanoseconds()) / 1000
}

func printLine(value any) {
	text, _ := json.Marshal(value)
	fmt.Println(string(text))
}
