package copy

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// clone has a file share the blocks of another one.
func clone(to, from *os.File) error { return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) }

// addInode adds what the system says of a file besides its mode.
func (e *entry) addInode(info fs.FileInfo) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.Device, e.Inode, e.Links = st.Dev, st.Ino, uint64(st.Nlink) //nolint:unconvert // it has other types on other machines
		e.Change, e.UID, e.GID = st.Ctim.Nano(), int(st.Uid), int(st.Gid)
	}
}
