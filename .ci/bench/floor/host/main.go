// Command host is the host of the floor: it starts the plugin that it is given,
// makes one call, and ends it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/swarmhost/swarm/.ci/bench/floor"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	client := goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  floor.Handshake,
		Plugins:          floor.Plugins,
		Cmd:              exec.CommandContext(context.Background(), path),
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		Logger:           hclog.NewNullLogger(),
	})
	defer client.Kill()
	proto, err := client.Client()
	if err != nil {
		return err
	}
	if _, err := proto.Dispense("floor"); err != nil {
		return err
	}
	return proto.Ping()
}
