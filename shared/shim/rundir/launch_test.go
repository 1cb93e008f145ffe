package rundir_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/shim/rundir"
	"github.com/swarmhost/swarm/shared/swarm"
)

var full = rundir.Launch{
	ID:          "w1",
	Command:     []string{"sh", "-c", "echo a\nb=c", "", "\xff"},
	Dir:         "/a dir/with=odd\nname",
	Env:         []string{"A=", "B=x=y", "C=line\nline", "end=no"},
	Terminal:    true,
	GraceMS:     5000,
	Force:       true,
	MainOnly:    true,
	OutputLimit: 1 << 20,
	Signal:      "SIGINT",
	Stdin:       true,
	Transcript:  true,
	Restart:     swarm.Restart{When: swarm.RestartAlways, MinDelay: 1000 * time.Millisecond, MaxDelay: 30000 * time.Millisecond, Budget: 5, Window: 60000 * time.Millisecond},
	Owner:       rundir.Identity{PID: 12, Start: 1 << 63, Boot: "a b"},
	Limits:      swarm.Limits{Memory: 2 << 30, CPUs: 1.5, PIDs: 500, Nice: -5, IOWeight: 50, BestEffort: true},
	Group:       "swarm-01234567",
	Wrap:        []string{"bwrap", "--ro-bind", "/", "/ b"},
	Capture:     []string{"tmux", "-S", "/a b", ""},
}

func TestLaunchRoundTrip(t *testing.T) {
	t.Parallel()
	for _, want := range []rundir.Launch{full, {Command: []string{""}}} {
		b, err := rundir.EncodeLaunch(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rundir.DecodeLaunch(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// A launch file is whole or refused: half an environment is not usable.
func TestDamagedLaunch(t *testing.T) {
	t.Parallel()
	b, err := rundir.EncodeLaunch(full)
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		if got, err := rundir.DecodeLaunch(b[:n]); err == nil {
			t.Fatalf("the first %d bytes are read as %+v", n, got)
		}
	}
	for _, s := range []string{"x", "id=a\x00", "color=red\x00"} {
		if _, err := rundir.DecodeLaunch(append(bytes.Clone(b), s...)); err == nil {
			t.Errorf("with %q at the end it is still read", s)
		}
	}
	for _, s := range []string{
		"swarm-launch=2\x00id=w\x00arg=a\x00end=\x00",
		"swarm-launch=1\x00id=w\x00end=\x00",
		"swarm-launch=1\x00arg=a\x00color=red\x00end=\x00",
		"swarm-launch=1\x00arg=a\x00force=2\x00end=\x00",
		"swarm-launch=1\x00arg=a\x00grace=soon\x00end=\x00",
		"swarm-launch=1\x00arg=a\x00restart=always 1 2 3\x00end=\x00",
		"swarm-launch=1\x00arg=a\x00restart=sometimes 1 2 3 4\x00end=\x00",
		"swarm-launch=1\x00arg=a\x00restart=always 1 2 -3 4\x00end=\x00",
		"swarm-launch=1\x00arg=a\x00owner=12\x00end=\x00",
		"swarm-launch=1\x00arg=a\x00limits=1,2,3\x00end=\x00",
	} {
		if got, err := rundir.DecodeLaunch([]byte(s)); err == nil {
			t.Errorf("%q is read as %+v", s, got)
		}
	}
}

// The format has not changed by a byte: a shim may be of another version than its host.
func TestLaunchFixture(t *testing.T) {
	t.Parallel()
	const written = "swarm-launch=1\x00id=w1\x00dir=/a dir/with=odd\nname\x00arg=sh\x00arg=-c\x00arg=echo a\nb=c\x00arg=\x00arg=\xff\x00" +
		"env=A=\x00env=B=x=y\x00env=C=line\nline\x00env=end=no\x00terminal=1\x00grace=5000\x00force=1\x00main=1\x00limit=1048576\x00" +
		"signal=SIGINT\x00stdin=1\x00transcript=1\x00restart=always 1000 30000 5 60000\x00owner=12 9223372036854775808 a b\x00" +
		"limits=2147483648,1500,500,-5,50,1\x00group=swarm-01234567\x00" +
		"wrap=bwrap\x00wrap=--ro-bind\x00wrap=/\x00wrap=/ b\x00" +
		"capture=tmux\x00capture=-S\x00capture=/a b\x00capture=\x00end=\x00"
	b, err := rundir.EncodeLaunch(full)
	if diff := cmp.Diff(written, string(b)); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	l, err := rundir.DecodeLaunch([]byte(written))
	if diff := cmp.Diff(full, l); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

// The encoding of a launch leaves out the fields that are zero.
func TestLaunchLeavesOut(t *testing.T) {
	t.Parallel()
	b, err := rundir.EncodeLaunch(rundir.Launch{ID: "w", Dir: "/", Command: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	want := "swarm-launch=1\x00id=w\x00dir=/\x00arg=a\x00terminal=0\x00grace=0\x00force=0\x00main=0\x00limit=0\x00end=\x00"
	if diff := cmp.Diff(want, string(b)); diff != "" {
		t.Error(diff)
	}
}

func TestLaunchRefusesNUL(t *testing.T) {
	t.Parallel()
	for _, l := range []rundir.Launch{
		{Command: []string{"a\x00end="}},
		{Command: []string{"a"}, Dir: "\x00"},
		{Command: []string{"a"}, Env: []string{"A=\x00arg=b"}},
		{Command: []string{"a"}, ID: "\x00"},
	} {
		if b, err := rundir.EncodeLaunch(l); err == nil {
			t.Errorf("%+v is written as %q", l, b)
		}
	}
}

func FuzzDecodeLaunch(f *testing.F) {
	b, err := rundir.EncodeLaunch(full)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("swarm-launch=1\x00arg=a\x00end=\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := rundir.DecodeLaunch(b)
		if err != nil {
			return
		}
		again, err := rundir.EncodeLaunch(l)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rundir.DecodeLaunch(again)
		if diff := cmp.Diff(l, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
	})
}
