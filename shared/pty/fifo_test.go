package pty_test

import (
	"context"
	"syscall"
	"testing"
)

// fifo makes a place next to a file where a program waits until it is written to.
func fifo(t *testing.T, file string) string {
	t.Helper()
	if err := syscall.Mkfifo(file+".fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	return file + ".fifo"
}

func contextWithCause(t *testing.T) (context.Context, context.CancelCauseFunc) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}
