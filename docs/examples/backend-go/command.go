package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/swarmhost/swarm/shared/swarm"
)

// executable checks that there is something to run, where the worker would look
// for it: in its own directory and its own PATH.
func executable(spec swarm.Spec) error {
	if info, err := os.Stat(spec.Dir); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: there is no directory %s", swarm.ErrInvalidSpec, spec.Dir)
	}
	program := spec.Command[0]
	folders := []string{""} // a program with a slash is a path
	if !strings.Contains(program, "/") {
		folders = filepath.SplitList(variable(spec.Environ(), "PATH"))
	}
	for _, folder := range folders {
		path := filepath.Join(folder, program)
		if !filepath.IsAbs(path) {
			path = filepath.Join(spec.Dir, path)
		}
		if info, err := os.Stat(path); err == nil && isProgram(info) {
			return nil
		}
	}
	return fmt.Errorf("%w: there is no program %q", swarm.ErrInvalidSpec, program)
}

func isProgram(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Mode()&0o111 != 0 }

// variable returns the value of an environment variable.
func variable(env []string, name string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}
