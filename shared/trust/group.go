package trust

import (
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// noUser is a value that no user has as uid.
const noUser = ^uint32(0)

// overflow returns the uid that root's files seem to have in a user namespace
// which does not contain root, or noUser outside of one. There, the files of
// root can't be distinguished from those of other users that the namespace does not
// contain either.
var overflow = sync.OnceValue(func() uint32 {
	root, err := os.Lstat("/")
	if err != nil {
		return noUser
	}
	owner, ok := ownerOf(root)
	if !ok || owner == 0 || owner == uint32(os.Geteuid()) || mapsRoot() {
		return noUser
	}
	text, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil {
		return noUser
	}
	uid, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil || uint32(uid) != owner {
		return noUser
	}
	return owner
})

// mapsRoot reports whether the initial root is part of the user namespace.
func mapsRoot() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "0" {
			return true
		}
	}
	return false
}

// privateGroup reports whether the only user who can write a file through its
// group is the effective user or root. An access list can name others, so a file
// that has one is not private.
func privateGroup(path string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	if n, err := unix.Lgetxattr(path, "system.posix_acl_access", nil); err == nil && n > 0 {
		return false
	}
	return onlyMember(st.Gid, accounts())
}

type database struct{ passwd, group string }

var accounts = sync.OnceValue(func() database {
	passwd, passwdErr := os.ReadFile("/etc/passwd")
	group, groupErr := os.ReadFile("/etc/group")
	if passwdErr != nil || groupErr != nil {
		return database{}
	}
	return database{passwd: string(passwd), group: string(group)}
})

// onlyMember reports whether the effective user and root are the only users that
// are known to be in a group. A group that the local database does not contain
// may have any members.
func onlyMember(gid uint32, db database) bool {
	user := strconv.Itoa(os.Geteuid())
	want := strconv.FormatUint(uint64(gid), 10)
	names := map[string]bool{"root": true}
	mine := false
	for line := range strings.Lines(db.passwd) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 {
			continue
		}
		if f[2] == user {
			names[f[0]] = true
			mine = mine || f[3] == want
		}
		if f[3] == want && f[2] != user && f[2] != "0" {
			return false
		}
	}
	if !mine {
		return false
	}
	for line := range strings.Lines(db.group) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 || f[2] != want {
			continue
		}
		for member := range strings.SplitSeq(f[3], ",") {
			if member != "" && !names[member] {
				return false
			}
		}
		return true
	}
	return false
}

// userName returns the name and the uid of a user, or the uid alone.
func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	for line := range strings.Lines(accounts().passwd) {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == id && f[0] != "" {
			return f[0] + " (uid " + id + ")"
		}
	}
	return "uid " + id
}
