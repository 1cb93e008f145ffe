package harness

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/plugin/internal/pb"
	"github.com/swarmhost/swarm/shared/swarm"
)

// startLimit is how long a host waits for a plugin to be ready.
const startLimit = 10 * time.Second

// item returns the case of a rule about a plugin of any kind.
func item(name, rule string, run func(k Kit)) Item {
	return Item{Name: name, Rule: rule, Run: func(t T) { t.Helper(); run(NewKit(t, rule)) }}
}

// StartCases are about a plugin without a connection. If one of them fails, the other cases
// are not run.
func (p Program) StartCases() []Item {
	return []Item{
		item("start-by-hand",
			"a plugin started by hand explains itself on standard error and exits with a non-zero code",
			func(k Kit) {
				switch r := p.run(k, ""); {
				case !r.ended:
					k.Broken("without the cookie in its environment, it was still running after %v", startLimit)
				case r.code == 0 || r.errs == "":
					k.Broken("it exited with code %d and printed %q on standard error", r.code, r.errs)
				}
			}),
		item("start-in-time",
			"a plugin prints its handshake within 10 seconds of its start",
			func(k Kit) {
				// Other mistakes break other rules.
				if r := p.run(k, cookie()); !r.ended && r.line == "" {
					k.Broken("it printed nothing and is still running%s", suffix(r.errs))
				}
			}),
		item("start-handshake",
			"the first line that a plugin prints on standard output is its handshake",
			func(k Kit) {
				switch r := p.run(k, cookie()); {
				case r.line != "" && !isHandshake(r.line):
					k.Broken("it printed %q", r.line)
				case r.line == "" && r.ended:
					k.Broken("it printed nothing and exited with code %d%s", r.code, suffix(r.errs))
				}
			}),
	}
}

// LifeCases are about a plugin that has started.
func (p Program) LifeCases() []Item {
	return append(p.announcedCases(), []Item{
		item("describe-itself",
			"Describe returns a valid name",
			func(k Kit) {
				if name := p.Start(k).Info().Name; !swarm.ValidName(name) {
					k.Broken("its name is %q", name)
				}
			}),
		item("describe-to-a-newer-host",
			"a host with a newer contract gets the plugin's contract version; the plugin ignores unknown fields",
			func(k Kit) {
				req := &pb.DescribeRequest{ContractVersion: swarm.ContractVersion + 1, ConfigFollows: true}
				unknown := protowire.AppendTag(nil, 1000, protowire.BytesType)
				req.ProtoReflect().SetUnknown(protowire.AppendString(unknown, "from the future"))
				resp, err := pb.NewPluginClient(p.Start(k).conn).Describe(k.Ctx, req)
				k.Must("Describe", err)
				if got := resp.GetContractVersion(); got != swarm.ContractVersion {
					k.Broken("it returned version %d, and version %d to this host", got, swarm.ContractVersion)
				}
			}),
		item("host-dies",
			"a plugin exits when its host is gone: when the pipe that the host holds is closed",
			func(k Kit) {
				running := p.Start(k)
				running.Leave()
				if !ComesTrue(k.Ctx, running.Exited) {
					k.Broken("it was still running after %v", Patience)
				}
			}),
	}...)
}

// cookie returns the variable that the host sets for a plugin.
func cookie() string {
	h := client.Handshake()
	return h.MagicCookieKey + "=" + h.MagicCookieValue
}

// begun describes a program up to its first line, its end or the limit.
type begun struct {
	line  string
	errs  string // its standard error
	ended bool
	code  int
}

// run starts the program with one more variable and returns its first behaviour.
func (p Program) run(k Kit, variable string) begun {
	k.Helper()
	read, write, err := os.Pipe() // the death pipe
	if err != nil {
		k.Fatalf("make the death pipe: %v", err)
	}
	defer func() { _ = write.Close() }()
	cmd := p.command(k, read)
	if variable != "" {
		cmd.Env = append(cmd.Env, variable, "PLUGIN_PROTOCOL_VERSIONS=1")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	cmd.WaitDelay = startLimit // for processes that inherited its standard error
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.Fatalf("make a pipe: %v", err)
	}
	err = cmd.Start()
	_ = read.Close()
	k.Must("start the plugin", err)
	limit := time.AfterFunc(startLimit, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	line, _ := bufio.NewReader(io.LimitReader(out, 4<<10)).ReadString('\n')
	r := begun{line: strings.TrimRight(line, "\r\n")}
	if r.line != "" && limit.Stop() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	_ = cmd.Wait() // the result is in its state
	limit.Stop()
	r.ended = cmd.ProcessState.Exited()
	r.code, r.errs = cmd.ProcessState.ExitCode(), strings.TrimSpace(errs.String())
	return r
}

// isHandshake reports whether a line is a handshake of go-plugin for this protocol.
func isHandshake(line string) bool {
	f := strings.Split(line, "|")
	return len(f) >= 5 && f[0] == "1" && f[1] == "1" && (f[2] == "unix" || f[2] == "tcp") && f[4] == "grpc"
}

func suffix(errs string) string {
	if errs == "" {
		return ""
	}
	return ": " + errs
}
