package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/swarmhost/swarm/host"
	"github.com/swarmhost/swarm/shared/errtext"
	"github.com/swarmhost/swarm/shared/swarm"
)

// outcome is the first field of every output, and failure the last one.
type (
	outcome struct {
		Success bool `json:"success" jsonschema:"Whether the call succeeded"`
	}
	failure struct {
		Error string `json:"error,omitempty" jsonschema:"What went wrong"`
	}
)

func (o *outcome) success() *bool { return &o.Success }

func (f *failure) problem() *string { return &f.Error }

// verdict returns the fields of an output that say whether its call succeeded.
func verdict[O any](out *O) (success *bool, problem *string) {
	v := any(out).(interface {
		success() *bool
		problem() *string
	})
	return v.success(), v.problem()
}

type definition[I, O any] struct {
	tool Tool
	// run calls the tool. Without an error the answer is a success, unless the output has an
	// error of its own or is that of a command that failed.
	run func(ctx context.Context, h *host.Host, env Env, in I) (O, error)
	// failed returns the fields of an answer after an error, other than the error and empty
	// lists; nil: there are none. Invalid fields of the input are zero in in.
	failed func(in I) O

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
	r := resultOf(&out)
	r.Err = err
	return r
}

func resultOf[O any](out *O) Result {
	success, _ := verdict(out)
	r := Result{Output: *out, Failed: !*success, OnlyCommand: commandFailed(out)}
	if c, ok := any(out).(interface{ handedOver() string }); ok {
		r.Task = c.handedOver()
	}
	if after := afterAnswer(out); after != nil {
		r.AfterAnswer = *after
	}
	return r
}

// commandFailed reports whether the tool did its work, and the command that it ran failed by
// its own exit code.
func commandFailed[O any](out *O) bool {
	c, ok := any(out).(interface{ commandFailed() bool })
	return ok && c.commandFailed()
}

// Do is [Tool.Call] for an input that is a Go value.
func (d *definition[I, O]) Do(ctx context.Context, env Env, in I) (O, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return d.fail(in, err)
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
		return d.fail(in, err)
	}
	h, err := env.Open(ctx)
	if err != nil {
		return d.fail(in, err)
	}
	out, err := d.run(ctx, h, env, in)
	if err != nil {
		out, err = d.fail(in, err)
		return out, errors.Join(err, h.Close())
	}
	settle(&out)
	if d.tool.Member && !d.tool.ReadOnly {
		// A client that gave up waiting still wants the members to be woken.
		waking := h.Notifier().Wake(context.WithoutCancel(ctx), teamOf(in))
		if o, ok := any(&out).(interface{ wakes(members []string) }); ok {
			o.wakes(waking)
		}
	}
	if closeLater(&out, h.Close) {
		return out, nil
	}
	return out, h.Close()
}

// fail returns the answer after an error, and the error.
func (d *definition[I, O]) fail(in I, err error) (out O, _ error) {
	if d.failed != nil {
		out = d.failed(in)
	}
	_, problem := verdict(&out)
	*problem = message(err)
	fillLists(&out)
	return out, err
}

// settle completes the output of a run without an error.
func settle[O any](out *O) {
	success, problem := verdict(out)
	*success = *success || *problem == "" && !commandFailed(out)
	fillLists(out)
}

// fillLists makes lists that an answer always has empty instead of null.
func fillLists[O any](out *O) {
	v := reflect.ValueOf(out).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		optional := strings.Contains(f.Tag.Get("json"), ",")
		if field := v.FieldByIndex(f.Index); f.Type.Kind() == reflect.Slice && field.IsNil() && !optional {
			field.Set(reflect.MakeSlice(f.Type, 0, 0))
		}
	}
}

// afterAnswer returns the field AfterAnswer, which outputs of tools that may end the caller's
// own worker have. It is not part of the answer: code that calls the tool as a Go function
// calls it once the caller has the answer, unless it is nil.
func afterAnswer[O any](out *O) *func(context.Context) error {
	field := reflect.ValueOf(out).Elem().FieldByName("AfterAnswer")
	if !field.IsValid() {
		return nil
	}
	return field.Addr().Interface().(*func(context.Context) error)
}

// closeLater closes the host once AfterAnswer, which needs it, is done. It reports false if
// nothing remains to be done then.
func closeLater[O any](out *O, closeHost func() error) bool {
	field := afterAnswer(out)
	if field == nil || *field == nil {
		return false
	}
	after := *field
	*field = func(ctx context.Context) error { return errors.Join(after(ctx), closeHost()) }
	return true
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
