package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// output is what all output types have in common.
type output interface{ succeeded() bool }

// outcome is the first field of every output.
type outcome struct {
	Success bool `json:"success" jsonschema:"It was done"`
}

func (o outcome) succeeded() bool { return o.Success }

// later is in the outputs of tools that may end the caller's own worker.
type later struct {
	// AfterAnswer does that; nil means that nothing remains to be done. Code that calls the
	// tool as a Go function calls AfterAnswer once the caller has the answer.
	AfterAnswer func(context.Context) error `json:"-"`
}

func (l later) afterAnswer() func(context.Context) error { return l.AfterAnswer }

// closeLater closes the host once AfterAnswer, which needs it, is done.
func (l *later) closeLater(closeHost func() error) bool {
	after := l.AfterAnswer
	if after == nil {
		return false
	}
	l.AfterAnswer = func(ctx context.Context) error { return errors.Join(after(ctx), closeHost()) }
	return true
}

type definition[I any, O output] struct {
	tool Tool
	// run does it. With an error the answer is that of failed.
	run func(ctx context.Context, h *host.Host, env Env, in I) (O, error)
	// failed returns the answer after an error. Invalid fields of the input are zero in in.
	failed func(in I, text string) O

	in, out schema
}

// schema is derived from a type when it is needed first.
type schema struct {
	once   sync.Once
	schema *jsonschema.Schema
}

func (s *schema) of(t reflect.Type) *jsonschema.Schema {
	s.once.Do(func() { s.schema = derive(t) })
	return s.schema
}

func (d *definition[I, O]) about() Tool {
	t := d.tool
	t.kind = d
	return t
}

func (d *definition[I, O]) input() *jsonschema.Schema { return d.in.of(reflect.TypeFor[I]()) }

func (d *definition[I, O]) output() *jsonschema.Schema { return d.out.of(reflect.TypeFor[O]()) }

func (d *definition[I, O]) answer(ctx context.Context, env Env, raw json.RawMessage) Result {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	out, err := d.call(ctx, env, raw)
	r := Result{Output: out, Failed: !out.succeeded(), Err: err}
	if c, ok := any(out).(interface{ onlyCommand() bool }); ok {
		r.OnlyCommand = r.Failed && c.onlyCommand()
	}
	if c, ok := any(out).(interface{ handedOver() string }); ok {
		r.Task = c.handedOver()
	}
	if later, ok := any(out).(interface {
		afterAnswer() func(context.Context) error
	}); ok {
		r.AfterAnswer = later.afterAnswer()
	}
	return r
}

// Do is [Tool.Call] for an input that is a Go value.
func (d *definition[I, O]) Do(ctx context.Context, env Env, in I) (O, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return d.failed(in, message(err)), err
	}
	return d.call(ctx, env, raw)
}

func (d *definition[I, O]) call(ctx context.Context, env Env, raw json.RawMessage) (O, error) {
	var in I
	err := read(d.input(), raw, &in)
	if d.tool.Member && lacksOnlyTeam(err) {
		if team := ownTeam(ctx, env); team != "" {
			err = read(d.input(), withTeam(raw, team), &in)
		}
	}
	if err != nil {
		return d.failed(in, message(err)), err
	}
	h, err := env.Open(ctx)
	if err != nil {
		return d.failed(in, message(err)), err
	}
	out, err := d.run(ctx, h, env, in)
	switch {
	case err != nil:
		out = d.failed(in, message(err))
	case d.tool.Member && !d.tool.ReadOnly:
		// A client that gave up waiting still wants the members to be woken.
		waking := h.Wake(context.WithoutCancel(ctx), teamOf(in))
		if o, ok := any(&out).(interface{ wakes(members []string) }); ok {
			o.wakes(waking)
		}
	}
	if later, ok := any(&out).(interface{ closeLater(func() error) bool }); ok && later.closeLater(h.Close) {
		return out, err
	}
	return out, errors.Join(err, h.Close())
}

func teamOf(in any) string {
	name := reflect.ValueOf(in).FieldByName("TeamName")
	if !name.IsValid() {
		return ""
	}
	return name.String()
}

// message is the text of an error in an answer: one line, without sentinels that add
// nothing to the text after them.
func message(err error) string { return errtext.Line(err, swarm.ErrInvalidSpec, swarm.ErrUnavailable) }
