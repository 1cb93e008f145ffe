package backendtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"github.com/swarmhost/swarm/shared/plugin/plugintest/harness"
	"github.com/swarmhost/swarm/shared/plugin/plugintest/script"
	"github.com/swarmhost/swarm/shared/swarm"
)

func sandboxCases() []testCase {
	return []testCase{
		newCase("sandbox-write-outside", scope{needs: swarm.CapSandbox},
			"a worker in a sandbox can change files where Sandbox.Write allows it, and nowhere else",
			func(k *kit) {
				if k.local {
					w := k.newEnclosed(script.Touch, "", swarm.Sandbox{})
					inside := filepath.Join(w.spec.Dir, "inside")
					w.spec.Env = append(w.spec.Env, script.ValueVar+"="+inside)
					if w.encloses() {
						w.readLine()
						k.wantFile(inside, true)
					}
				}
				outside := k.outside()
				k.control(script.Touch, outside, "written")
				if w := k.enclosed(script.Touch, outside, swarm.Sandbox{}); w != nil {
					w.readLine()
					k.wantFile(outside, false)
				}
				if w := k.enclosed(script.Touch, outside, swarm.Sandbox{Write: []string{filepath.Dir(outside)}}); w != nil {
					w.readLine()
					k.wantFile(outside, true)
				}
			}),
		newCase("sandbox-temporary-files", scope{needs: swarm.CapSandbox},
			"each worker in a sandbox has its own directories for temporary files, which it can write",
			func(k *kit) {
				shared := "/tmp/" + filepath.Base(k.outside())
				k.Cleanup(func() { _ = os.Remove(shared) })
				for range 2 {
					w := k.enclosed(script.Touch, shared, swarm.Sandbox{})
					if w == nil {
						return
					}
					if got := w.readLine(); got != "written" {
						k.Broken("a file that does not exist in the worker's /tmp: the worker reports %q", got)
					}
					k.wantFile(shared, false)
				}
				if err := os.WriteFile(shared, nil, 0o600); err != nil {
					k.Fatalf("%v", err)
				}
				w := k.enclosed(script.Touch, shared, swarm.Sandbox{})
				if w == nil {
					return
				}
				if got := w.readLine(); got != "written" {
					k.Broken("a file in the machine's /tmp: the worker reports %q", got)
				}
			}),
		newCase("sandbox-network", scope{needs: swarm.CapSandbox},
			"a worker in a sandbox has the network of Sandbox.Network; without a network it reaches no service of the machine",
			func(k *kit) {
				if runtime.GOOS != "linux" {
					return // the script reads /proc/net
				}
				l, err := new(net.ListenConfig).Listen(k.Ctx, "tcp4", "127.0.0.1:0")
				if err != nil {
					k.Fatalf("%v", err)
				}
				k.Cleanup(func() { _ = l.Close() })
				port := fmt.Sprintf("%04X", l.Addr().(*net.TCPAddr).Port)
				for _, c := range []struct{ network, want string }{
					{swarm.NetworkHost, "reached"},
					{"", "reached"},
					{swarm.NetworkNone, "alone"},
				} {
					w := k.enclosed(script.Reach, port, swarm.Sandbox{Network: c.network})
					if w == nil {
						return
					}
					if got := w.readLine(); got != c.want {
						k.Broken("with the network %q, the worker reports %q", c.network, got)
					}
				}
			}),
		newCase("sandbox-that-cannot-be-made", scope{needs: swarm.CapSandbox},
			"Spawn with a sandbox that can't be made is ErrInvalidSpec and leaves nothing behind",
			func(k *kit) {
				outside := k.outside()
				for why, box := range map[string]swarm.Sandbox{
					"a network that does not exist":        {Network: "some"},
					"a home that is no path":               {Home: "relative"},
					"a file to write that does not exist":  {Write: []string{outside + "-none"}},
					"a home that does not exist":           {Home: outside + "-none"},
					"a path to write that is not absolute": {Write: []string{"relative"}},
				} {
					w := k.newEnclosed(script.Touch, outside, box)
					err := w.tryStart(k.Ctx)
					if errors.Is(err, swarm.ErrUnavailable) {
						err = swarm.ErrInvalidSpec // this machine has no sandboxes
					}
					k.WantErr("Spawn with "+why, err, swarm.ErrInvalidSpec)
					w.gone()
					k.wantFile(outside, false)
				}
			}),
	}
}

func (k *kit) outside() string {
	k.Helper()
	dir, err := filepath.EvalSymlinks(k.TempDir())
	if err != nil {
		k.Fatalf("%v", err)
	}
	id, _ := harness.NewID()
	return filepath.Join(dir, id)
}

func (k *kit) wantFile(path string, want bool) {
	k.Helper()
	_, err := os.Lstat(path)
	if got := err == nil; got != want {
		k.Broken("a file that a worker tried to make exists: %v, want %v", got, want)
	}
	_ = os.Remove(path)
}

// control checks that a script outside a sandbox can do what the case forbids.
func (k *kit) control(s script.Script, value, want string) {
	k.Helper()
	w := k.newEnclosed(s, value, swarm.Sandbox{})
	w.spec.Sandbox = nil
	w.start()
	if got := w.readLine(); got != want {
		k.Fatalf("worker %q wrote %q without a sandbox instead of %q", s, got, want)
	}
	k.wantFile(value, true)
}

// enclosed starts a worker in a sandbox. It returns nil on a machine without sandboxes, after
// checking that nothing is left behind.
func (k *kit) enclosed(s script.Script, value string, box swarm.Sandbox) *worker {
	k.Helper()
	if w := k.newEnclosed(s, value, box); w.encloses() {
		return w
	}
	return nil
}

// encloses starts the worker and reports whether the machine has sandboxes.
func (w *worker) encloses() bool {
	w.Helper()
	err := w.tryStart(w.Ctx)
	if errors.Is(err, swarm.ErrUnavailable) {
		w.gone()
		return false
	}
	w.Must(fmt.Sprintf("Spawn of %q in the sandbox %+v", w.spec.Command, *w.spec.Sandbox), err)
	return true
}

// newEnclosed returns the spec of a worker in a sandbox. The state directory is hidden from it:
// its working directory and its FIFO are elsewhere.
func (k *kit) newEnclosed(s script.Script, value string, box swarm.Sandbox) *worker {
	k.Helper()
	w := k.newSpec(s)
	w.spec.Sandbox = &box
	w.spec.Env = append(w.spec.Env, script.ValueVar+"="+value)
	if k.local {
		w.spec.Dir = k.TempDir()
		w.writeIn(w.spec.Dir)
	}
	return w
}
