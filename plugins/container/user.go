package container

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/moby/moby/client"
)

// mapUser has the worker run as the caller, so that the files it writes in what is mounted
// are the caller's. In a rootless Docker the caller is root; a rootless Podman is told to
// keep the caller's number.
func (e *engine) mapUser(ctx context.Context, p *plan) error {
	uid, gid := os.Getuid(), os.Getgid()
	if p.User != "" {
		return nil
	}
	p.create.Config.User = fmt.Sprintf("%d:%d", uid, gid)
	if uid == 0 || !ownedBy(e.socket, uid) {
		return nil
	}
	info, err := e.Info(ctx, client.InfoOptions{})
	if err != nil {
		return e.tell(ctx, "ask the engine", err)
	}
	if !slices.ContainsFunc(info.Info.SecurityOptions, func(o string) bool { return strings.Contains(o, "rootless") }) {
		return nil
	}
	podman, _, err := e.version(ctx)
	if podman {
		p.create.HostConfig.UsernsMode = "keep-id"
	} else {
		p.create.Config.User = "0:0"
	}
	return err
}

func ownedBy(path string, uid int) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == uid
}
