package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/swarmhost/swarm/cmd/internal/mcptest"
)

const mcpUsage = "[!] mcp [-s NAME] TOOL [JSON] | mcp -s NAME -end|-kill"

// mcpServers are the servers of a script that live on between its commands.
type mcpServers map[string]*mcptest.Client

type mcpServersKey struct{}

// cmdMCP calls a tool as an agent does, of a server of its own or of a named one.
func cmdMCP(ts *testscript.TestScript, neg bool, args []string) {
	name := ""
	if len(args) > 1 && args[0] == "-s" {
		name, args = args[1], args[2:]
	}
	need(ts, len(args) == 1 || len(args) == 2, mcpUsage)
	servers := ts.Value(mcpServersKey{}).(mcpServers)
	if args[0] == "-end" || args[0] == "-kill" {
		client := servers[name]
		need(ts, client != nil && !neg && len(args) == 1, mcpUsage)
		delete(servers, name)
		if args[0] == "-kill" {
			ts.Check(client.Server.Process.Kill())
		}
		endMCP(ts, client)
		return
	}
	client := servers[name]
	if client == nil {
		if name == "" {
			client = startMCP(ts, ts.Stderr())
			defer func() { _ = client.Close() }()
		} else {
			client = startMCP(ts, nil)
			servers[name] = client
			ts.Defer(func() { _ = client.Close() })
		}
	}
	input := json.RawMessage("{}")
	if len(args) == 2 {
		input = json.RawMessage(args[1])
	}
	answer, failed, err := client.Tool(worldOf(ts).t.Context(), args[0], input)
	ts.Check(err)
	_, err = ts.Stdout().Write(append(answer, '\n'))
	ts.Check(err)
	if failed != neg {
		ts.Fatalf("failed: %t", failed)
	}
}

// startMCP starts a server. If that fails, it shows the server's messages so far.
func startMCP(ts *testscript.TestScript, errs io.Writer) *mcptest.Client {
	server := exec.CommandContext(worldOf(ts).t.Context(), filepath.Join(bin, "swarm"), "mcp", "--tools", "shells,workers,teams")
	server.Env, server.Dir = environ(ts), ts.MkAbs(".")
	var said bytes.Buffer
	if server.Stderr = errs; errs == nil {
		server.Stderr = &said
	}
	client, err := mcptest.Start(worldOf(ts).t.Context(), server, mcptest.Options{Version: mcptest.Handshake})
	if err != nil {
		ts.Fatalf("%v\n%s", err, &said)
	}
	return client
}

// endMCP waits until a server has left. A server that was killed is not an error.
func endMCP(ts *testscript.TestScript, client *mcptest.Client) {
	err := client.Close()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			return
		}
	}
	ts.Check(err)
}
