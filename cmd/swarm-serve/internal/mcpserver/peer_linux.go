package mcpserver

import (
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// isIn reports whether the process at the other end of a connection is in a container:
// the name of its control group holds the container's id.
func isIn(conn *net.UnixConn, container string) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var peer *unix.Ucred
	if err := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil || peer == nil {
		return false
	}
	return isInside(int(peer.Pid), container)
}

func isInside(pid int, container string) bool {
	groups, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	return err == nil && strings.Contains(string(groups), container)
}
