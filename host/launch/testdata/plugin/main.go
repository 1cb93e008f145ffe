// Command plugin is a plugin for the tests of package launch. Its first argument
// says how it behaves, or misbehaves.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/swarm"
)

func main() {
	mode, arg := os.Args[1], ""
	if len(os.Args) > 2 {
		arg = os.Args[2]
	}
	o := plugin.Options{Name: "test", Version: "1.2.3", Backend: func(_ context.Context, env plugin.Env) (swarm.Backend, error) {
		env.Logger.Error("logged by the plugin")
		return &backend{arg: arg}, nil
	}}
	switch mode {
	case "serve":
	case "deaf":
		defer hang()
	case "garbage":
		fmt.Println("hello")
	case "exits":
		fmt.Fprintln(os.Stderr, "starting")
		fmt.Fprintln(os.Stderr, "no engine here")
		os.Exit(3)
	case "panics":
		panic("out of luck")
	case "hangs":
		fmt.Fprintln(os.Stderr, "thinking")
		hang()
	case "facts":
		facts(arg)
	case "config":
		o.Backend, o.Settings = configured, plugin.SchemaOf[settings]()
	case "workspace":
		o.Backend = nil
		o.Workspace = func(context.Context, plugin.Env) (swarm.Workspace, error) { return nil, errors.New("no") }
	case "dying-backend":
		o.Backend = func(_ context.Context, env plugin.Env) (swarm.Backend, error) { return crasher{arg, env}, nil }
	case "dying-workspace":
		o.Backend = nil
		o.Workspace = func(_ context.Context, env plugin.Env) (swarm.Workspace, error) { return crasher{arg, env}, nil }
	case "newer":
		newer()
	case "stays":
		// Neither a signal nor the end of the service makes it leave.
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		newer()
		hang()
	default:
		fmt.Fprintln(os.Stderr, "unknown mode", mode)
		os.Exit(2)
	}
	plugin.Serve(o)
}

// backend is a backend whose one worker is a file descriptor held open.
type backend struct{ arg string }

// Spawn starts the program that is asked for with the plugin's own standard
// error, as a careless plugin does, and returns its pid.
func (b *backend) Spawn(ctx context.Context, spec swarm.Spec) (swarm.Handle, error) {
	cmd := exec.Command(spec.Command[0], spec.Command[1:]...)
	cmd.Stderr = os.NewFile(2, "stderr")
	if err := cmd.Start(); err != nil {
		return swarm.Handle{}, err
	}
	return swarm.Handle{Version: 1, Data: fmt.Appendf(nil, "%d", cmd.Process.Pid)}, nil
}

// Status crashes if it is asked to.
func (b *backend) Status(_ context.Context, h swarm.Handle) (swarm.Status, error) {
	if string(h.Data) == "crash" {
		fmt.Fprintln(os.NewFile(2, "stderr"), "fatal error: a wire came loose")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if string(h.Data) == "deaf" {
		closeSockets()
	}
	fmt.Println("printed while serving")
	return swarm.Status{State: swarm.StateRunning, PID: os.Getpid()}, nil
}

// closeSockets shuts all sockets of the process down.
func closeSockets() {
	for fd := range 100 {
		_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
	}
}

// Kill takes until its context ends, and then a moment to put things right.
func (b *backend) Kill(ctx context.Context, _ swarm.Handle, _ swarm.KillOptions) (swarm.KillResult, error) {
	<-ctx.Done()
	if b.arg != "" {
		if err := os.WriteFile(b.arg, []byte("undone"), 0o600); err != nil {
			return swarm.KillResult{}, err
		}
	}
	return swarm.KillResult{}, ctx.Err()
}

type settings struct {
	Color string `json:"color"`
}

func configured(_ context.Context, env plugin.Env) (swarm.Backend, error) {
	var c settings
	if err := env.Config.Decode(&c); err != nil {
		return nil, err
	}
	return &backend{}, nil
}

// facts writes down what the plugin was given.
func facts(path string) {
	wd, _ := os.Getwd()
	stdin, _ := os.Readlink("/proc/self/fd/0")
	lines := append(os.Environ(), "wd="+wd, "stdin="+stdin, fmt.Sprintf("leader=%v", syscall.Getpgrp() == os.Getpid()))
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		panic(err)
	}
}

// newer serves the protocol of a contract that does not exist yet: to every call
// it answers with a message whose fourth field is 99.
func newer() {
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: client.Handshake(),
		Plugins:         goplugin.PluginSet{client.PluginName: bare{}},
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(opts, grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
				var m emptypb.Empty
				if err := stream.RecvMsg(&m); err != nil {
					return err
				}
				m.ProtoReflect().SetUnknown([]byte{4 << 3, 99})
				return stream.SendMsg(&m)
			}))...)
		},
	})
}

// bare registers no service.
type bare struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (bare) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (bare) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is a plugin")
}

// hang never returns. An empty select would be a deadlock to the runtime.
func hang() {
	for range time.Tick(time.Hour) {
	}
}
