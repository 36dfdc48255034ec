package main

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	startTimeout = 30 * time.Second
	settle       = 300 * time.Millisecond
	// Linux reports CPU time in hundredths of a second to every program (USER_HZ).
	ticksPerSecond = 100
)

// cpuSeconds is user and system time of a process so far (proc_pid_stat(5)), 0 without one.
func cpuSeconds(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / ticksPerSecond
}

// rssKb is the resident memory of a process, 0 without one.
func rssKb(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "VmRSS:"); found {
			kb, _ := strconv.Atoi(strings.Fields(value)[0])
			return kb
		}
	}
	return 0
}

type started struct {
	Ms    float64 `json:"ms"`
	RssKb int     `json:"rssKb"`
}

// coldStarts runs a program n times, each until its first good reply, and ends it.
func coldStarts(n int, command []string) []started {
	starts := []started{}
	for range n {
		start, err := coldStart(command)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		starts = append(starts, start)
	}
	return starts
}

func coldStart(command []string) (started, error) {
	program := exec.Command(command[0], command[1:]...)
	program.Env = os.Environ()
	begin := time.Now()
	if err := program.Start(); err != nil {
		return started{}, err
	}
	defer func() {
		program.Process.Signal(syscall.SIGKILL)
		program.Wait()
	}()
	for time.Since(begin) < startTimeout {
		if answers() {
			took := time.Since(begin)
			time.Sleep(settle)
			return started{float64(took.Microseconds()) / 1000, rssKb(program.Process.Pid)}, nil
		}
		time.Sleep(time.Millisecond)
	}
	return started{}, fmt.Errorf("%s gave no good reply in %s", command[0], startTimeout)
}

// answers dials before it calls: a gRPC channel that failed once waits a second before it tries again.
func answers() bool {
	connection, err := net.DialTimeout("tcp", address(), time.Second)
	if err != nil {
		return false
	}
	connection.Close()
	call, err := newCaller()
	return err == nil && call(0) == nil
}

func address() string {
	if *kind == "grpc" {
		return *target
	}
	parsed, err := url.Parse(*target)
	if err != nil {
		return ""
	}
	return parsed.Host
}
