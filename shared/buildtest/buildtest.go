// Package buildtest builds the programs that tests run. The tests of several packages run
// the same programs, and linking them takes longer than many tests, so they are kept in the
// user's cache: go build does not rebuild a program that is up to date.
//
// It is imported by tests alone.
package buildtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/programs"
)

// EnvRace is the variable that, if it is set, has programs built with the race detector.
const EnvRace = "SWARM_TEST_RACE"

// unused is how long the programs of an unused checkout are kept.
const unused = 7 * 24 * time.Hour

// Programs builds main packages and puts a copy of each program into dir, which it makes
// if it must. A package is an import path or pattern, or relative to the working
// directory, as go build takes it. Plugins in a shared program get their links. Two processes that build the same packages wait for
// each other.
func Programs(dir string, packages ...string) error {
	return build(packages, func(name string) string { return filepath.Join(dir, name) })
}

// Program is like [Programs] for one package, and puts the program at path.
func Program(path, pkg string) error {
	return build([]string{pkg}, func(string) string { return path })
}

func build(packages []string, place func(name string) string) error {
	cache, err := cacheOf(packages)
	if err != nil {
		return err
	}
	// It does not use gofrs/flock: every module that imports a package tested with this one
	// would need its checksum.
	lock, err := os.OpenFile(cache+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	// The flags of make build, whose packages are then compiled already.
	args, cgo := []string{"build", "-trimpath", "-tags", "grpcnotrace", "-ldflags", "-s -w", "-o", cache + "/"}, "0"
	if os.Getenv(EnvRace) != "" {
		// SQLite is built without the detector, as make test does.
		args, cgo = append(args, "-race", "-gcflags", "modernc.org/...=-race=false"), "1"
	}
	cmd := exec.CommandContext(context.Background(), "go", append(args, packages...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", strings.Join(packages, " "), err, out)
	}
	built, err := os.ReadDir(cache)
	if err != nil {
		return err
	}
	for _, p := range built {
		path := place(p.Name())
		if err := copyFile(path, filepath.Join(cache, p.Name())); err != nil {
			return err
		}
		for _, plugin := range programs.In(filepath.Base(path)) {
			if err := link(filepath.Join(filepath.Dir(path), programs.Prefix+plugin), filepath.Base(path)); err != nil {
				return err
			}
		}
	}
	return nil
}

// link makes a link to a program that holds several plugins, as make build does.
func link(path, program string) error {
	err := os.Symlink(program, path)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// cacheOf returns the directory in which these programs are kept. Each checkout, and each
// environment of the go command, has its own.
func cacheOf(packages []string) (string, error) {
	user, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root := wd
	for !exists(filepath.Join(root, "go.mod")) && filepath.Dir(root) != root {
		root = filepath.Dir(root)
	}
	key := []string{root, os.Getenv("GOFLAGS"), os.Getenv(EnvRace)}
	// A program that is no more would stay among those of a pattern. Modules of examples have no cmd.
	programs, _ := os.ReadDir(filepath.Join(root, "cmd"))
	for _, p := range programs {
		key = append(key, p.Name())
	}
	for _, p := range packages {
		if strings.HasPrefix(p, ".") {
			p = filepath.Join(wd, p)
		}
		key = append(key, p)
	}
	sum := sha256.Sum256([]byte(strings.Join(key, "\x00")))
	caches := filepath.Join(user, "swarm-test")
	dir := filepath.Join(caches, hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return "", err
	}
	return dir, prune(caches, now.Add(-unused))
}

// prune removes the programs that were last used before a time.
func prune(caches string, before time.Time) error {
	entries, err := os.ReadDir(caches)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || !e.IsDir() || !info.ModTime().Before(before) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(caches, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// copyFile copies a program: a test may write into the programs that it runs.
func copyFile(to, from string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) { // it may be a link
		return err
	}
	return os.WriteFile(to, content, 0o755) //nolint:gosec // as go build does
}

// Write writes a script or program that a test then runs, as [os.WriteFile] does. No other
// test of the process starts a program meanwhile: that one would have the file open for
// writing until it runs, and a file that is open for writing can't be run.
func Write(path string, content []byte, perm fs.FileMode) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, content, perm)
}
