package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func schemaOf[T any](t *testing.T) *Schema {
	t.Helper()
	s, err := Of(reflect.TypeFor[T]())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTravels reads a schema as it was written.
func TestTravels(t *testing.T) {
	t.Parallel()
	for _, s := range []*Schema{schemaOf[config](t), schemaOf[options](t), schemaOf[struct{}](t)} {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(data)
		if diff := cmp.Diff(s, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", data, err, diff)
		}
	}
}

// TestParse reads what other authors may write, and makes its texts harmless.
func TestParse(t *testing.T) {
	t.Parallel()
	s, err := Parse([]byte(`{"$schema":"x","type":"object","additionalProperties":false,"properties":{
		"a":{"type":"string","description":"one\ntwo\u001b[1m\u202e","default":"\u202e","title":"T"},
		"b":{"type":"later"},"c":{"additionalProperties":true,"type":"object"},"d":{"type":"object","additionalProperties":{"type":"integer"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Properties["a"].Description; got != `one two\x1b[1m\u202e` {
		t.Errorf("description %q", got)
	}
	if got := s.Properties["a"].DefaultText(); got != `"\u202e"` {
		t.Errorf("default %q", got)
	}
	for key, problems := range map[string]int{"b": 0, "c": 0, "d": 1} {
		if got := s.Check(map[string]any{key: map[string]any{"x": "y"}}); len(got) != problems {
			t.Errorf("%s: %v", key, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"type":"array","items":`, MaxDepth+1) + `{"type":"string"}` + strings.Repeat("}", MaxDepth+1)
	var many []string
	for i := range MaxProperties + 1 {
		many = append(many, fmt.Sprintf(`"k%d":{}`, i))
	}
	for name, text := range map[string]string{
		"no JSON":          `{`,
		"a list":           `[]`,
		"null":             `null`,
		"no properties":    `{"type":"object"}`,
		"another type":     `{"type":"string","properties":{}}`,
		"several types":    `{"type":"object","properties":{"a":{"type":["string","integer"]}}}`,
		"a null property":  `{"type":"object","properties":{"a":null}}`,
		"a name":           `{"type":"object","properties":{"a b":{}}}`,
		"a word":           `{"type":"object","properties":{"a":{"enum":["\u001b[31m"]}}}`,
		"a default":        `{"type":"object","properties":{"a":{"type":"integer","default":"x"}}}`,
		"required":         `{"type":"object","properties":{},"required":["a"]}`,
		"too large":        `{"type":"object","properties":{"a":{"description":"` + strings.Repeat("x", MaxSize) + `"}}}`,
		"too deep":         `{"type":"object","properties":{"a":` + deep + `}}`,
		"too many":         `{"type":"object","properties":{` + strings.Join(many, ",") + `}}`,
		"a wrong property": `{"type":"object","properties":{"a":1}}`,
	} {
		if s, err := Parse([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestRedact hides secrets wherever they are, and nothing else.
func TestRedact(t *testing.T) {
	t.Parallel()
	type account struct {
		Name  string `json:"name"`
		Token string `json:"token" secret:"true"`
	}
	type settings struct {
		Token    string             `json:"token" secret:"true"`
		Accounts []account          `json:"accounts"`
		ByName   map[string]account `json:"by_name"`
		Keys     []string           `json:"keys" secret:"true"`
	}
	given := map[string]any{
		"token": "s3cret", "keys": []any{"s3cret"},
		"accounts": []map[string]any{{"name": "a", "token": "s3cret"}},
		"by_name":  map[string]any{"b": map[string]any{"name": "b", "token": "s3cret"}},
	}
	got := schemaOf[settings](t).Redact(given)
	want := map[string]any{
		"token": Hidden, "keys": Hidden, "accounts": []any{map[string]any{"name": "a", "token": Hidden}},
		"by_name": map[string]any{"b": map[string]any{"name": "b", "token": Hidden}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(HideAll(given)); strings.Contains(got, "s3cret") {
		t.Error(got)
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	type settings struct {
		Pull  string  `json:"pull" enum:"missing,always" default:"missing" help:"When an image | is <b>pulled</b>."`
		Token string  `json:"token" secret:"true" required:"true" help:"The token."`
		TLS   inner   `json:"tls" help:"The certificates."`
		Rules []inner `json:"rules"`
	}
	const want = "| key | type | default | |\n|---|---|---|---|\n" +
		"| `pull` | \"missing\", \"always\" | `\"missing\"` | When an image \\| is &lt;b>pulled&lt;/b>. |\n" +
		"| `rules` | list of tables |  |  |\n" +
		"| `rules[].path` | string | `\"/tmp\"` |  |\n" +
		"| `rules[].port` | whole number |  |  |\n" +
		"| `tls` | table |  | The certificates. |\n" +
		"| `tls.path` | string | `\"/tmp\"` |  |\n" +
		"| `tls.port` | whole number |  |  |\n" +
		"| `token` | string |  | The token. It is required. It is a secret: swarm never shows it. |\n"
	if diff := cmp.Diff(want, schemaOf[settings](t).Markdown()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := schemaOf[struct{}](t).Markdown(); got != "There are none.\n" {
		t.Error(got)
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	s := schemaOf[config](t)
	for key, want := range map[string]string{"servers[1].port": TypeInteger, "servers[].path": TypeString, "named.any.port": TypeInteger, "rate": TypeInteger} {
		if got := s.At(key); got == nil || got.Type != want {
			t.Errorf("%s: %+v", key, got)
		}
	}
	for _, key := range []string{"nothing", "rate.x", "server.x", ""} {
		if got := s.At(key); got != nil {
			t.Errorf("%s: %+v", key, got)
		}
	}
}
