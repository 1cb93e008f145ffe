package set

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for want, ws := range map[string][]Worker{
		"worker 'a' is declared twice":                     {declare("a"), declare("a")},
		"worker 'a' depends on 'x', which is not declared": {declare("a", "x")},
		"a cycle of dependencies: a -> a":                  {declare("a", "a")},
		"a cycle of dependencies: a -> b -> c -> a":        {declare("a", "d", "b"), declare("b", "c"), declare("c", "a"), declare("d")},
		"a cycle of dependencies: b -> c -> b":             {declare("a", "b"), declare("b", "c"), declare("c", "b")},
	} {
		if _, err := New(project, ws); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestDependencies(t *testing.T) {
	t.Parallel()
	s := newSet(t, declare("web", "api", "db"), declare("api", "db"), declare("db"), declare("other"))
	for _, c := range []struct{ names, want []string }{
		{nil, []string{"db", "api", "web", "other"}},
		{[]string{"other", "api"}, []string{"other", "db", "api"}},
		{[]string{"db", "db"}, []string{"db"}},
	} {
		if got, err := s.Dependencies(c.names); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("of %q: %q, %v; want %q", c.names, got, err, c.want)
		}
	}
	var unknown *UndeclaredError
	if _, err := s.Dependencies([]string{"db", "wbe"}); !errors.As(err, &unknown) || unknown.Name != "wbe" {
		t.Errorf("error %v, want an UndeclaredError", err)
	}
	got, err := s.choose([]string{"db"}, s.dependants())
	if diff := cmp.Diff([]string{"web", "api", "db"}, got); err != nil || diff != "" {
		t.Errorf("what depends on db: %v (-want +got):\n%s", err, diff)
	}
}
