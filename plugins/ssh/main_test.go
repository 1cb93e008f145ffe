//go:build ssh

package ssh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/swarmhost/swarm/plugins/ssh"
	"github.com/swarmhost/swarm/plugins/ssh/sshtest"
	"github.com/swarmhost/swarm/shared/buildtest"
)

// programs is the directory of the built programs, shared the ssh server that the tests
// share.
var (
	programs string
	shared   *sshtest.Set
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ssh.ForwardVerb { // as the program of the plugin in this process
		os.Exit(ssh.ForwardMain(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == ssh.StreamVerb {
		os.Exit(ssh.StreamMain(os.Args[2:]))
	}
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "swarm-ssh-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	programs = filepath.Join(dir, "bin")
	if err := os.Mkdir(programs, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	const cmd = "github.com/swarmhost/swarm/cmd/"
	if err := buildtest.Programs(programs, cmd+"swarm-plugins", cmd+"swarm-remote", cmd+"swarm-shim"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	err = sshtest.Run(func(s *sshtest.Set) error {
		shared = s
		code = m.Run()
		return nil
	}, "devbox")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
}
