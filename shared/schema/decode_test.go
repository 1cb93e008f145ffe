package schema

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type inner struct {
	Path string `json:"path" default:"/tmp"`
	Port int    `json:"port"`
}

type Shared struct {
	Verbose bool `json:"verbose"`
}

type config struct {
	Shared
	Session string           `json:"session"`
	Socket  string           `json:"socket,omitempty" default:"main"`
	Pull    string           `json:"pull" enum:"missing,always,never" default:"missing"`
	Rate    int              `json:"rate" min:"1" max:"9"`
	Small   uint8            `json:"small"`
	Token   string           `json:"token" secret:"true" enum:"a,b"`
	Server  *inner           `json:"server"`
	Servers []inner          `json:"servers"`
	Named   map[string]inner `json:"named"`
	Anyway  map[string]any   `json:"anyway"`
	Raw     json.RawMessage  `json:"raw"`
	Strict  bool             `json:"strict"`
	Plain   float64
	hidden  string //nolint:unused // encoding/json can't see it, and so a schema must not
	Skipped string `json:"-"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	got := config{Session: "kept", Socket: "replaced"}
	err := Decode([]byte(`{"server":{"path":"/p","port":2},"servers":[{"port":3}],"raw":[1,{"a":2}],
		"named":{"a":{"path":"/a"}},"anyway":{"what":{"ever":1}},"Plain":1.5,"verbose":true}`), &got)
	want := config{
		Shared: Shared{Verbose: true}, Session: "kept", Socket: "main", Pull: "missing", Raw: json.RawMessage(`[1,{"a":2}]`),
		Server: &inner{Path: "/p", Port: 2}, Servers: []inner{{Path: "/tmp", Port: 3}},
		Named: map[string]inner{"a": {Path: "/a"}}, Anyway: map[string]any{"what": map[string]any{"ever": 1.0}}, Plain: 1.5,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(config{})); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for _, nothing := range []string{"", " ", "null", "{}"} {
		if err := Decode([]byte(nothing), &struct{}{}); err != nil {
			t.Errorf("%q: %v", nothing, err)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	const known = `known are Plain, anyway, named, pull, rate, raw, server, servers, session, small, socket, strict, token, verbose`
	for in, want := range map[string]string{
		`{"sesion":"x"}`:             `unknown key "sesion", did you mean "session"?`,
		`{"Session":"x"}`:            `unknown key "Session", did you mean "session"?`,
		`{"server":{"prot":1}}`:      `unknown key "server.prot", did you mean "server.port"?`,
		`{"servers":[{},{"pth":1}]}`: `unknown key "servers[1].pth", did you mean "servers[1].path"?`,
		`{"named":{"a":{"x":1}}}`:    `unknown key "named.a.x", known are path, port`,
		`{"hidden":"x"}`:             `unknown key "hidden", ` + known,
		`{"sesion":"x","sokcet":1}`:  `unknown key "sesion", did you mean "session"?; unknown key "sokcet", did you mean "socket"?`,
		`{"session":3}`:              `"session" must be a string, not a whole number`,
		`{"session":null}`:           `"session" must be a string, not null`,
		`{"server":{"port":"x"}}`:    `"server.port" must be a whole number, not a string`,
		`{"server":{"port":1.5}}`:    `"server.port" must be a whole number, not 1.5`,
		`{"servers":{}}`:             `"servers" must be a list, not a table`,
		`{"servers":[1]}`:            `"servers[0]" must be a table, not a whole number`,
		`{"strict":"yes"}`:           `"strict" must be true or false, not a string`,
		`{"pull":"alway"}`:           `"pull" must be one of missing, always, never, not "alway", did you mean "always"?`,
		`{"token":"c"}`:              `"token" must be one of a, b`,
		`{"rate":10}`:                `"rate" must be a whole number from 1 to 9, not 10`,
		`{"small":256}`:              `"small" must be a whole number from 0 to 255, not 256`,
		`[]`:                         `want a table, got a list`,
		`"x"`:                        `want a table, got a string`,
		`{`:                          `unexpected EOF`,
		`{} {}`:                      `there is more after the value`,
	} {
		err := Decode([]byte(in), &config{})
		if _, ok := errors.AsType[Problems](err); !ok || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", in, err, want)
		}
	}
	if err := Decode([]byte(`{"a":1}`), &struct{}{}); err == nil || err.Error() != `unknown key "a", there are no settings` {
		t.Errorf("got %v", err)
	}
	for _, into := range []any{nil, config{}, new(int)} {
		err := Decode([]byte("{}"), into)
		if _, ok := errors.AsType[Problems](err); ok || err == nil {
			t.Errorf("into %T: %v", into, err)
		}
	}
}

type options struct {
	Image string   `json:"image" required:"true"`
	Env   []string `json:"env"`
	Ports []int    `json:"ports" default:"80,443"`
	TTY   bool     `json:"tty"`
	Nice  int      `json:"nice" min:"0" max:"19" default:"10"`
	Rate  float64  `json:"rate"`
}

func TestDecodeOptions(t *testing.T) {
	t.Parallel()
	got := options{TTY: true, Env: []string{"replaced"}}
	err := DecodeOptions(map[string]string{"image": "true", "env": "A,B", "nice": "3"}, &got)
	want := options{Image: "true", Env: []string{"A", "B"}, Ports: []int{80, 443}, TTY: true, Nice: 3}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	for text, given := range map[string]map[string]string{
		`unknown option "imag", did you mean "image"?; option "image" is required`: {"imag": "x"},
		`option "tty" must be true or false, not "yes"`:                            {"image": "x", "tty": "yes"},
		`option "nice" must be a whole number from 0 to 19, not "x"`:               {"image": "x", "nice": "x"},
		`option "nice" must be a whole number from 0 to 19, not 20`:                {"image": "x", "nice": "20"},
		`option "ports" must be a list, not "1,x"`:                                 {"image": "x", "ports": "1,x"},
		`option "rate" must be a number, not "NaN"`:                                {"image": "x", "rate": "NaN"},
	} {
		err := DecodeOptions(given, &struct{ options }{})
		if _, ok := errors.AsType[Problems](err); !ok || err.Error() != text {
			t.Errorf("%v:\n got %v\nwant %s", given, err, text)
		}
	}
	if err := DecodeOptions(map[string]string{"a": "b"}, &struct{}{}); err == nil || err.Error() != `unknown option "a", there are no options` {
		t.Errorf("got %v", err)
	}
}

// TestOfRefuses names the field whose type or tag does not fit.
func TestOfRefuses(t *testing.T) {
	t.Parallel()
	type recursive struct {
		Again []recursive `json:"again"`
	}
	for name, v := range map[string]any{
		"a channel": struct {
			C chan int `json:"c"`
		}{},
		"a key": struct {
			M map[int]string `json:"m"`
		}{},
		"a default": struct {
			N int `json:"n" default:"x"`
		}{},
		"a default out of bounds": struct {
			N int `json:"n" default:"3" max:"2"`
		}{},
		"a default that is no word": struct {
			S string `json:"s" default:"c" enum:"a,b"`
		}{},
		"an enum": struct {
			N int `json:"n" enum:"1,2"`
		}{},
		"a bound": struct {
			S string `json:"s" min:"1"`
		}{},
		"a name": struct {
			S string `json:"a.b"`
		}{},
		"depth":       recursive{},
		"no settings": 1,
	} {
		if s, err := Of(reflect.TypeOf(v)); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
	for name, v := range map[string]any{
		"a secret": struct {
			S string `json:"s" secret:"true"`
		}{},
		"a table": struct {
			S inner `json:"s"`
		}{},
		"a list of tables": struct {
			S []inner `json:"s"`
		}{},
		"anything": struct {
			S any `json:"s"`
		}{},
	} {
		if s, err := OfOptions(reflect.TypeOf(v)); err == nil {
			t.Errorf("options with %s: %+v", name, s)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"server":{"prot":1},"servers":[null,{}],"named":{"":{}}}`))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = Decode(data, &config{}) })
}
