package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed example.toml
var example string

// Example returns a commented file that shows every key and changes nothing.
func Example() string { return example }

// ErrExists says that the file exists and is not overwritten.
var ErrExists = errors.New("already exists")

// WriteExample writes [Example] to path, together with the directories above it. If the
// file exists, the error is [ErrExists].
func WriteExample(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s %w", path, ErrExists)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(example)
	return errors.Join(err, f.Close())
}
