package settings

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swarmhost/swarm/shared/swarm"
)

type inner struct {
	Path string `json:"path"`
	Port int    `json:"port"`
}

type Shared struct {
	Verbose bool `json:"verbose"`
}

type config struct {
	Shared
	Session string           `json:"session"`
	Socket  string           `json:"socket,omitempty"`
	Server  *inner           `json:"server"`
	Servers []inner          `json:"servers"`
	Named   map[string]inner `json:"named"`
	Anyway  map[string]any   `json:"anyway"`
	Strict  bool             `json:"strict"`
	Plain   float64
	hidden  string //nolint:unused // encoding/json can't see it, and so settings must not
	Skipped string `json:"-"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	got := config{Session: "default", Socket: "default"}
	err := Decode([]byte(`{"session":"s","server":{"path":"/p","port":2},"servers":[{"port":3}],
		"named":{"a":{"path":"/a"}},"anyway":{"what":{"ever":1}},"Plain":1.5,"verbose":true}`), &got)
	want := config{
		Shared: Shared{Verbose: true}, Session: "s", Socket: "default",
		Server: &inner{Path: "/p", Port: 2}, Servers: []inner{{Port: 3}},
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
	for in, want := range map[string]string{
		`{"sesion":"x"}`:             `unknown key "sesion", did you mean "session"?`,
		`{"Session":"x"}`:            `unknown key "Session", did you mean "session"?`,
		`{"server":{"prot":1}}`:      `unknown key "server.prot", did you mean "server.port"?`,
		`{"servers":[{},{"pth":1}]}`: `unknown key "servers[1].pth", did you mean "servers[1].path"?`,
		`{"named":{"a":{"x":1}}}`:    `unknown key "named.a.x", known are path, port`,
		`{"hidden":"x"}`:             `unknown key "hidden", known are Plain, anyway, named, server, servers, session, socket, strict, verbose`,
		`{"sesion":"x","sokcet":1}`:  `unknown key "sesion", did you mean "session"?; unknown key "sokcet", did you mean "socket"?`,
		`{"session":3}`:              `"session" must be a string, not number`,
		`{"server":{"port":"x"}}`:    `"server.port" must be a whole number (int), not string`,
		`{"server":{"port":1.5}}`:    `"server.port" must be a whole number (int), not number 1.5`,
		`{"servers":{}}`:             `"servers" must be a list, not object`,
		`{"strict":"yes"}`:           `"strict" must be true or false, not string`,
		`[]`:                         `want a table, got array`,
		`"x"`:                        `want a table, got string`,
		`{`:                          `unexpected end of JSON input`,
		`{} {}`:                      `invalid character '{' after top-level value`,
	} {
		err := Decode([]byte(in), &config{})
		if !errors.Is(err, swarm.ErrInvalidConfig) || err.Error() != swarm.ErrInvalidConfig.Error()+": "+want {
			t.Errorf("%s:\n got %v\nwant %s", in, err, want)
		}
	}
	if err := Decode([]byte(`{"a":1}`), &struct{}{}); err == nil || err.Error() != `invalid plugin config: unknown key "a", there are no settings` {
		t.Errorf("got %v", err)
	}
	for _, into := range []any{nil, config{}, new(int)} {
		if err := Decode([]byte("{}"), into); err == nil || errors.Is(err, swarm.ErrInvalidConfig) {
			t.Errorf("into %T: %v", into, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"server":{"prot":1},"servers":[null,{}],"named":{"":{}}}`))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = Decode(data, &config{}) })
}
