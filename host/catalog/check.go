package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/swarmhost/swarm/shared/trust"
)

// Check reports whether the plugin may be started: its path is absolute, leads to
// a file that can be executed, and obeys the owner rule of package trust. Errors:
// [MissingError], [UnsafeError].
func (e Entry) Check() error {
	path := e.Path()
	if !filepath.IsAbs(path) {
		return &MissingError{Name: e.Name, Path: path, Configured: e.Configured, relative: true}
	}
	err := check(path)
	if missing, ok := errors.AsType[*MissingError](err); ok {
		missing.Name, missing.Configured = e.Name, e.Configured
	}
	return err
}

func check(path string) error {
	if err := CheckFile(path); err != nil {
		return err
	}
	if !isExecutable(path) {
		return &MissingError{Path: path, err: errors.New("not executable")}
	}
	return nil
}

// CheckFile is what [Entry.Check] asks of any file, whether it is a program or
// not. Errors: [MissingError], [UnsafeError].
func CheckFile(path string) error {
	err := trust.Path(path)
	if broken, ok := trust.As(err); ok {
		return &UnsafeError{Path: path, Rule: broken}
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(path)
	}
	switch {
	case err != nil:
		return &MissingError{Path: path, err: err}
	case !info.Mode().IsRegular():
		return &MissingError{Path: path, err: errors.New("not a file")}
	}
	return nil
}

// isExecutable reports whether there is a program at path, safe or not.
func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// UnsafeError refuses a program that another user may have written or may replace.
type UnsafeError struct {
	// Path is the program.
	Path string
	// Rule names the file that breaks the owner rule: the program, or a directory on its
	// path.
	Rule *trust.Error
}

func (e *UnsafeError) Error() string {
	text := fmt.Sprintf("refusing to run %s: %v", e.Path, e.Rule)
	if mend := e.Rule.Mend(); mend != "" {
		text += " (" + mend + ")"
	}
	return text
}

// Unwrap returns what breaks the owner rule.
func (e *UnsafeError) Unwrap() error { return e.Rule }
