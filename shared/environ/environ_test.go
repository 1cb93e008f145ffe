package environ

import (
	"slices"
	"testing"
)

func TestGet(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", "AB=2", "A=3=4", "EMPTY=", "none"}
	for name, want := range map[string]string{"A": "3=4", "AB": "2", "EMPTY": "", "none": "", "B": ""} {
		if got := Get(env, name); got != want {
			t.Errorf("Get(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestWithout(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", "AB=2", "A=3", "B=A", "none"}
	before := slices.Clone(env)
	if got, want := Without(env, func(name string) bool { return name == "A" || name == "none" }), []string{"AB=2", "B=A"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !slices.Equal(env, before) {
		t.Errorf("the environment became %q", env)
	}
}

func TestSet(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", "B=2", "A=3"}
	got := Set(env, "A=4", "C=5")
	if !slices.Equal(got, []string{"B=2", "A=4", "C=5"}) {
		t.Errorf("got %q", got)
	}
	if !slices.Equal(env, []string{"A=1", "B=2", "A=3"}) {
		t.Errorf("changed to %q", env)
	}
}
