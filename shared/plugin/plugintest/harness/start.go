package harness

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/swarmhost/swarm/shared/plugin"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// startLimit is how long a host waits for a plugin to be ready.
const startLimit = 10 * time.Second

// programCase checks one rule about a plugin of any kind.
type programCase struct {
	name, rule string
	run        func(t T, p Program) error
}

func (p Program) items(cases []programCase) []Item {
	var items []Item
	for _, c := range cases {
		items = append(items, Item{Name: c.name, Rule: c.rule, Run: func(t T) {
			t.Helper()
			if err := c.run(t, p); err != nil {
				t.Errorf("broken: %s\n\t%v", c.rule, err)
			}
		}})
	}
	return items
}

// StartCases are about a plugin without a connection. If one of them fails, the other cases
// are not run.
func (p Program) StartCases() []Item {
	return p.items([]programCase{
		{
			name: "start-by-hand",
			rule: "a plugin started by hand explains itself on standard error and exits with a non-zero code",
			run: func(t T, p Program) error {
				r, err := p.run(t, "")
				switch {
				case err != nil:
					return err
				case !r.ended:
					return fmt.Errorf("without the cookie in its environment, it was still running after %v", startLimit)
				case r.code == 0 || r.errs == "":
					return fmt.Errorf("it exited with code %d and printed %q on standard error", r.code, r.errs)
				}
				return nil
			},
		},
		{
			name: "start-in-time",
			rule: "a plugin prints its handshake within 10 seconds of its start",
			run: func(t T, p Program) error {
				r, err := p.run(t, cookie())
				if err == nil && !r.ended && r.line == "" {
					return fmt.Errorf("it printed nothing and is still running%s", said(r.errs))
				}
				return nil // other mistakes are other rules
			},
		},
		{
			name: "start-handshake",
			rule: "the first line that a plugin prints on standard output is its handshake",
			run: func(t T, p Program) error {
				r, err := p.run(t, cookie())
				switch {
				case err != nil:
					return err
				case r.line != "" && !isHandshake(r.line):
					return fmt.Errorf("it printed %q", r.line)
				case r.line == "" && r.ended:
					return fmt.Errorf("it printed nothing and exited with code %d%s", r.code, said(r.errs))
				}
				return nil
			},
		},
	})
}

// LifeCases are about a plugin that has started.
func (p Program) LifeCases() []Item {
	return p.items([]programCase{
		{
			name: "describe-itself",
			rule: "Describe returns a valid name",
			run: func(t T, p Program) error {
				if name := p.Start(t).Info().Name; !swarm.ValidName(name) {
					return fmt.Errorf("its name is %q", name)
				}
				return nil
			},
		},
		{
			name: "describe-to-a-newer-host",
			rule: "a host with a newer contract gets the plugin's contract version; the plugin ignores unknown fields",
			run: func(t T, p Program) error {
				req := &pb.DescribeRequest{ContractVersion: swarm.ContractVersion + 1, ConfigFollows: true}
				unknown := protowire.AppendTag(nil, 1000, protowire.BytesType)
				req.ProtoReflect().SetUnknown(protowire.AppendString(unknown, "from the future"))
				resp, err := pb.NewPluginClient(p.Start(t).conn).Describe(t.Context(), req)
				if err != nil {
					return fmt.Errorf("Describe: %w", err)
				}
				if got := resp.GetContractVersion(); got != swarm.ContractVersion {
					return fmt.Errorf("it returned version %d, and version %d to this host", got, swarm.ContractVersion)
				}
				return nil
			},
		},
		{
			name: "host-dies",
			rule: "a plugin exits when its host is gone: when the pipe that the host holds is closed",
			run: func(t T, p Program) error {
				running := p.Start(t)
				running.Leave()
				if !ComesTrue(t.Context(), running.Exited) {
					return fmt.Errorf("it was still running after %v", Patience)
				}
				return nil
			},
		},
	})
}

// cookie is the variable that distinguishes a plugin from a program that a person runs.
func cookie() string {
	h := plugin.Handshake()
	return h.MagicCookieKey + "=" + h.MagicCookieValue
}

// begun is the behaviour of a program until its first line, its end or the limit.
type begun struct {
	line  string
	errs  string // its standard error
	ended bool
	code  int
}

// run starts the program with one more variable and returns its first behaviour.
func (p Program) run(t T, variable string) (begun, error) {
	t.Helper()
	read, write, err := os.Pipe() // the death pipe
	if err != nil {
		t.Fatalf("make the death pipe: %v", err)
	}
	defer func() { _ = write.Close() }()
	cmd := p.command(t, read)
	if variable != "" {
		cmd.Env = append(cmd.Env, variable, "PLUGIN_PROTOCOL_VERSIONS=1")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	cmd.WaitDelay = time.Second // for processes that inherited its standard error
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("make a pipe: %v", err)
	}
	err = cmd.Start()
	_ = read.Close()
	if err != nil {
		return begun{}, fmt.Errorf("start the plugin: %w", err)
	}
	limit := time.AfterFunc(startLimit, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	line, _ := bufio.NewReader(io.LimitReader(out, 4<<10)).ReadString('\n')
	r := begun{line: strings.TrimRight(line, "\r\n")}
	if r.line != "" && limit.Stop() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	_ = cmd.Wait() // how it ended is in its state
	limit.Stop()
	r.ended = cmd.ProcessState.Exited()
	r.code, r.errs = cmd.ProcessState.ExitCode(), strings.TrimSpace(errs.String())
	return r, nil
}

// isHandshake reports whether a line is that of go-plugin, for this protocol.
func isHandshake(line string) bool {
	f := strings.Split(line, "|")
	return len(f) >= 5 && f[0] == "1" && f[1] == "1" && (f[2] == "unix" || f[2] == "tcp") && f[4] == "grpc"
}

func said(errs string) string {
	if errs == "" {
		return ""
	}
	return ": " + errs
}
