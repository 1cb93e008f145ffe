package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/swarmhost/swarm/shared/plugin/internal/handshake"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/plugin/internal/rpc"
	"github.com/swarmhost/swarm/shared/plugin/internal/wire"
	"github.com/swarmhost/swarm/shared/schema"
	"github.com/swarmhost/swarm/shared/swarm"
)

// Serve serves the plugin until its host is gone. Call it last in main, before anything is
// written to stdout.
//
// Serve does the work that an author can't see: it returns within milliseconds after the
// host was killed, removes its socket, turns a panic of a call into the error of that
// call, answers for many workers at once, and hides stdout and the plugin's own
// environment variables from the author's code. When the host exits, the contexts of the
// calls in progress end; calls that have not returned shortly after are cut off.
//
// Once the plugin serves, output to os.Stdout and os.Stderr goes to the host's log. SIGINT
// is meant for the host and ignored; SIGTERM ends the plugin. With invalid options, or when
// it is run by hand, the plugin prints the problem and exits with 1.
func Serve(o Options) {
	// The host reads the log from here and applies its own level.
	stderr := os.Stderr
	p, err := o.plugin(newLogger(stderr))
	if err != nil {
		refuse(err.Error())
	}
	if os.Getenv(handshake.CookieKey) != handshake.CookieValue {
		refuse(fmt.Sprintf("'%s' is a plugin of swarm (contract version %d) and does nothing by itself.\n"+
			"Put it next to swarm or on your PATH: swarm starts it when it is needed.", o.Name, swarm.ContractVersion))
	}
	// go-plugin replaces os.Stderr by a stream to the host, and what is on its way there is lost
	// when the plugin ends: among it is mostly the reason. The first call comes after that.
	initialize := p.New
	p.New = func(ctx context.Context, config []byte) (any, error) {
		os.Stderr = stderr
		return initialize(ctx, config)
	}
	// This process is idle until the host has connected.
	var warming sync.WaitGroup
	warming.Go(wire.Warm)
	defer warming.Wait()
	l := &life{server: rpc.New(p)}
	l.watch()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: handshake.Config(),
		Plugins:         goplugin.PluginSet{handshake.Name: wired{server: l.server}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return l.serves(grpc.NewServer(append(opts, grpc.MaxRecvMsgSize(handshake.MaxRequest))...))
		},
		// Below the level of a warning, go-plugin logs every call.
		Logger: hclog.New(&hclog.LoggerOptions{Output: stderr, JSONFormat: true, Level: hclog.Warn}),
	})
	l.server.Shutdown(drainLimit)
}

// wired is go-plugin's view of the plugin.
type wired struct {
	goplugin.NetRPCUnsupportedPlugin
	server *rpc.Server
}

// GRPCServer implements [goplugin.GRPCPlugin].
func (w wired) GRPCServer(_ *goplugin.GRPCBroker, g *grpc.Server) error {
	w.server.Register(g)
	return nil
}

// GRPCClient implements [goplugin.GRPCPlugin].
func (wired) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a plugin calls no plugin")
}

func (o Options) plugin(log *slog.Logger) (rpc.Plugin, error) {
	p := rpc.Plugin{Name: o.Name, Version: o.Version, Local: o.Local, Logger: log}
	if !swarm.ValidName(o.Name) {
		return p, fmt.Errorf("plugin.Options: '%s' is not a name", o.Name)
	}
	settings, err := o.Settings.read(schema.Of)
	if err != nil {
		return p, fmt.Errorf("plugin.Options of '%s': Settings: %w", o.Name, err)
	}
	options, err := o.SpecOptions.read(schema.OfOptions)
	if err != nil {
		return p, fmt.Errorf("plugin.Options of '%s': SpecOptions: %w", o.Name, err)
	}
	if p.Settings, err = json.Marshal(settings); err == nil {
		p.Options, err = json.Marshal(options)
	}
	if err != nil {
		return p, fmt.Errorf("plugin.Options of '%s': %w", o.Name, err)
	}
	kinds := 0
	if o.Backend != nil {
		kinds++
		p.Kind, p.New = pb.Kind_KIND_BACKEND, factory(o, o.Backend, settings, log)
	}
	if o.Workspace != nil {
		kinds++
		p.Kind, p.New = pb.Kind_KIND_WORKSPACE, factory(o, o.Workspace, settings, log)
	}
	if o.Tools != nil {
		kinds++
		p.Kind, p.New = pb.Kind_KIND_TOOLS, factory(o, o.Tools, settings, log)
	}
	if o.Notifier != nil {
		kinds++
		p.Kind, p.New = pb.Kind_KIND_NOTIFIER, factory(o, o.Notifier, settings, log)
	}
	if kinds != 1 {
		return p, fmt.Errorf("plugin.Options of '%s': exactly one of Backend, Workspace, Tools and Notifier must be set", o.Name)
	}
	return p, nil
}

func factory[T any](
	o Options, f func(context.Context, Env) (T, error), settings *schema.Schema, log *slog.Logger,
) func(context.Context, []byte) (any, error) {
	return func(ctx context.Context, config []byte) (any, error) {
		// go-plugin has read its variables, and no code of the author could start a process yet.
		for _, name := range handshake.Private {
			_ = os.Unsetenv(name) // fails only for invalid names
		}
		if err := kindOf(settings.CheckJSON(config), swarm.ErrInvalidConfig); err != nil {
			return nil, err
		}
		value, err := f(ctx, Env{Logger: log, Config: Config{json: config, served: &o.Settings}})
		if err == nil && any(value) == nil {
			err = errors.New("the plugin's factory returned nothing")
		}
		if missing := swarm.Unimplemented(value); err == nil && len(missing) > 0 {
			err = fmt.Errorf("the plugin lists the capability '%s' and does not implement it", missing[0])
		}
		return value, err
	}
}
