package confine

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Start starts a command that can write in some directories and nowhere else, not
// through symbolic links either. A kernel without Landlock starts it without that limit.
func Start(cmd *exec.Cmd, where []Dir) error {
	abi := landlock()
	if abi < 1 {
		return cmd.Start()
	}
	started := make(chan error)
	go func() {
		// The limit is the thread's, and that of what it starts. The thread ends with this
		// function, since it stays locked.
		runtime.LockOSThread()
		err := limitThread(abi, where)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// landlock returns the version of Landlock that the kernel has, 0 without it.
var landlock = sync.OnceValue(func() int {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(abi)
})

// limitThread keeps the calling thread from writing outside of some directories. Those that
// do not exist are left out.
func limitThread(abi int, where []Dir) error {
	const file = unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	write := uint64(file | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM)
	if abi >= 2 {
		write |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		write |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: write}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_create_ruleset", errno)
	}
	defer func() { _ = unix.Close(int(set)) }()
	allow := func(path string, access uint64) error {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return &fs.PathError{Op: "open", Path: path, Err: err}
		}
		defer func() { _ = unix.Close(fd) }()
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
		_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, set, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		if errno != 0 {
			return os.NewSyscallError("landlock_add_rule", errno)
		}
		return nil
	}
	for _, w := range where {
		access := write
		if w.EmptyDirs {
			access = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR
		}
		if err := allow(w.Path, access); err != nil {
			return err
		}
	}
	if err := allow(os.DevNull, file); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}
