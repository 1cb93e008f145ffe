package tool

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/swarmhost/swarm/shared/swarm"
)

// cursor is a position in the output of one worker, after the part that was read. It is
// opaque to callers. Its zero value is the beginning.
type cursor struct {
	// id is the id of the worker: a respawned worker starts again.
	id string
	// at is the time of the last piece that was read, same the number of pieces with that
	// time that were read.
	at   time.Time
	same int
	// bytes is how much output there was up to here, with what was dropped.
	bytes int64
}

// String writes the cursor as [parseCursors] reads it.
func (c cursor) String() string {
	at := int64(0)
	if !c.at.IsZero() {
		at = c.at.UnixNano()
	}
	return fmt.Sprintf("%s.%d.%d.%d", c.id, at, c.same, c.bytes)
}

// parseCursors reads cursors that are separated by commas, by the ids of their workers.
// problem describes a mistake in the text.
func parseCursors(text string) (cursors map[string]cursor, problem string) {
	cursors = map[string]cursor{}
	if text == "" {
		return cursors, ""
	}
	for one := range strings.SplitSeq(text, ",") {
		parts := strings.Split(one, ".")
		if len(parts) != 4 || parts[0] == "" {
			return nil, "must be the cursor of an earlier answer"
		}
		var n [3]int64
		for i := range n {
			v, err := strconv.ParseInt(parts[i+1], 10, 64)
			if err != nil || v < 0 {
				return nil, "must be the cursor of an earlier answer"
			}
			n[i] = v
		}
		c := cursor{id: parts[0], same: int(n[1]), bytes: n[2]}
		if n[0] > 0 {
			c.at = time.Unix(0, n[0])
		}
		cursors[c.id] = c
	}
	return cursors, ""
}

// follower passes over the pieces of an output that a cursor is behind, and moves it.
type follower struct {
	cursor
	// passed is how many pieces of the cursor's time came, begun that one came at all.
	passed int
	from   cursor
	begun  bool
	// lost is how much was dropped unread.
	lost int64
}

func newFollower(c cursor) *follower { return &follower{cursor: c, from: c} }

// isNew reports whether a piece was not read yet, and if so moves the cursor behind it.
func (f *follower) isNew(o swarm.Output) bool {
	if !f.begun {
		f.begun = true
		if f.lost = max(0, o.Dropped-f.from.bytes); f.lost > 0 {
			f.bytes = o.Dropped
		}
	}
	if !f.from.at.IsZero() && o.Time.Equal(f.from.at) && f.passed < f.from.same {
		f.passed++
		return false
	}
	if o.Time.Equal(f.at) {
		f.same++
	} else {
		f.at, f.same = o.Time, 1
	}
	f.bytes += int64(len(o.Data))
	if !o.Partial {
		f.bytes++
	}
	return true
}
