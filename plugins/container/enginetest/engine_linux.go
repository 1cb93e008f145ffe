// Package enginetest runs real container engines for tests, Docker and Podman, each with a
// directory and a socket of its own, and an image that it makes of a static busybox.
//
// It needs Linux, root, and the programs that `make test-container` installs. It is imported by
// tests only.
package enginetest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/swarmhost/swarm/shared/leftover"
)

// Image is the name of the image that every engine has.
const Image = "localhost/busy:latest"

// The kinds of engines.
const (
	Docker = "docker"
	Podman = "podman"
)

type Engine struct {
	Kind string
	// Socket is where it listens.
	Socket string
	// Registry has images that the engine can fetch.
	Registry *Registry
	dir      string
	cmd      *exec.Cmd
	log      *os.File
}

// EnvOnly names the variable that holds the only kind of engine to test.
const EnvOnly = "SWARM_TEST_ENGINE"

const startLimit = time.Minute

// Run starts an engine and calls f with it. Whatever runs in it ends with it.
func Run(kind string, f func(*Engine) error) (err error) {
	dir, err := leftover.MkdirTemp("", "swarm-"+kind)
	if err != nil {
		return err
	}
	e := &Engine{Kind: kind, Socket: filepath.Join(dir, "engine.sock"), dir: dir}
	made, shared := absent(makes[kind]), absent(makesShared[kind])
	defer func() {
		err = errors.Join(err, e.clean(made))
		for _, path := range shared {
			_ = os.Remove(path) // it fails while another engine has something in it
		}
	}()
	image, err := files(Image)
	if err != nil {
		return err
	}
	if e.Registry, err = newRegistry(); err != nil {
		return err
	}
	defer e.Registry.close()
	if err := e.configure(); err != nil {
		return err
	}
	if e.log, err = os.Create(filepath.Join(dir, "engine.log")); err != nil {
		return err
	}
	defer func() { _ = e.log.Close() }()
	if err := e.Start(); err != nil {
		return err
	}
	defer e.leave()
	if err := e.importImage(image); err != nil {
		return err
	}
	return f(e)
}

// Start starts the engine, again if it was killed, and returns once it answers.
func (e *Engine) Start() error {
	_ = os.Remove(e.Socket)
	// A containerd that ended with its dockerd may be a zombie whose number Docker believes.
	_ = os.Remove(filepath.Join(e.dir, "exec", "containerd", "containerd.pid"))
	e.cmd = exec.Command(e.argv()[0], e.argv()[1:]...) //nolint:noctx // ends with Kill
	e.cmd.Stdout, e.cmd.Stderr = e.log, e.log
	e.cmd.Env = append(os.Environ(), "CONTAINERS_CONF="+e.file("containers.conf"), "CONTAINERS_STORAGE_CONF="+e.file("storage.conf"),
		"CONTAINERS_REGISTRIES_CONF="+e.file("registries.conf"))
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := e.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w: `make test-container` installs it", e.Kind, err)
	}
	c, err := e.Client()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err = c.Ping(context.Background(), client.PingOptions{}); err == nil {
			return nil
		}
		if time.Since(begun) > startLimit {
			log, _ := os.ReadFile(e.log.Name())
			e.Kill()
			return fmt.Errorf("%s does not get ready: %w\n%s", e.Kind, err, log[max(0, len(log)-4096):])
		}
	}
}

func (e *Engine) Client() (*client.Client, error) {
	return client.New(client.WithHost("unix://" + e.Socket))
}

// Kill kills the engine with SIGKILL. Its containers keep running.
func (e *Engine) Kill() {
	_ = e.cmd.Process.Kill()
	_ = e.cmd.Wait()
}

func (e *Engine) file(name string) string { return filepath.Join(e.dir, name) }

func (e *Engine) argv() []string {
	if e.Kind == Podman {
		return []string{
			"podman", "--runtime", "runc", "--root", e.file("data"), "--runroot", e.file("run"), "--tmpdir", e.file("tmp"),
			"--log-level", "error", "system", "service", "--time", "0", "unix://" + e.Socket,
		}
	}
	return []string{
		"dockerd", "--data-root", e.file("data"), "--exec-root", e.file("exec"), "--pidfile", e.file("pid"), "-H", "unix://" + e.Socket,
		"--iptables=false", "--ip6tables=false", "--bridge=none", "--containerd-namespace", filepath.Base(e.dir),
		"--max-download-attempts", "1", "--log-level", "error", "--raw-logs",
	}
}

// configure writes the configuration of Podman: locks of its own, limits that containers
// may have in a container, an init program, and the registry, which has no certificate.
func (e *Engine) configure() error {
	init := ""
	for _, name := range []string{"/usr/libexec/podman/catatonit", "catatonit", "docker-init", "tini-static", "tini"} {
		if path, err := exec.LookPath(name); err == nil && init == "" {
			init = path
		}
	}
	conf := fmt.Sprintf(`[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
runtime = "runc"
init_path = %q
`, init)
	storage := fmt.Sprintf("[storage]\ndriver = \"overlay\"\ngraphroot = %q\nrunroot = %q\n", e.file("data"), e.file("run"))
	registries := fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", e.Registry.Address)
	return errors.Join(
		os.WriteFile(e.file("containers.conf"), []byte(conf), 0o600),
		os.WriteFile(e.file("registries.conf"), []byte(registries), 0o600),
		os.WriteFile(e.file("storage.conf"), []byte(storage), 0o600),
	)
}

// files returns a tar file of what is in the image: a static busybox, under the names of all
// its commands, and the name of the image.
func files(name string) ([]byte, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return nil, fmt.Errorf("%w: `make test-container` installs it", err)
	}
	busybox, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	applets, err := exec.Command(path, "--list").Output() //nolint:noctx // returns at once
	if err != nil {
		return nil, err
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	var errs []error
	put := func(h tar.Header, data []byte) {
		h.Size = int64(len(data))
		errs = append(errs, w.WriteHeader(&h))
		if len(data) > 0 {
			_, err := w.Write(data)
			errs = append(errs, err)
		}
	}
	for _, dir := range []string{"bin/", "etc/", "proc/", "dev/", "sys/", "run/", "root/"} {
		put(tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	put(tar.Header{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777}, nil)
	put(tar.Header{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("root:x:0:0:root:/root:/bin/sh\n"))
	put(tar.Header{Name: "etc/image", Typeflag: tar.TypeReg, Mode: 0o644}, []byte(name))
	put(tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, busybox)
	for applet := range strings.FieldsSeq(string(applets)) {
		if applet != "busybox" {
			put(tar.Header{Name: "bin/" + applet, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
		}
	}
	err = errors.Join(append(errs, w.Close())...)
	return image.Bytes(), err
}

// importImage makes the image [Image] of a tar file.
func (e *Engine) importImage(files []byte) error {
	c, err := e.Client()
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	got, err := c.ImageImport(context.Background(), client.ImageImportSource{Source: bytes.NewReader(files), SourceName: "-"}, Image, client.ImageImportOptions{})
	if err != nil {
		return fmt.Errorf("import the image: %w", err)
	}
	defer func() { _ = got.Close() }()
	said, err := io.ReadAll(got)
	if err != nil || bytes.Contains(said, []byte(`"error"`)) {
		return fmt.Errorf("import the image: %w: %s", err, said)
	}
	return nil
}

func (e *Engine) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	if c, err := e.Client(); err == nil {
		list, err := c.ContainerList(ctx, client.ContainerListOptions{All: true})
		if err == nil {
			for _, item := range list.Items {
				_, _ = c.ContainerRemove(ctx, item.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
			}
		}
		_ = c.Close()
	}
	_ = e.cmd.Process.Signal(syscall.SIGTERM)
	limit := time.AfterFunc(20*time.Second, func() { _ = e.cmd.Process.Kill() })
	_ = e.cmd.Wait()
	limit.Stop()
}

// clean ends what an engine left that was killed, and removes its directory. A process is
// the engine's if its command line names the directory, which no other engine has. made are
// the files that only this engine may have made elsewhere.
func (e *Engine) clean(made []string) error {
	defer func() {
		for _, dir := range made {
			_ = os.RemoveAll(dir)
		}
	}()
	return leftover.End(e.dir)
}

// An engine makes files elsewhere, whatever its settings are. All engines of the machine have
// their containers in the shared directories, the innermost of which comes first.
var (
	makes = map[string][]string{
		Docker: {"/run/docker"},
		Podman: {"/var/lib/containers", "/run/containers", "/run/libpod", "/dev/shm/libpod_lock"},
	}
	makesShared = map[string][]string{
		Docker: {"/run/containerd/s", "/run/containerd", "/run/runc"},
		Podman: {"/run/runc"},
	}
)

// absent returns the paths that this machine does not have.
func absent(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

// Start returns an engine of the test's own, which leaves with it.
func Start(t *testing.T, kind string) *Engine {
	t.Helper()
	var err error
	next, leave := iter.Pull(func(yield func(*Engine) bool) {
		err = Run(kind, func(e *Engine) error {
			yield(e) // returns when the test has ended
			return nil
		})
	})
	t.Cleanup(func() {
		if leave(); err != nil {
			t.Error(err)
		}
	})
	e, ok := next()
	if !ok {
		t.FailNow() // the error is reported above
	}
	return e
}
