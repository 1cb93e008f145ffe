package server

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/shim/server/control"
	"github.com/swarmhost/swarm/shared/shim/server/record"
)

// streams are the two sides of the worker's standard streams.
type streams struct {
	// theirs are the worker's: standard input, output and error.
	theirs []*os.File
	// shared says that the shim keeps theirs open.
	shared  bool
	outputs []*output
	intake  *control.Intake
}

// openStreams opens what becomes the worker's standard streams. The terminal stays
// the same for all starts; its output is read from the first one on.
func (k *shim) openStreams() (*streams, error) {
	if k.launch.Terminal {
		return k.terminalStreams()
	}
	s := &streams{intake: control.NewIntake(k.turn)}
	if err := s.openPipes(k); err != nil {
		s.given()
		s.drop()
		return nil, err
	}
	return s, nil
}

func (k *shim) terminalStreams() (*streams, error) {
	s := &streams{shared: true, intake: control.NewIntake(k.turn)}
	if k.term == nil {
		t, err := openTerminal()
		if err != nil {
			return nil, err
		}
		k.term = t
		s.outputs = []*output{{from: t.Master, stream: record.Stdout, log: k.log, raw: k.transcript, view: t.view, inner: t.Terminal}}
		go t.feed(t.hungup)
	} else if err := k.term.again(); err != nil {
		return nil, err
	}
	s.intake.Term = k.term.Terminal
	s.theirs = []*os.File{k.term.Inner, k.term.Inner, k.term.Inner}
	return s, nil
}

func (s *streams) openPipes(k *shim) error {
	var stdin *os.File
	var err error
	if k.launch.Stdin {
		stdin, s.intake.Pipe, err = os.Pipe()
	} else {
		stdin, err = os.Open(os.DevNull)
	}
	if err != nil {
		return err
	}
	s.theirs = append(s.theirs, stdin)
	for _, name := range []record.Stream{record.Stdout, record.Stderr} {
		if name == record.Stderr && k.transcript != nil {
			// Only one pipe keeps the order in which the two were written.
			s.theirs = append(s.theirs, s.theirs[1])
			continue
		}
		r, w, err := pipe()
		if err != nil {
			return err
		}
		s.theirs = append(s.theirs, w)
		s.outputs = append(s.outputs, &output{from: r, stream: name, log: k.log, raw: k.transcript})
	}
	return nil
}

// pipes names the worker's output.
func (s *streams) pipes() (p rundir.Pipes) {
	if s.shared {
		return p
	}
	for i, inode := range []*uint64{&p.Out, &p.Err} {
		var st unix.Stat_t
		if unix.Fstat(int(s.theirs[i+1].Fd()), &st) == nil {
			*inode = st.Ino
		}
	}
	return p
}

// device is the number of the worker's terminal; 0 if it has none.
func (s *streams) device() uint64 {
	var st unix.Stat_t
	if !s.shared || unix.Fstat(int(s.theirs[0].Fd()), &st) != nil {
		return 0
	}
	return uint64(st.Rdev) //nolint:unconvert // another type on darwin
}

// given closes the descriptors that the worker has inherited.
func (s *streams) given() {
	if s.shared {
		return
	}
	for _, f := range s.theirs {
		f.Close()
	}
}

// drop closes the rest if there is no worker.
func (s *streams) drop() {
	s.intake.Close()
	if s.shared {
		return
	}
	for _, o := range s.outputs {
		o.from.Close()
	}
}
