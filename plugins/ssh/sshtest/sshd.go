// Package sshtest starts real ssh servers for tests, on ports, keys and home directories of
// their own. Tests alone import it.
package sshtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/sleep"
)

const startLimit = 20 * time.Second

// Server is an ssh server on the loopback interface. A user who logs in is the user of the
// test, in another home directory.
type Server struct {
	// Name is the host's name in the settings of ssh.
	Name string
	// Home is the home directory of the user who logs in.
	Home string
	// Port is where it listens.
	Port int

	dir string
	cmd *exec.Cmd
}

// Set is a set of servers.
type Set struct {
	Servers []*Server
	// Config is the path of settings for ssh in which all of them are, by their names.
	Config string

	guard *guard
}

// Run starts servers, one for each name, calls f with them, and ends them.
func Run(f func(*Set) error, names ...string) (err error) {
	dir, err := os.MkdirTemp("", "swarm-sshd")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := start(dir, names)
	defer func() { err = errors.Join(err, s.stop()) }()
	if err != nil {
		return err
	}
	return f(s)
}

// Start starts servers for one test.
func Start(t *testing.T, names ...string) *Set {
	t.Helper()
	dir, err := os.MkdirTemp("", "swarm-sshd") //nolint:usetesting // sockets need a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := start(dir, names)
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Set) stop() (err error) {
	for _, server := range s.Servers {
		err = errors.Join(err, server.Stop())
		// It fails where no worker had a terminal.
		_ = exec.CommandContext(context.Background(), "tmux", "-S", server.tmux(), "kill-server").Run()
	}
	return errors.Join(err, s.guard.end())
}

func start(dir string, names []string) (*Set, error) {
	set := &Set{Config: filepath.Join(dir, "config")}
	var err error
	if set.guard, err = guardOf(dir); err != nil {
		return set, err
	}
	key := filepath.Join(dir, "key")
	if err := keygen(key); err != nil {
		return set, err
	}
	me, err := user.Current()
	if err != nil {
		return set, err
	}
	var config strings.Builder
	for _, name := range names {
		s := &Server{Name: name, dir: filepath.Join(dir, name), Home: filepath.Join(dir, name, "home")}
		if err := s.make(key); err != nil {
			return set, err
		}
		set.Servers = append(set.Servers, s)
		if err := s.Start(); err != nil {
			return set, err
		}
		fmt.Fprintf(&config, "Host %s\n  HostName 127.0.0.1\n  Port %d\n  User %s\n  IdentityFile %s\n  IdentitiesOnly yes\n"+
			"  UserKnownHostsFile %s\n  SendEnv *\n", name, s.Port, me.Username, key, filepath.Join(s.dir, "known_hosts"))
	}
	return set, os.WriteFile(set.Config, []byte(config.String()), 0o600)
}

// tmux returns the socket of the tmux server of the user who logs in.
func (s *Server) tmux() string {
	return filepath.Join(s.Home, fmt.Sprintf("tmux-%d", os.Getuid()), "default")
}

func keygen(path string) error {
	out, err := exec.CommandContext(context.Background(), "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ssh-keygen: %w: %s", err, out)
	}
	return nil
}

func (s *Server) make(key string) error {
	if err := os.MkdirAll(s.Home, 0o700); err != nil {
		return err
	}
	hostKey := filepath.Join(s.dir, "host_key")
	if err := keygen(hostKey); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.Port = listener.Addr().(*net.TCPAddr).Port
	_ = listener.Close()
	public, err := os.ReadFile(hostKey + ".pub")
	if err != nil {
		return err
	}
	allowed, err := os.ReadFile(key + ".pub")
	if err != nil {
		return err
	}
	login := filepath.Join(s.dir, "login")
	for path, text := range map[string]string{
		filepath.Join(s.dir, "known_hosts"):     fmt.Sprintf("[127.0.0.1]:%d %s", s.Port, public),
		filepath.Join(s.dir, "authorized_keys"): string(allowed),
		login:                                   fmt.Sprintf("#!/bin/sh\nexport HOME=%[1]s TMUX_TMPDIR=%[1]s\ncd\necho a login shell that prints\nprintf unfinished\nexec sh -c \"$SSH_ORIGINAL_COMMAND\"\n", s.Home),
		filepath.Join(s.dir, "sshd_config"): fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\n"+
			"PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"+
			"MaxSessions 500\nMaxStartups 500\nAcceptEnv *\nForceCommand %s\n",
			s.Port, hostKey, filepath.Join(s.dir, "authorized_keys"), login),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return os.Chmod(login, 0o700)
}

func (s *Server) Start() error {
	path, err := exec.LookPath("sshd")
	if err != nil {
		path = "/usr/sbin/sshd"
	}
	if os.Getuid() == 0 {
		// The package of the server makes it at the boot of a machine.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			return err
		}
	}
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd = exec.CommandContext(context.Background(), path, "-D", "-e", "-f", filepath.Join(s.dir, "sshd_config"))
	s.cmd.Stderr = log
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for limit := time.Now().Add(startLimit); ; {
		c, err := new(net.Dialer).DialContext(context.Background(), "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port)))
		if err == nil {
			return c.Close()
		}
		if time.Now().After(limit) {
			text, _ := os.ReadFile(log.Name())
			return errors.Join(fmt.Errorf("sshd does not listen: %w: %s", err, text), s.Stop())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Stop ends the server and all its connections. It can be started again.
func (s *Server) Stop() error {
	if s.cmd == nil {
		return nil
	}
	// Stopped first, so that it takes no connection meanwhile.
	_ = s.cmd.Process.Signal(syscall.SIGSTOP)
	s.Cut()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
	return nil
}

// Pause keeps the server from answering, as a machine does that hangs: it accepts
// connections and says nothing. The returned function lets it continue.
func (s *Server) Pause() (resume func()) {
	resumeOthers := s.Stall()
	_ = s.cmd.Process.Signal(syscall.SIGSTOP)
	return func() {
		resumeOthers()
		_ = s.cmd.Process.Signal(syscall.SIGCONT)
	}
}

// Stall is Pause for the connections that there are: new ones are answered.
func (s *Server) Stall() (resume func()) {
	stalled := s.signal(syscall.SIGSTOP)
	return func() {
		for _, p := range stalled {
			_ = syscall.Kill(p.PID, syscall.SIGCONT) // it may have been cut
		}
	}
}

// Cut breaks all connections, and reports how many processes served one.
func (s *Server) Cut() int { return len(s.signal(syscall.SIGKILL)) }

// signal signals the processes that serve connections, and returns them.
func (s *Server) signal(sig syscall.Signal) []proc.Process {
	return slices.DeleteFunc(s.below("sshd"), func(p proc.Process) bool { return syscall.Kill(p.PID, sig) != nil })
}

// Serves returns for how long the server has run a program for all connections, 0 if
// it does not.
func (s *Server) Serves(program string) time.Duration {
	var longest time.Duration
	for _, p := range s.below(program) {
		if info, err := os.Stat(fmt.Sprintf("/proc/%d", p.PID)); err == nil {
			longest = max(longest, time.Since(info.ModTime()))
		}
	}
	return longest
}

// below returns the processes below the server that run a program.
func (s *Server) below(program string) []proc.Process {
	// After an error some are missing, as one is that has just begun.
	all, _ := proc.Tree(s.cmd.Process.Pid, func(proc.Process) (bool, error) { return false, nil })
	return slices.DeleteFunc(all, func(p proc.Process) bool { return p.Name != program })
}

// Until waits for a condition.
func Until(ctx context.Context, ok func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for !ok() {
		if err := sleep.For(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
