package talk

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/input"
	"github.com/swarmhost/swarm/host/worker"
	"github.com/swarmhost/swarm/shared/swarm"
)

func NewForward(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "forward [flags] NAME PORT[:LOCAL]...",
		Short: "Forward ports of this machine to a worker",
		Long: `Make TCP ports of a worker that runs elsewhere, in a container or on another machine,
reachable on this one: a connection to 127.0.0.1:LOCAL or [::1]:LOCAL is passed on to PORT in the
worker's network. LOCAL is the same number if it is left out; 0 picks a free port. The worker
need not publish the port, and a program that listens on the worker's own 127.0.0.1 alone is
reached too.

The command runs until it is interrupted or the worker has ended. A line says which port
leads where as soon as connections are accepted. If no program listens on the port, a line
on stderr says so, and later connections are tried again. Each direction of a connection
is ended by itself.

Other machines can't connect, but each user of this machine can.

A worker of the backends process and tmux runs in the network of this machine: connect to
its port directly.

Exit code: 130 after Ctrl-C, 1 when the worker has ended.`,
		Example: `  swarm forward web 8080
  swarm forward web 80:0 5432:0
  swarm forward web 80:0 --json`,
		Args:              command.Arguments(2, -1, "name of a worker and a port"),
		ValidArgsFunction: a.CompleteOneWorker,
		RunE: func(cmd *cobra.Command, args []string) error {
			var ports []input.PortPair
			for _, arg := range args[1:] {
				f, err := portPair(arg)
				if err != nil {
					return err
				}
				ports = append(ports, f)
			}
			return runForward(cmd.Context(), a, args[0], ports, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each forwarding as a line of JSON")
	return cmd
}

// portPair returns the ports in PORT[:LOCAL].
func portPair(text string) (input.PortPair, error) {
	port, local, both := strings.Cut(text, ":")
	if !both {
		local = port
	}
	p, err := strconv.ParseUint(port, 10, 16)
	l, localErr := strconv.ParseUint(local, 10, 16)
	if err != nil || localErr != nil || p == 0 {
		return input.PortPair{}, output.Usagef("invalid port '%s': expected PORT or PORT:LOCAL, numbers up to %d", text, swarm.MaxPort)
	}
	return input.PortPair{Port: int(p), Local: int(l)}, nil
}

type forwardJSON struct {
	Name    string `json:"name"`
	Port    int    `json:"port"`
	Address string `json:"address"`
}

func runForward(ctx context.Context, a *app.App, name string, ports []input.PortPair, asJSON bool) error {
	return a.WithHost(ctx, func(h *host.Host) error {
		ctx, end := context.WithCancelCause(ctx)
		waited := make(chan struct{})
		started := false
		defer func() {
			end(nil)
			if started {
				<-waited
			}
		}()
		wait := func() {
			defer close(waited)
			err := h.Wait(ctx, worker.Selection{Names: []string{name}}, func(w worker.Worker) {
				if w.Status == worker.StatusUnknown {
					end(fmt.Errorf("cannot get the status of '%s': %s", w.Name, w.Reason))
					return
				}
				end(fmt.Errorf("worker '%s' has ended", w.Name))
			})
			if err != nil {
				end(err)
			}
		}
		var broken error
		err := h.Input().Forward(ctx, name, ports, func(e input.ForwardEvent) {
			if !started {
				started = true
				go wait()
			}
			address := fmt.Sprintf("127.0.0.1:%d", e.Local)
			switch {
			case e.Err != nil:
				a.Warn(fmt.Sprintf("port %d of '%s': %s", e.Port, name, e.Err), "")
			case asJSON:
				broken = errors.Join(broken, a.PrintJSONLine(forwardJSON{Name: name, Port: e.Port, Address: address}))
			default:
				a.Printf("forwarding %s to port %d of %s\n", address, e.Port, name)
			}
			if broken != nil {
				end(broken)
			}
		})
		return err
	})
}
