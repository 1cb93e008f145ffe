// Package errtext makes the text of an error fit into a sentence that already says
// a part of it.
package errtext

import (
	"errors"
	"io/fs"
	"strings"
)

// Without returns the text of err without those of the sentinels that it begins
// with and is an instance of. It is for sentinels that say no more than the text
// after them, such as "invalid request".
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

// Cause returns what the system said: the error inside an [fs.PathError], without
// the operation and the path, for a message that names the path itself. Any other
// error is returned unchanged.
func Cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
