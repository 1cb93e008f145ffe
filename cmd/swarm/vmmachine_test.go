//go:build vm

package main_test

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/swarmhost/swarm/shared/buildtest"
)

const (
	// bootLimit is how long a boot may take where an emulator runs the machine.
	bootLimit = 10 * time.Minute
	// commandLimit is how long a script may run in the machine.
	commandLimit = 10 * time.Minute
	// lifeLimit bounds the life of an emulator whose test was killed.
	lifeLimit = 20 * time.Minute
)

// machine is a virtual machine with Debian and the programs of swarm in /opt/swarm. Its disk
// is kept between boots.
type machine struct {
	t     *testing.T
	dir   string
	accel []string
	cmd   *exec.Cmd
	// ended is closed when the emulator is gone, and no longer holds the disk.
	ended <-chan struct{}

	console net.Conn
	// lines are those of the console, closed when the machine is off.
	lines chan string
	// boot is the id of the present boot, number that of the last script.
	boot   string
	number int

	mu sync.Mutex
	// facts are what scripts have written into /dev/virtio-ports/facts: the machine's disk
	// may lose it, the test does not.
	facts []string
}

// newMachine makes a machine and boots it: with KVM where that works, else emulated.
func newMachine(t *testing.T) *machine {
	t.Helper()
	base := os.Getenv("SWARM_TEST_VM")
	if base == "" {
		t.Fatal("SWARM_TEST_VM is not set: run 'make test-vm'")
	}
	m := &machine{t: t, dir: t.TempDir()}
	programs := filepath.Join(m.dir, "programs")
	for _, name := range []string{"swarm", "swarm-shim", "swarm-plugins"} {
		if err := buildtest.Program(filepath.Join(programs, name), "github.com/swarmhost/swarm/cmd/"+name); err != nil {
			t.Fatal(err)
		}
	}
	m.tool("mke2fs", "-q", "-t", "ext4", "-d", programs, "-E", "root_owner=0:0", filepath.Join(m.dir, "programs.disk"), "200M")
	m.tool("qemu-img", "create", "-q", "-f", "qcow2", "-b", filepath.Join(base, "disk"), "-F", "raw", filepath.Join(m.dir, "disk"))
	t.Cleanup(m.cut)
	for _, m.accel = range [][]string{{"-accel", "kvm", "-cpu", "host"}, {"-accel", "tcg", "-cpu", "max"}} {
		began := time.Now()
		err := m.start(base)
		if err == nil {
			t.Logf("the machine runs with %s, and boots in %s", m.accel[1], time.Since(began).Round(time.Second))
			return m
		}
		t.Logf("the machine does not run with %s: %v", m.accel[1], err)
		m.cut()
	}
	t.Fatal("the machine does not boot")
	return nil
}

func (m *machine) tool(name string, args ...string) {
	m.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		m.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// on boots the machine again.
func (m *machine) on() {
	m.t.Helper()
	if err := m.start(os.Getenv("SWARM_TEST_VM")); err != nil {
		m.t.Fatalf("boot: %v", err)
	}
}

func (m *machine) start(base string) error {
	socket := func(name string) string { return filepath.Join(m.dir, name) }
	life := lifeLimit
	if deadline, ok := m.t.Deadline(); ok {
		life = time.Until(deadline) - 5*time.Second // so the test can still report what it waited for
	}
	args := []string{"-n", "19", "timeout", "-s", "KILL", fmt.Sprintf("%.0f", life.Seconds()), "qemu-system-x86_64"}
	args = append(args, m.accel...)
	// The machine's unwritten data is in its own memory, and lost with it. Its writes are in
	// the page cache of this system, which outlives the emulator: so its flushes need not
	// reach a disk. Writes without a flush survive too, which a real disk does not promise.
	args = append(args, "-m", "1024", "-smp", "1", "-nodefaults", "-no-user-config", "-display", "none", "-nic", "none",
		"-serial", "file:"+socket("serial"),
		"-kernel", filepath.Join(base, "kernel"), "-initrd", filepath.Join(base, "initrd"),
		"-append", "root=/dev/vda ro console=ttyS0 panic=-1",
		"-drive", "file="+socket("disk")+",if=virtio,format=qcow2,cache=unsafe",
		"-drive", "file="+socket("programs.disk")+",if=virtio,format=raw,readonly=on",
		"-device", "virtio-serial-pci",
		"-chardev", "socket,id=swarm,server=on,wait=off,path="+socket("swarm"), "-device", "virtserialport,chardev=swarm,name=swarm",
		"-chardev", "socket,id=facts,server=on,wait=off,path="+socket("facts"), "-device", "virtserialport,chardev=facts,name=facts")
	cmd := exec.Command("nice", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said strings.Builder
	cmd.Stderr = &said
	for _, name := range []string{"swarm", "facts"} {
		_ = os.Remove(socket(name))
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	m.cmd = cmd
	// Wait returns once the last process has closed the standard error.
	ended := make(chan struct{})
	m.ended = ended
	go func() { _ = cmd.Wait(); close(ended) }()
	dial := func(name string) (net.Conn, error) {
		for {
			if c, err := net.Dial("unix", socket(name)); err == nil {
				return c, nil
			}
			select {
			case <-ended:
				return nil, errors.New("the emulator ended: " + strings.TrimSpace(said.String()))
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	var err error
	if m.console, err = dial("swarm"); err != nil {
		return err
	}
	m.lines = make(chan string, 100)
	go func(c net.Conn, lines chan<- string) {
		defer close(lines)
		for r := bufio.NewReader(c); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- strings.TrimSpace(line)
		}
	}(m.console, m.lines)
	facts, err := dial("facts")
	if err != nil {
		return err
	}
	go m.collect(facts)
	return m.ready()
}

func (m *machine) collect(c net.Conn) {
	for s := bufio.NewScanner(c); s.Scan(); {
		m.mu.Lock()
		m.facts = append(m.facts, s.Text())
		m.mu.Unlock()
	}
}

// reported returns the facts so far.
func (m *machine) reported() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.facts...)
}

// ready waits until the machine has booted.
func (m *machine) ready() error {
	limit := time.After(bootLimit)
	for {
		select {
		case line, ok := <-m.lines:
			if !ok {
				return errors.New("the emulator ended")
			}
			if boot, ok := strings.CutPrefix(line, "ready "); ok && boot != m.boot {
				m.boot = boot
				return nil
			}
		case <-limit:
			serial, _ := os.ReadFile(filepath.Join(m.dir, "serial"))
			return fmt.Errorf("it is not ready after %v; it wrote:\n%s", bootLimit, serial[max(0, len(serial)-2000):])
		}
	}
}

// cut takes the power away from the machine.
func (m *machine) cut() {
	if m.cmd == nil {
		return
	}
	_ = syscall.Kill(-m.cmd.Process.Pid, syscall.SIGKILL)
	<-m.ended
	if m.console != nil {
		for range m.lines { // until the emulator is gone
		}
		_ = m.console.Close()
	}
	m.cmd, m.console = nil, nil
}

// reboot restarts the machine as an administrator does.
func (m *machine) reboot() {
	m.t.Helper()
	m.send("systemctl reboot") // the console goes down before it can answer
	if err := m.ready(); err != nil {
		m.t.Fatalf("reboot: %v", err)
	}
}

// send begins a script in the machine.
func (m *machine) send(script string) {
	m.t.Helper()
	m.number++
	if _, err := fmt.Fprintf(m.console, "%d %s\n", m.number, base64.StdEncoding.EncodeToString([]byte(script))); err != nil {
		m.t.Fatal(err)
	}
}

// try runs a script of root and returns what it wrote.
func (m *machine) try(script string) (string, int) {
	m.t.Helper()
	m.send(script)
	limit := time.After(commandLimit)
	for {
		select {
		case line, ok := <-m.lines:
			if !ok {
				m.t.Fatal("the machine is off")
			}
			words := strings.Split(line, " ")
			if words[0] != strconv.Itoa(m.number) || len(words) < 2 {
				continue
			}
			code, _ := strconv.Atoi(words[1])
			text, _ := base64.StdEncoding.DecodeString(strings.Join(words[2:], ""))
			return string(text), code
		case <-limit:
			m.t.Fatalf("it is not done after %v: %s", commandLimit, script)
		}
	}
}

// root runs a script of root that must succeed, and logs what it wrote.
func (m *machine) root(script string) string {
	m.t.Helper()
	out, code := m.try(script)
	if code != 0 {
		m.t.Fatalf("exit code %d of\n%s\n%s", code, script, out)
	}
	return out
}

// asUser is the script that runs another one as an ordinary user whose systemd manager runs:
// in a scope of its own, as docs/limits.md says.
func asUser(script string) string {
	return "base64 -d >/run/user-script <<<" + base64.StdEncoding.EncodeToString([]byte(script)) + `
until [ -S /run/user/1000/bus ]; do sleep 0.1; done # the manager may still be starting
exec runuser -u dev -- env -i HOME=/home/dev USER=dev LANG=C.UTF-8 PATH=/opt/swarm:/usr/bin:/bin \
  XDG_RUNTIME_DIR=/run/user/1000 DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus \
  sh -c 'cd && exec systemd-run --user --scope --quiet bash /run/user-script'
`
}

// user runs a script of an ordinary user that must succeed.
func (m *machine) user(script string) string {
	m.t.Helper()
	return m.root(asUser(script))
}

// script returns a script of testdata/vm.
func (m *machine) script(name string) string {
	m.t.Helper()
	var text strings.Builder
	for _, part := range []string{"common.sh", name} {
		b, err := os.ReadFile(filepath.Join("testdata", "vm", part))
		if err != nil {
			m.t.Fatal(err)
		}
		text.Write(b)
	}
	return text.String()
}

// file runs a script of testdata/vm, and logs what it wrote.
func (m *machine) file(name string, as func(string) string) {
	m.t.Helper()
	out, code := m.try(as(m.script(name)))
	m.t.Logf("%s:\n%s", name, out)
	if code != 0 {
		m.t.Errorf("%s ended with exit code %d", name, code)
	}
}
