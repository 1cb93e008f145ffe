// Package warn logs the errors that do not end what a package of the host does.
package warn

// A Logger is one of the host, or of a plugin.
type Logger interface {
	Warn(message string, pairs ...any)
}

// If logs an error as a warning, with a message and pairs of keys and values; nil: nothing.
func If(to Logger, err error, message string, pairs ...any) {
	if err != nil {
		to.Warn(message, append(pairs, "error", err)...)
	}
}
