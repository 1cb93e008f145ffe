package proc

import (
	"errors"
	"os"
	"strings"
	"syscall"
)

// IsNotifyLimit reports whether an error of inotify says that a limit is reached: of the
// instances or watches of the user, or of open files.
func IsNotifyLimit(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOSPC)
}

// The files with the limits of inotify, and how much of both is usual on a busy machine.
const (
	instancesFile = "/proc/sys/fs/inotify/max_user_instances"
	moreInstances = "fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288"
)

// NotifyLimitText says what follows from an error that is an [IsNotifyLimit], and what
// to do about it.
func NotifyLimitText(err error) string {
	limit := ""
	if b, err := os.ReadFile(instancesFile); err == nil {
		limit = ", of which a user may have " + strings.TrimSpace(string(b))
	}
	return "no inotify instance is left (" + err.Error() + ")" + limit + ": changes are looked for now and then, which is slower; to raise the limit: sudo sysctl " + moreInstances
}
