package proc

import "golang.org/x/sys/unix"

// NotifyLimit returns the text of [NotifyLimitText] if the user has no inotify instance
// left at the moment, and else "".
func NotifyLimit() string {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if IsNotifyLimit(err) {
		return NotifyLimitText(err)
	}
	if err == nil {
		_ = unix.Close(fd)
	}
	return ""
}
