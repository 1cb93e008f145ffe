package dashboard

import (
	"github.com/spf13/cobra"

	"github.com/swarmhost/swarm/cmd/swarm/internal/app"
	"github.com/swarmhost/swarm/cmd/swarm/internal/command"
	"github.com/swarmhost/swarm/cmd/swarm/internal/output"
	"github.com/swarmhost/swarm/shared/swarm"
)

type webOptions struct {
	listen, socket string
	cert, key      string
	write, json    bool
	fresh          bool
}

func NewWeb(a *app.App) *cobra.Command {
	o := &webOptions{}
	cmd := &cobra.Command{
		Use:   "web",
		Short: "Show workers in a browser",
		Long: `Serve pages that show all workers as they change, until Ctrl-C. The address is printed
on stdout; open it in a browser. No worker ends with the server.

The pages only show workers, unless --write is given: then they can also kill workers and
the like, each time after a question.

The address has a random token in it, which lets one browser in, once; the next one is
printed on stderr then. Its path is random, too, and stays the same for this state
directory, with the port if that is free: a bookmark works as long as the server runs, and
asks for the token of the next one. --new-address makes a new path and port. The server
listens at 127.0.0.1, at a free port, or with --socket at a unix socket that only you can
open. It listens at an address that other machines can reach only with a certificate, see
--cert and --key. To look at the workers of another machine, use ssh:

  ssh -L 8080:/home/me/web.sock HOST swarm web --socket web.sock`,
		Example: `  swarm web
  swarm web --write
  swarm web --listen localhost:8080
  swarm web --socket ~/web.sock
  swarm web --new-address
  swarm web --listen build.example.com:8443 --cert cert.pem --key key.pem`,
		Args: command.Arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case (o.cert == "") != (o.key == ""):
				return output.Usagef("--cert and --key belong together")
			case o.socket != "" && cmd.Flags().Changed("listen"):
				return output.Usagef("--socket and --listen exclude each other")
			case o.socket != "" && o.cert != "":
				return output.Usagef("--socket and --cert exclude each other")
			}
			return runWeb(a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "listen at `HOST:PORT`; port 0 is a free one")
	f.StringVar(&o.socket, "socket", "", "listen at a unix socket at `PATH`, which is made")
	f.StringVar(&o.cert, "cert", "", "`FILE` with a certificate (PEM), to encrypt connections")
	f.StringVar(&o.key, "key", "", "`FILE` with the key of the certificate")
	f.BoolVar(&o.write, "write", false, "let the pages act on workers")
	f.BoolVar(&o.fresh, "new-address", false, "do not use the path and the port of the last time")
	f.BoolVar(&o.json, "json", false, "print one JSON object (docs/web.schema.json): address, socket (empty without one), write")
	return cmd
}

func runWeb(a *app.App, o *webOptions) error {
	command, err := a.Companion("web")
	if err != nil {
		return err
	}
	command = append(command, "-listen", o.listen)
	for _, flag := range [][2]string{{"-socket", o.socket}, {"-cert", o.cert}, {"-key", o.key}} {
		if flag[1] != "" {
			command = append(command, flag[0], flag[1])
		}
	}
	if o.write {
		command = append(command, "-write")
	}
	if o.fresh {
		command = append(command, "-new-address")
	}
	if o.json {
		command = append(command, "-json")
	}
	return a.Become(swarm.Program{Command: command})
}
