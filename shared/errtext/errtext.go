// Package errtext shortens the text of an error for a sentence that already holds a part of
// it.
package errtext

import (
	"errors"
	"io/fs"
	"strings"
)

// Without returns the text of err without the sentinels at its beginning that err is an
// instance of. It is for sentinels that add nothing to the text after them, such as
// "invalid request".
func Without(err error, sentinels ...error) string {
	text := err.Error()
	for _, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			text = strings.TrimPrefix(text, sentinel.Error()+": ")
		}
	}
	return text
}

// Line is [Without] on one line: the lines of an error that joins others are
// separated by "; ".
func Line(err error, sentinels ...error) string {
	return strings.ReplaceAll(strings.TrimSpace(Without(err, sentinels...)), "\n", "; ")
}

// Cause returns the system's error inside an [fs.PathError], without the operation and the
// path, for a message that names the path itself. Any other error is returned unchanged.
func Cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
