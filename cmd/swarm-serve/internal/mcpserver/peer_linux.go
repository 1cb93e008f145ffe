package mcpserver

import (
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/swarmhost/swarm/shared/proc"
)

// isIn reports whether the process at the other end of a connection is in a container:
// the name of its control group holds the container's id.
func isIn(conn *net.UnixConn, container string) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	var pid int
	if cerr := raw.Control(func(fd uintptr) { pid, _, err = proc.Peer(int(fd)) }); cerr != nil || err != nil {
		return false
	}
	return isInside(pid, container)
}

func isInside(pid int, container string) bool {
	groups, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	return err == nil && strings.Contains(string(groups), container)
}
