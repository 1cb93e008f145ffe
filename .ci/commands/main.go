// Command commands writes docs/commands, a page for each command of swarm, and the table
// of commands in README.md, from the help that swarm prints. With --check it changes
// nothing and fails if they are not current.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "change nothing, and fail if something is not current")
	flag.Parse()
	if err := run(context.Background(), *check); err != nil {
		fmt.Fprintln(os.Stderr, "commands:", err)
		os.Exit(1)
	}
}

// run works in the root of the repository.
func run(ctx context.Context, check bool) error {
	scratch, err := os.MkdirTemp("", "swarm-commands-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	swarm := filepath.Join(scratch, "swarm")
	build := exec.CommandContext(ctx, "go", "build", "-tags", "grpcnotrace", "-o", swarm, "./cmd/swarm")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build swarm: %w\n%s", err, out)
	}
	root, err := reader{swarm: swarm, home: scratch}.read(ctx, nil)
	if err != nil {
		return err
	}
	files, err := render(root)
	if err != nil {
		return err
	}
	if check {
		return compare(files)
	}
	return write(files)
}

// pagesDir holds nothing but what this program writes.
const pagesDir = "docs/commands"

// write replaces the pages and the table.
func write(files map[string][]byte) error {
	if err := os.RemoveAll(pagesDir); err != nil {
		return err
	}
	if err := os.MkdirAll(pagesDir, 0o777); err != nil {
		return err
	}
	for path, text := range files {
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// compare returns an error that names what is not current.
func compare(files map[string][]byte) error {
	var stale []string
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, files[path]) {
			stale = append(stale, path)
		}
	}
	there, err := filepath.Glob(pagesDir + "/*")
	if err != nil {
		return err
	}
	for _, path := range there {
		if files[path] == nil {
			stale = append(stale, path)
		}
	}
	if len(stale) > 0 {
		return errors.New("not current: " + strings.Join(stale, ", ") + "; run 'make commands' and commit")
	}
	return nil
}
