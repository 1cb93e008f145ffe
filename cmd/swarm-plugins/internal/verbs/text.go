package verbs

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/swarmhost/swarm/shared/safetext"
)

// answer has the fields of all answers that are printed for people, or decide the exit code.
type answer struct {
	Index   int           `json:"index"`
	Last    bool          `json:"last"`
	Error   *failure      `json:"error"`
	Status  *workerStatus `json:"status"`
	Result  *answer       `json:"result"`
	Results []answer      `json:"results"`
	Pieces  []struct {
		Data    []byte `json:"data"`
		Partial bool   `json:"partial"`
	} `json:"pieces"`
	Pending bool `json:"pending"`
}

type failure struct {
	Message string `json:"message"`
}

type workerStatus struct {
	State  string `json:"state"`
	PID    string `json:"pid"`
	Reason string `json:"reason"`
	Exit   *struct {
		Code   string `json:"code"`
		Signal string `json:"signal"`
		Cause  string `json:"cause"`
	} `json:"exit"`
}

// print prints an answer: as JSON, or for people.
func (c *command) print(raw []byte) error {
	var a answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return err
	}
	for _, r := range append(a.Results, a) {
		c.failed = c.failed || r.Error != nil
	}
	if c.name == "wait" && !c.isEnd(&a) {
		return nil
	}
	if c.json {
		_, err := fmt.Fprintf(c.out, "%s\n", raw)
		return err
	}
	_, err := io.WriteString(safetext.Writer(c.out), c.text(a))
	return err
}

// isEnd reports whether an answer of a watch is about a worker that no longer runs, or why that is
// not known.
func (c *command) isEnd(a *answer) bool {
	return a.Error != nil || a.Status != nil && a.Status.State != "STATE_RUNNING"
}

func (c *command) text(a answer) string {
	switch {
	case a.Result != nil && a.Error == nil:
		return c.line(a.Index, a.Result.Status)
	case a.Error != nil:
		return fmt.Sprintf("%s error: %s\n", c.ids[a.Index], a.Error.Message)
	case a.Status != nil:
		return c.line(a.Index, a.Status)
	case c.name == "start":
		return c.ids[0] + " started\n"
	case a.Pending:
		return c.ids[0] + " has not read the input yet\n"
	}
	var b strings.Builder
	for i, r := range a.Results {
		r.Index = i
		b.WriteString(c.text(r))
	}
	for _, p := range a.Pieces {
		b.Write(p.Data)
		if !p.Partial {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// line returns the status of a worker for people.
func (c *command) line(index int, s *workerStatus) string {
	text := strings.ToLower(strings.TrimPrefix(s.State, "STATE_"))
	switch {
	case s.Exit != nil && s.Exit.Signal != "":
		text += fmt.Sprintf(" signal %s (%s)", s.Exit.Signal, s.Exit.Cause)
	case s.Exit != nil:
		text += fmt.Sprintf(" code %s (%s)", s.Exit.Code, s.Exit.Cause)
	case s.PID != "0" && s.State == "STATE_RUNNING":
		text += " pid " + s.PID
	}
	if s.Reason != "" {
		text += ": " + s.Reason
	}
	return c.ids[index] + " " + text + "\n"
}
