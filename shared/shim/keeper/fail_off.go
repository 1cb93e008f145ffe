//go:build !shimfail

package keeper

// failpoint does nothing here; see fail_on.go.
func failpoint(string) {}
