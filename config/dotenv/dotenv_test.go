package dotenv

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	t.Parallel()
	src := "\ufeff# comment\r\n\n  A=1\r\nB = two words  # comment\nC=a#b # c\nexport D=x\nexport=y\n" +
		"E=\nF=# nothing\nG='it is \\n $A # \"'\nH=\"l1\\nl2\\t\\\"\\\\\\$A\\x\" # c\nI=\"over\nlines\"\nJ='over\nlines'\n_k9=a=b\nA=again"
	got, wrong := Parse(src)
	want := []string{
		"A=1",
		"B=two words",
		"C=a#b",
		"D=x",
		"export=y",
		"E=",
		"F=",
		`G=it is \n $A # "`,
		"H=l1\nl2\t\"\\$A\\x",
		"I=over\nlines",
		"J=over\nlines",
		"_k9=a=b",
		"A=again",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	if wrong != nil {
		t.Errorf("wrong: %v", wrong)
	}
}

// Whatever a file holds, it is read or refused.
func FuzzParse(f *testing.F) {
	f.Add("A=1\nexport B='x\ny' # c\nC=\"\\\n\"")
	f.Add("\ufeffA")
	f.Add("A=\"\\")
	f.Fuzz(func(t *testing.T, src string) {
		variables, wrong := Parse(src)
		for _, v := range variables {
			if name, _, ok := strings.Cut(v, "="); !ok || name == "" || strings.ContainsRune(v, 0) {
				t.Errorf("%q: %q", src, v)
			}
		}
		for _, e := range wrong {
			if e.At > len(src) {
				t.Errorf("%q: wrong at %d", src, e.At)
			}
		}
	})
}
