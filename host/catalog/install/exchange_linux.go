package install

import "golang.org/x/sys/unix"

// exchange makes two paths change places in one step. It fails if one of them does
// not exist, or if the file system can't do it.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
