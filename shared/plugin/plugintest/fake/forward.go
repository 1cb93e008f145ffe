package fake

import (
	"context"
	"io"
	"net"
	"os"
	"strconv"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/relay"
	"github.com/swarmhost/swarm/shared/swarm"
)

// portVar holds the port that the program of [Backend.Forward] connects with.
const portVar = "PLUGINTEST_FORWARD"

// Forward implements [swarm.Forwarder]. Workers listen on this machine. The program is the one of this process, whose
// main function calls [ConnectIfAsked].
func (b *Backend) Forward(_ context.Context, h swarm.Handle, o swarm.ForwardOptions) (swarm.Program, error) {
	if err := o.Check(); err != nil {
		return swarm.Program{}, err
	}
	if _, err := b.runningWorker(h); err != nil {
		return swarm.Program{}, err
	}
	self, err := os.Executable()
	return swarm.Program{Command: []string{self}, Env: []string{portVar + "=" + strconv.Itoa(o.Port)}}, err
}

// ConnectIfAsked exits after a connection if this process is the program of [Backend.Forward].
func ConnectIfAsked() {
	port, err := strconv.Atoi(os.Getenv(portVar))
	if err != nil {
		return
	}
	os.Exit(relay.Main(func(ctx context.Context) (relay.Conn, error) { return relay.Dial(ctx, port) })) //nolint:forbidigo // for main
}

// listen is [script.Listen]. Connections that were accepted may outlive the worker.
func (w *worker) listen() {
	l, err := net.Listen("tcp", "127.0.0.1:"+w.variable(script.ValueVar)) //nolint:noctx // returns at once
	if err != nil {
		w.print("unable")
		return
	}
	go func() {
		<-w.done
		_ = l.Close()
	}()
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go func() {
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
				_, _ = io.WriteString(conn, "end")
			}()
		}
	}()
	w.print("ready")
}
