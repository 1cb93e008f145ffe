package rundir_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/shim/rundir"
)

// The hand-written encoder and the struct's tags can't drift apart: every field,
// also a future one, must survive.
func TestStatusIsJSON(t *testing.T) {
	t.Parallel()
	var want rundir.Status
	fill(reflect.ValueOf(&want).Elem(), 1)
	for _, want := range []rundir.Status{want, {}, {Reason: "a \"b\" \\ \n\t\x00\x1f</é😀\u2028"}, {Code: -1, DroppedBytes: -1 << 63}} {
		b := rundir.EncodeStatus(want)
		var got rundir.Status
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if b[len(b)-1] != '\n' {
			t.Errorf("no newline at the end of %q", b)
		}
	}
}

// fill gives every field a value of its own.
func fill(v reflect.Value, n int64) int64 {
	for _, f := range v.Fields() {
		switch f.Kind() {
		case reflect.Struct:
			n = fill(f, n)
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
			n = fill(f.Elem(), n)
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 2, 2))
			if f.Type().Elem().Kind() == reflect.String {
				f.Index(0).SetString("first")
				f.Index(1).SetString("second")
				break
			}
			n = fill(f.Index(1), fill(f.Index(0), n))
		case reflect.String:
			f.SetString(string(rune('a' + n)))
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Uint64:
			f.SetUint(uint64(n))
		default:
			f.SetInt(n)
		}
		n++
	}
	return n
}

func TestStatusOfBadText(t *testing.T) {
	t.Parallel()
	var got rundir.Status
	if err := json.Unmarshal(rundir.EncodeStatus(rundir.Status{Reason: "a\xffb"}), &got); err != nil || got.Reason != "a\ufffdb" {
		t.Errorf("got %q, %v", got.Reason, err)
	}
}
