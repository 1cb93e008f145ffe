package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// world is a scratch directory with the programs and a state directory.
type world struct {
	dir, bin string
	env      []string
}

func newWorld(ctx context.Context, bin string) (_ *world, err error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, bin: bin}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	for _, sub := range []string{"home", "run", "tmux", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.path("home"), "LANG=C.UTF-8", "TERM=xterm",
		"SWARM_DIR=" + w.path("state"), "TMUX_TMPDIR=" + w.path("tmux"), "XDG_RUNTIME_DIR=" + w.path("run"),
	}
	if w.bin == "" {
		w.bin = w.path("bin")
		if err := build(ctx, w.bin, "./cmd/..."); err != nil {
			return nil, err
		}
	}
	return w, build(ctx, w.path("floor"), "./.ci/bench/floor/host", "./.ci/bench/floor/plugin")
}

// build builds as make build does, and installs what it built by copying it. A program
// that needs the C library starts more slowly. A file that the linker wrote through a
// mapping stays in the page cache in small pieces, whose faults cost each start a few
// milliseconds, differently for each build; a copy has none of that.
func build(ctx context.Context, into string, packages ...string) error {
	linked := into + ".linked"
	if err := os.MkdirAll(linked, 0o700); err != nil {
		return err
	}
	args := append([]string{"build", "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", linked + "/"}, packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return install(linked, into)
}

// install copies each program in one write, which the page cache keeps in large pieces: how
// it cuts up smaller ones changes from run to run, and with it what a start costs.
func install(from, into string) error {
	programs, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(into, 0o700); err != nil {
		return err
	}
	for _, p := range programs {
		text, err := os.ReadFile(filepath.Join(from, p.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(into, p.Name()), text, 0o700); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// command is a command in the scratch environment.
func (w *world) command(ctx context.Context, argv ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = w.env, w.path("work")
	return cmd
}

// do runs a command that must succeed and returns how long it took.
func (w *world) do(ctx context.Context, argv ...string) (time.Duration, error) {
	cmd := w.command(ctx, argv...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	began := time.Now()
	err := cmd.Run()
	took := time.Since(began)
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out.String())
	}
	return took, nil
}

func (w *world) swarm(ctx context.Context, args ...string) (time.Duration, error) {
	return w.do(ctx, append([]string{filepath.Join(w.bin, "swarm")}, args...)...)
}

// floor runs the floor once.
func (w *world) floor(ctx context.Context) (time.Duration, error) {
	return w.do(ctx, w.path("floor/host"), w.path("floor/plugin"))
}

// spawnMany spawns workers named prefix and a number, from first to last.
func (w *world) spawnMany(ctx context.Context, prefix string, first, last int, flags, command []string) error {
	numbers := make(chan int)
	errs := make([]error, 4)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for n := range numbers {
				args := append([]string{"spawn", "--name", fmt.Sprint(prefix, n)}, flags...)
				if _, err := w.swarm(ctx, append(append(args, "--"), command...)...); err != nil {
					errs[i] = err
					cancel()
					return
				}
			}
		})
	}
feed:
	for n := first; n <= last; n++ {
		select {
		case numbers <- n:
		case <-ctx.Done():
			break feed
		}
	}
	close(numbers)
	wg.Wait()
	return errors.Join(errs...)
}

// clear kills and forgets all workers.
func (w *world) clear(ctx context.Context) error {
	if _, err := w.swarm(ctx, "kill", "--all", "--signal", "SIGKILL"); err != nil {
		return err
	}
	_, err := w.swarm(ctx, "clean", "--all")
	return err
}

// close leaves nothing behind. On a busy machine thousands of workers need more than one try.
func (w *world) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	var err error
	if _, serr := os.Stat(w.path("state")); serr == nil {
		for range 5 {
			if err = w.clear(ctx); err == nil {
				break
			}
		}
	}
	// No server is left after the last worker; this is for what went wrong.
	_ = w.command(ctx, "tmux", "-L", "bench", "kill-server").Run()
	return errors.Join(err, os.RemoveAll(w.dir))
}
