//go:build !linux

package repo

import "os"

// holder would return the process that holds the lock of a file; only Linux reports it.
func holder(*os.File) string { return "another process" }
