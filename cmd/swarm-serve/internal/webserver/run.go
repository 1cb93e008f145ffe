// Package webserver is `swarm web`, see [github.com/swarmhost/swarm/host/web]: it listens, and keeps
// the address of the pages.
package webserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/swarmhost/swarm/cmd/internal/setup"
	"github.com/swarmhost/swarm/host/dash"
	"github.com/swarmhost/swarm/host/web"
	"github.com/swarmhost/swarm/shared/safetext"
)

// Run serves the pages with the arguments of its command line, and returns the exit code.
func Run(args []string, out, errs *os.File, env []string) int {
	o, err := parse(args, errs)
	if err == nil {
		err = serve(o, out, errs, env)
	}
	return setup.Finish(err, errs)
}

type options struct {
	// program is the path of swarm, empty if it was not given.
	program string
	listen  listenOptions
	write   bool
	json    bool
	// fresh says that the pages get a new address.
	fresh bool
}

// parse reads the command line, and checks that swarm is of the same version.
func parse(args []string, errs *os.File) (o options, err error) {
	flags := setup.NewCompanion("web", &o.program, errs)
	flags.StringVar(&o.listen.address, "listen", "127.0.0.1:0", "`address` to listen at")
	flags.StringVar(&o.listen.socket, "socket", "", "`path` of a unix socket to listen at")
	flags.StringVar(&o.listen.cert, "cert", "", "`file` with the certificate")
	flags.StringVar(&o.listen.key, "key", "", "`file` with the key of the certificate")
	flags.BoolVar(&o.write, "write", false, "let the browser act on workers")
	flags.BoolVar(&o.json, "json", false, "print the address as JSON")
	flags.BoolVar(&o.fresh, "new-address", false, "make a new address")
	err = flags.Parse(args)
	return o, err
}

type answer struct {
	// Address is to be opened in a browser; Socket is the path of the unix socket that it
	// leads to, or empty.
	Address string `json:"address"`
	Socket  string `json:"socket"`
	Write   bool   `json:"write"`
}

func serve(o options, out, errs *os.File, env []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	s := setup.Setup{Env: env, Program: o.program, Command: "swarm web"}
	s.LogTo("swarm-serve", errs)
	loaded, err := s.LoadUser()
	if err != nil {
		// The valid part of a damaged file is used.
		setup.Warn(err, errs)
	}
	h, err := s.Open(ctx, loaded.Config)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	dir, err := s.StateDir()
	if err != nil {
		return err
	}
	home, err := loadPlace(dir, o.fresh)
	if err != nil {
		setup.Warn(err, errs)
	}
	l, err := listenAt(ctx, o.listen, &home)
	if err != nil {
		return err
	}
	if err := home.save(dir); err != nil {
		setup.Warn(err, errs)
	}
	server := web.New(web.Options{
		Host: dash.PartsOf(h), Write: o.write, Names: l.names, AnyAddress: l.open, TLS: l.config, Logger: s.Logger, Path: home.pathAt(l.port()),
		Spent: func(path string) {
			fmt.Fprintf(errs, "swarm: hint: a browser has opened the address; for another one: %s%s\n", l.base, path)
		},
	})
	if o.json {
		return errors.Join(json.NewEncoder(out).Encode(answer{server.Address(l.base), l.socket, o.write}), server.Serve(ctx, l))
	}
	fmt.Fprintln(out, server.Address(l.base))
	if l.socket != "" {
		fmt.Fprintf(errs, "swarm: hint: the server listens at %s; reach it from elsewhere with: ssh -L 8080:%s HOST\n",
			safetext.Line(l.socket), safetext.Line(l.socket))
	}
	what := "The page only shows workers; --write lets it act on them."
	if o.write {
		what = "The person who opens it first can act on your workers."
	}
	fmt.Fprintf(errs, "swarm: hint: open this address in a browser; Ctrl-C ends the server. %s\n", what)
	return server.Serve(ctx, l)
}

// listenAt listens at the port that the pages had before, if any port will do and that one
// is free.
func listenAt(ctx context.Context, o listenOptions, home *place) (*listener, error) {
	if before := home.at(o.address); o.socket == "" && before != o.address {
		again := o
		again.address = before
		if l, err := listen(ctx, again); err == nil {
			return l, nil
		}
	}
	l, err := listen(ctx, o)
	if err != nil || o.socket != "" || home.Port != 0 {
		return l, err
	}
	if _, port, err := net.SplitHostPort(o.address); err == nil && port == "0" {
		home.Port = l.port()
	}
	return l, nil
}
