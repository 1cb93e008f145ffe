package plugin

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/host/pluginadmin"
)

func newDebug(a *app.App) *cobra.Command {
	var interactive bool
	cmd := &cobra.Command{
		Use:   "debug NAME [flags] -- COMMAND [ARG...]",
		Short: "Run a plugin under a debugger",
		Long: `Run COMMAND in this terminal, such as a debugger with a build of the plugin NAME, and
have all commands of this state directory use the plugin that it starts, until it ends.
Each of them prints a line that says so. The plugin has to be one that swarm finds;
its own program is not run meanwhile, and no hash of COMMAND is checked.

Calls of the plugin have no time limits while it is debugged: it may be stopped at a
breakpoint for as long as you like, also before it serves. It has the settings of the
config and the environment of this call, the working directory of this call, and keeps
them until it ends. Lines that the debugger prints before the plugin's handshake are
shown and do no harm.

COMMAND has no standard input, and Ctrl-C here ends it and the plugin. With
--interactive it reads this terminal, for a debugger with a prompt, and Ctrl-C is for
it. Workers that the plugin has started keep running in any case.

The exit code is 0 if COMMAND ends with 0, and 130 after Ctrl-C.`,
		Example: `  swarm plugin debug queue -- dlv exec --headless --listen 127.0.0.1:4040 ./swarm-plugin-queue
  swarm plugin debug queue --interactive -- dlv exec --allow-non-terminal-interactive=true ./swarm-plugin-queue
  swarm plugin debug queue -- python3 -m debugpy --listen 127.0.0.1:5678 main.py
  swarm plugin debug queue -- node --inspect=127.0.0.1:9229 main.js`,
		DisableFlagsInUseLine: true,
		Args: func(cmd *cobra.Command, args []string) error {
			switch dash := cmd.ArgsLenAtDash(); {
			case len(args) == 0 || dash == 0:
				return output.Usagef("missing argument: a plugin")
			case dash < 0 || dash == len(args):
				return output.Usagef("missing argument: the command that runs the plugin, after --")
			case dash > 1:
				return output.Usagef("unexpected argument '%s'", args[1])
			}
			return nil
		},
		ValidArgsFunction: completePlugins(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDebug(cmd.Context(), a, args[0], args[1:], interactive)
		},
	}
	cmd.Flags().BoolVarP(&interactive, "interactive", "i", false, "the command reads this terminal")
	return cmd
}

func runDebug(ctx context.Context, a *app.App, name string, argv []string, interactive bool) error {
	r := pluginadmin.DebugRequest{Name: name, Command: argv, Stdout: os.Stdout, Stderr: os.Stderr}
	if interactive {
		r.Stdin = os.Stdin
		// The terminal sends Ctrl-C to this process, too.
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		defer signal.Stop(interrupts)
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
	}
	return withPlugins(ctx, a, func(h *host.Host) error {
		r.Ready = func(pid int) {
			a.Hint(fmt.Sprintf("plugin '%s' is being debugged as process %d; the commands of %s use it until it ends", name, pid, h.Dir()))
		}
		a.Hint(fmt.Sprintf("waiting for plugin '%s' to serve: %s", name, strings.Join(argv, " ")))
		return h.Plugins().Debug(ctx, r)
	})
}
