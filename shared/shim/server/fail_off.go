//go:build !shimfail

package server

// failpoint does nothing here; see fail_on.go.
func failpoint(string) {}
