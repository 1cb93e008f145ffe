package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"
)

// askTime is how long a plugin may take to leave after a request.
const askTime = 200 * time.Millisecond

// endTime bounds the wait for a process that was killed and that the system can't end, such as
// one that waits for a disk.
const endTime = time.Second

// endedBySwarm is how most plugins end.
const endedBySwarm = "ended by swarm"

// close ends the plugin and releases its resources in this process. It can be called more
// than once; every call returns when all is done.
func (p *child) close() { p.closing.Do(p.end) }

func (p *child) end() {
	p.left.Store(true)
	if p.attached != nil {
		p.attached.close()
		return
	}
	how := endedBySwarm
	if !p.proc.running() {
		how = p.proc.cmd.ProcessState.String()
	}
	if p.proc.running() && p.givenUp.Load() {
		p.ask()
	}
	_ = p.proc.Kill(context.Background())
	// The system takes longer to end it than we to clean up after it.
	p.removeSocket()
	select {
	case <-p.proc.exited:
		// This closes the connection and waits for the end of goroutines.
		p.client.Kill()
		p.proc.log.End(how)
	case <-time.After(endTime):
	}
}

// removeSocket removes the directory of the plugin's socket, with the socket.
func (p *child) removeSocket() {
	if p.dir == "" {
		return
	}
	if err := p.socketGone(); err != nil {
		_ = os.RemoveAll(p.dir)
	}
	if p.lock != nil {
		_ = p.lock.Close()
	}
}

// socketGone is the short way for a plugin that has nothing but its socket
// there.
func (p *child) socketGone() error {
	if reattach := p.client.ReattachConfig(); reattach != nil {
		// The plugin chose the address: files elsewhere are not removed.
		socket := reattach.Addr.String()
		if filepath.Dir(socket) != p.dir {
			return errors.New("the socket is elsewhere")
		}
		if err := os.Remove(socket); err != nil {
			return err
		}
	}
	return os.Remove(p.dir)
}

// ask gives the plugin a moment to finish what it is doing and to leave by
// itself. It is asked through the death pipe, which no call can block. A plugin
// that is stopped or hangs does not answer.
func (p *child) ask() {
	p.proc.leave()
	select {
	case <-p.proc.exited:
	case <-time.After(askTime):
	}
}
