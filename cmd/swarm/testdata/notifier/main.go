// Notifier is a notifier that does what files in the home directory say: "later", "never" and "hang".
// It writes a line into "delivered" for each call. With the arguments sink DIRECTORY it is a server,
// whose address is in the file "address" there: each request is a line in "posted", and the answer
// is the number in the file "status".
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "sink" {
		fmt.Fprintln(os.Stderr, serve(os.Args[2]))
		os.Exit(1)
	}
	plugin.Serve(plugin.Options{
		Name: "notifier", Version: "1",
		Notifier: func(context.Context, plugin.Env) (swarm.Notifier, error) { return notifier{os.Getenv("HOME")}, nil },
	})
}

type notifier struct{ dir string }

func (n notifier) has(name string) bool {
	_, err := os.Stat(filepath.Join(n.dir, name))
	return err == nil
}

func (n notifier) Notify(ctx context.Context, e swarm.Event) (swarm.NotifyAnswer, error) {
	err := add(filepath.Join(n.dir, "delivered"), fmt.Sprintf("%s %s %s %d", e.Worker, e.Kind, e.ID, e.Attempt))
	switch {
	case err != nil:
		return swarm.NotifyAnswer{}, err
	case n.has("later"):
		return swarm.NotifyAnswer{Outcome: swarm.NotifyLater, Again: time.Now().Add(time.Second), Reason: "the file later is there"}, nil
	case n.has("never"):
		return swarm.NotifyAnswer{Outcome: swarm.NotifyNever, Reason: "the file never is \x1b[31mthere"}, nil
	case n.has("hang"):
		if err := add(filepath.Join(n.dir, "hanging"), e.Worker); err != nil {
			return swarm.NotifyAnswer{}, err
		}
		<-ctx.Done()
		return swarm.NotifyAnswer{}, ctx.Err()
	}
	return swarm.NotifyAnswer{Outcome: swarm.NotifyAccepted}, nil
}

// add adds a line to a file.
func add(path, line string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = fmt.Fprintln(file, line)
	return err
}

// serve is the sink.
func serve(dir string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := filepath.Join(dir, "address")
	if err := os.WriteFile(address+".new", []byte(listener.Addr().String()), 0o600); err != nil {
		return err
	}
	if err := os.Rename(address+".new", address); err != nil {
		return err
	}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // of tests
		code := http.StatusOK
		if text, err := os.ReadFile(filepath.Join(dir, "status")); err == nil {
			code, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = add(filepath.Join(dir, "posted"), fmt.Sprintf("%d %s %s", code, r.URL.Path, strings.TrimSpace(string(body))))
		}
		if err != nil {
			code = http.StatusInternalServerError
		}
		w.WriteHeader(code)
	}))
}
