package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/machinetest"
	"github.com/swarmhost/swarm/shared/relay"
)

// The verbs of this program as the programs of TestEnter.
const (
	serveVerb = "serve-network"
	enterVerb = "enter-network"
	testPort  = 7
)

func init() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case relay.Verb:
		os.Exit(relay.PortMain(os.Args[2:]))
	case enterVerb:
		os.Exit(relay.Main(func(ctx context.Context) (relay.Conn, error) {
			network, err := os.Open("/proc/" + os.Args[2] + "/ns/net")
			if err != nil {
				return nil, err
			}
			return enter(ctx, network, testPort)
		}))
	case serveVerb:
		fmt.Fprintln(os.Stderr, serveNetwork())
		os.Exit(1)
	}
}

// serveNetwork listens on 127.0.0.1 of a network of its own, and sends back what it gets.
func serveNetwork() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	loopback, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	loopback.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, loopback); err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(testPort)))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		_, err = io.Copy(conn, conn)
		if err := errors.Join(err, conn.Close()); err != nil {
			return err
		}
	}
}

// TestEnter connects with a port in a network that only one process has: of root, and of another user, as a rootless
// engine has them.
func TestEnter(t *testing.T) {
	t.Parallel()
	machinetest.Root(t)
	machinetest.UserNamespaces(t)
	// The program of the test is where no other user may look.
	dir, err := os.MkdirTemp("", "swarm-network") //nolint:usetesting // a directory of a test is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self := filepath.Join(dir, "self")
	program, err := os.ReadFile("/proc/self/exe")
	if err := errors.Join(err, os.WriteFile(self, program, 0o755), os.Chmod(dir, 0o755), os.Chmod(self, 0o755)); err != nil {
		t.Fatal(err)
	}
	for _, uid := range []uint32{0, 65534} {
		t.Run(strconv.Itoa(int(uid)), func(t *testing.T) {
			t.Parallel()
			as := func(name string, args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), name, args...)
				cmd.Dir, cmd.Stderr = "/", os.Stderr
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
				return cmd
			}
			namespaces := "-n"
			if uid != 0 {
				namespaces = "-rn"
			}
			server := as("unshare", namespaces, self, serveVerb)
			words, err := server.StdoutPipe()
			if err := errors.Join(err, server.Start()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = server.Process.Kill()
				_ = server.Wait()
			})
			if _, err := io.ReadFull(words, make([]byte, len("ready\n"))); err != nil {
				t.Fatal(err)
			}
			client := as(self, enterVerb, strconv.Itoa(server.Process.Pid))
			client.Stdin = strings.NewReader("ping")
			if got, err := client.Output(); err != nil || string(got) != "ping" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
