// Package warn logs the errors that do not end what a package of the host does.
package warn

import "github.com/hashicorp/go-hclog"

// If logs an error as a warning, with a message and pairs of keys and values; nil: nothing.
func If(to hclog.Logger, err error, message string, pairs ...any) {
	if err != nil {
		to.Warn(message, append(pairs, "error", err)...)
	}
}
