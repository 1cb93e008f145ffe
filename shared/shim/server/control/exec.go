package control

import (
	"errors"
	"io"
	"time"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/fdpass"
)

// exec asks a client for its command and for the streams of it, and has both carried out.
func (c *Client) exec(r rundir.Request, requests chan<- Request) {
	_ = c.file.SetReadDeadline(time.Now().Add(patience))
	c.Say(rundir.Answer{Kind: rundir.AnswerReady})
	files, e, err := c.receive(r.Size)
	if err != nil {
		files.Close()
		c.finish(rundir.Answer{Kind: rundir.AnswerError, Text: err.Error()})
		return
	}
	_ = c.file.SetReadDeadline(time.Time{})
	requests <- Request{Request: r, From: c, Exec: e, Files: files}
	c.watch()
}

// receive reads the message of an exec, whose first byte the descriptors come with.
func (c *Client) receive(size int) (*fdpass.Files, rundir.Exec, error) {
	if len(c.ahead) > 0 || size == 0 {
		return nil, rundir.Exec{}, fdpass.ErrNone
	}
	data, free, err := buffer(size)
	if err != nil {
		return nil, rundir.Exec{}, err
	}
	defer free()
	files, err := c.receiveFiles(data[:1])
	if err != nil {
		return nil, rundir.Exec{}, err
	}
	if _, err := io.ReadFull(c.from, data[1:]); err != nil {
		return files, rundir.Exec{}, errBadInput
	}
	e, err := rundir.DecodeExec(data)
	return files, e, err
}

func (c *Client) receiveFiles(b []byte) (*fdpass.Files, error) {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var files *fdpass.Files
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		files, failed = fdpass.Receive(int(fd), b)
		return !errors.Is(failed, unix.EAGAIN)
	})
	return files, errors.Join(err, failed)
}
