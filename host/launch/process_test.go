package launch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathOfPlugin(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", "PATH=.:/usr/bin:bin::/bin:./x", "XPATH=.", "PATH=."}
	want := []string{"A=1", "PATH=/usr/bin:/bin", "XPATH=.", "PATH="}
	got := withAbsolutePath(env)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if env[3] != "PATH=." {
		t.Error("the caller's environment was changed")
	}
}
