// Mcpclient is an MCP client for scripts: it starts `swarm mcp`, calls one tool, and
// prints the structured answer as one line of JSON. The tool "instructions" is what the
// server says of itself.
//
//	mcpclient TOOL [JSON|@FILE]
//
// MCP_TOOLS are the sets of tools, by default all of swarm itself. MCP_VIA is the socket of a daemon (mcpdaemon) that starts the server instead.
//
// Exit code: 0, 1 if the answer is an error, 2 if there is none.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/swarmhost/swarm/cmd/internal/mcptest"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) < 1 || len(args) > 2 {
		fmt.Fprintln(os.Stderr, "usage: mcpclient TOOL [JSON]")
		return 2
	}
	input := json.RawMessage("{}")
	if len(args) == 2 {
		input = json.RawMessage(args[1])
		if file, ok := strings.CutPrefix(args[1], "@"); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 2
			}
			input = text
		}
	}
	answer, failed, err := call(context.Background(), args[0], input)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	fmt.Fprintf(os.Stdout, "%s\n", answer)
	if failed {
		return 1
	}
	return 0
}

func call(ctx context.Context, tool string, input json.RawMessage) (answer json.RawMessage, failed bool, err error) {
	server := exec.CommandContext(ctx, "swarm", "mcp", "--tools", cmp.Or(os.Getenv("MCP_TOOLS"), "shells,workers,teams"))
	if daemon := os.Getenv("MCP_VIA"); daemon != "" {
		server = exec.CommandContext(ctx, "mcpdaemon", "connect", daemon)
	}
	server.Stderr = os.Stderr
	client, err := mcptest.Start(ctx, server, mcptest.Options{Version: mcptest.Handshake})
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = client.Close() }()
	if tool == "instructions" {
		text, err := json.Marshal(client.InitializeResult().Instructions)
		return text, false, err
	}
	return client.Tool(ctx, tool, input)
}
