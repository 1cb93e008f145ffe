package swarm

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckUTF8(t *testing.T) {
	t.Parallel()
	const odd = "f\xe9"
	for name, tt := range map[string]struct {
		spec Spec
		env  []string
		says string
	}{
		"good":        {spec: Spec{Command: []string{"é", "\ufffd"}, Dir: "/é"}, env: []string{"A=é"}},
		"command":     {spec: Spec{Command: []string{odd}}, says: `the command "f\xe9"`},
		"argument":    {spec: Spec{Command: []string{"cat", odd}}, says: `the argument "f\xe9"`},
		"directory":   {spec: Spec{Command: []string{"cat"}, Dir: "/" + odd}, says: `the working directory "/f\xe9"`},
		"value":       {spec: Spec{Command: []string{"cat"}}, env: []string{"A=x", "SECRET=" + odd}, says: `the variable "SECRET"`},
		"name":        {spec: Spec{Command: []string{"cat"}}, env: []string{odd + "=x"}, says: `the variable "f\xe9"`},
		"a surrogate": {spec: Spec{Command: []string{"\xed\xa0\x80"}}, says: "the command"},
	} {
		err := tt.spec.CheckUTF8("the engine", tt.env)
		if tt.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrInvalidSpec) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "the engine") {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(err.Error(), "SECRET=") {
			t.Errorf("%s: it shows the value: %v", name, err)
		}
	}
}
