//go:build !linux

package worktree

import "os"

// holder says which process has the lock of a file; only Linux tells.
func holder(*os.File) string { return "another process" }
