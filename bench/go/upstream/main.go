// Upstream of the benchmark: GET /items/{id} gives 2 KB of JSON to whoever shows the credential, 401 to others.
// POST /notes takes a note and answers 201 with its number, which is another one each time.
// GET /counts tells how many requests of each kind came, so that a peer that forgot the credential is found out.
//
//	upstream ADDRESS TOKEN
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
)

const bodyBytes = 2048

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: upstream ADDRESS TOKEN")
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	fmt.Fprintln(os.Stderr, http.Serve(listener, serve(document(), "Bearer "+os.Args[2])))
	os.Exit(1)
}

// serve answers reads of items with body.
func serve(body []byte, credential string) http.Handler {
	var authorized, refused, notes atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != credential {
			refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		authorized.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	})
	mux.HandleFunc("POST /notes", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != credential {
			refused.Add(1)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"number":%d}`, notes.Add(1))
	})
	mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"authorized":%d,"refused":%d,"notes":%d}`, authorized.Load(), refused.Load(), notes.Load())
	})
	return mux
}

type item struct {
	ID    int      `json:"id"`
	Name  string   `json:"name"`
	Price float64  `json:"price"`
	Tags  []string `json:"tags"`
	OK    bool     `json:"ok"`
}

type page struct {
	Marker string `json:"marker"`
	Items  []item `json:"items"`
	Pad    string `json:"pad"`
}

// document is a list of items that is exactly bodyBytes long.
func document() []byte {
	answer := page{Marker: "UPSTREAM_OK", Items: []item{}}
	for {
		id := len(answer.Items)
		next := item{id, fmt.Sprintf("item-%04d", id), float64(id) * 1.25, []string{"alpha", "beta"}, id%2 == 0}
		longer := answer
		longer.Items = append(append([]item{}, answer.Items...), next)
		if text, _ := json.Marshal(longer); len(text) > bodyBytes {
			break
		}
		answer = longer
	}
	text, _ := json.Marshal(answer)
	answer.Pad = strings.Repeat("x", bodyBytes-len(text))
	text, _ = json.Marshal(answer)
	return text
}
