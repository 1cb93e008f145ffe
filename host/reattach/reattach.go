// Package reattach keeps, in a state directory, which plugins are being debugged: where each of
// them serves and which process it is. "swarm plugin debug" writes that down, and every host of
// the state directory uses the plugin that it finds there in place of a process of its own.
//
// A host believes a session only as far as the kernel confirms it: the file belongs to this
// user, and so does the process at the other end of the socket, which is the recorded one by its
// pid and start time. A session whose processes have ended does not count.
package reattach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"

	"github.com/swarmhost/swarm/shared/plugin/client"
	"github.com/swarmhost/swarm/shared/proc"
	"github.com/swarmhost/swarm/shared/safefile"
)

// folder is the directory of the sessions, in a state directory.
const folder = "plugin-debug"

// maxFile is the largest file of a session, in bytes.
const maxFile = 1 << 20

// Session is a plugin that is being debugged.
type Session struct {
	// Plugin is its description, as it was when the session began.
	Plugin client.Info `json:"plugin"`
	// Socket is the path of the unix socket at which it serves.
	Socket string `json:"socket"`
	// Server is the process that serves there, Holder is the one that started it: "swarm plugin
	// debug".
	Server proc.Identity `json:"server"`
	Holder proc.Identity `json:"holder"`
}

// Find returns the session of a plugin, nil if it is not being debugged. An error means that the
// file can't be believed.
func Find(dir, name string) (*Session, error) {
	text, err := safefile.Read(path(dir, name), maxFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	var s Session
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err == nil && s.Plugin.Name != name {
		err = fmt.Errorf("it is about plugin '%s'", s.Plugin.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin '%s' is perhaps being debugged, but %s cannot be used: %w; remove it", name, path(dir, name), err)
	}
	if !s.Holder.Alive() || !s.Server.Alive() {
		return nil, nil
	}
	return &s, nil
}

// Keep makes hosts find the session until forget is called.
func (s *Session) Keep(dir string) (forget func() error, err error) {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	file := path(dir, s.Plugin.Name)
	if err := safefile.ReplaceCache(file, append(text, '\n')); err != nil {
		return nil, err
	}
	return func() error { return os.Remove(file) }, nil
}

// Dial connects to the plugin. It returns an error unless the process at the other end is the
// recorded one, of this user.
func (s *Session) Dial(ctx context.Context) (net.Conn, error) {
	conn, server, err := Dial(ctx, s.Socket)
	if err != nil {
		return nil, err
	}
	if server != s.Server {
		return nil, errors.Join(fmt.Errorf("process %d serves at %s, not the debugged process %d", server.PID, s.Socket, s.Server.PID), conn.Close())
	}
	return conn, nil
}

// Dial connects to a plugin and returns which process serves it. It returns an error if that is a
// process of another user.
func Dial(ctx context.Context, socket string) (_ net.Conn, server proc.Identity, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, server, err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return nil, server, err
	}
	var pid, uid int
	if cerr := raw.Control(func(fd uintptr) { pid, uid, err = proc.Peer(int(fd)) }); cerr != nil || err != nil {
		return nil, server, errors.Join(cerr, err)
	}
	if uid != os.Geteuid() {
		return nil, server, fmt.Errorf("%s is served by user %d", socket, uid)
	}
	server, err = proc.Identify(pid)
	return conn, server, err
}

func path(dir, name string) string { return filepath.Join(dir, folder, filepath.Base(name)+".json") }
