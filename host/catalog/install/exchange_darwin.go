package install

import "golang.org/x/sys/unix"

// exchange makes two paths change places in one step. It fails if one of them does
// not exist, or if the file system can't do it.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
