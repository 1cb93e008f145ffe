package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Check tells whether the plugin may be started: it is an absolute path of a
// file that can be executed, and nobody else can put another program in its
// place. Errors: [MissingError], [UnsafeError].
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
// not: nobody else can put another one in its place. Errors: [MissingError],
// [UnsafeError].
func CheckFile(path string) error {
	real := path
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if real, err = filepath.EvalSymlinks(path); err == nil {
			info, err = os.Stat(real)
		}
	}
	if err != nil {
		return &MissingError{Path: path, err: err}
	}
	if !info.Mode().IsRegular() {
		return &MissingError{Path: path, err: errors.New("not a file")}
	}
	if info.Mode()&0o002 != 0 {
		return &UnsafeError{Path: path, What: path}
	}
	// Of a link, the directory that it is in matters as much as the one that it
	// leads to.
	for _, dir := range unique([]string{filepath.Dir(path), filepath.Dir(real)}) {
		if err := checkDir(path, dir, info); err != nil {
			return err
		}
	}
	return nil
}

// checkDir refuses a directory in which anybody can replace the file. In one
// like /tmp, with the sticky bit, only the file's owner can.
func checkDir(path, dir string, file fs.FileInfo) error {
	info, err := os.Stat(dir)
	if err != nil {
		return &MissingError{Path: path, err: err}
	}
	if info.Mode()&0o002 == 0 {
		return nil
	}
	if info.Mode()&fs.ModeSticky != 0 {
		st, ok := file.Sys().(*syscall.Stat_t)
		if ok && (st.Uid == 0 || int(st.Uid) == os.Getuid()) {
			return nil
		}
	}
	return &UnsafeError{Path: path, What: dir}
}

// isExecutable reports whether there is a program at path, safe or not.
func isExecutable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// UnsafeError refuses a plugin that every user of the machine may change.
type UnsafeError struct {
	// Path is the plugin.
	Path string
	// What is writable for everybody: the plugin or the directory it is in.
	What string
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("refusing to run %s: everybody may write to %s (chmod o-w %s)", e.Path, e.What, e.What)
}
