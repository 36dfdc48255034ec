package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

const mcpVersion = "2025-06-18"

// mcpCaller opens one MCP session a worker, as one agent each would, and calls a tool in it.
func mcpCaller(url, tool, arguments string, workers int) (caller, error) {
	client := &http.Client{
		Transport: &http.Transport{MaxIdleConns: 256, MaxIdleConnsPerHost: 256, DisableCompression: true},
		Timeout:   callTimeout,
	}
	sessions := make([]string, workers)
	for worker := range sessions {
		session, err := openSession(client, url)
		if err != nil {
			return nil, err
		}
		sessions[worker] = session
	}
	var id atomic.Int64
	return func(worker int) error {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id.Add(1), tool, arguments)
		_, reply, err := post(client, url, sessions[worker], body)
		if err != nil {
			return err
		}
		if bytes.Contains(reply, []byte(`"isError":true`)) || !bytes.Contains(reply, []byte(*marker)) {
			return fmt.Errorf("not a good reply: %.300s", reply)
		}
		return nil
	}, nil
}

func openSession(client *http.Client, url string) (string, error) {
	hello := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + mcpVersion +
		`","capabilities":{},"clientInfo":{"name":"loadgen","version":"1"}}}`
	headers, _, err := post(client, url, "", hello)
	if err != nil {
		return "", err
	}
	session := headers.Get("Mcp-Session-Id")
	_, _, err = post(client, url, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return session, err
}

func post(client *http.Client, url, session, body string) (http.Header, []byte, error) {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Protocol-Version", mcpVersion)
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
	}
	reply, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer reply.Body.Close()
	text, err := readReply(reply)
	if err == nil && reply.StatusCode >= 300 {
		err = fmt.Errorf("status %d: %.300s", reply.StatusCode, text)
	}
	return reply.Header, text, err
}

// readReply reads JSON, or the data lines of an event stream, to the end, so that the connection is used again.
func readReply(reply *http.Response) ([]byte, error) {
	if !strings.HasPrefix(reply.Header.Get("Content-Type"), "text/event-stream") {
		return io.ReadAll(reply.Body)
	}
	var text []byte
	lines := bufio.NewReaderSize(reply.Body, 16<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if data, found := bytes.CutPrefix(line, []byte("data:")); found {
			text = append(text, data...)
		}
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
