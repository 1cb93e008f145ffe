package config

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

const schemaFile = "../docs/config.schema.json"

func TestSchemaIsCommitted(t *testing.T) {
	t.Parallel()
	want, err := JSONSchema(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(schemaFile)
	switch {
	case err == nil && bytes.Equal(got, want):
	case os.Getenv("UPDATE_DOCS") != "":
		err = os.WriteFile(schemaFile, want, 0o600)
		if err != nil {
			t.Error(err)
		}
	default:
		t.Errorf("%s is not what the fields say (%v); UPDATE_DOCS=1 go test ./config -run TestSchemaIsCommitted writes it", schemaFile, err)
	}
}

// A key that the schema does not know would be a mistake to every editor.
func TestSchemaKnowsEveryKey(t *testing.T) {
	t.Parallel()
	schema := decodedSchema(t)
	var keys []string
	for _, f := range fields() {
		keys = append(keys, f.key)
	}
	for _, f := range pluginFields() {
		keys = append(keys, "plugins.x."+f.key)
	}
	for _, f := range workerFields() {
		keys = append(keys, "workers.x."+f.key)
	}
	for _, f := range hookFields() {
		keys = append(keys, "hooks."+f.key, "hooks.x."+f.key)
	}
	for _, key := range keys {
		s := schema
		for part := range strings.SplitSeq(key, ".") {
			if s = below(s, part); s == nil {
				t.Errorf("the schema does not know %s", key)
				break
			}
		}
		if s != nil && s["description"] == nil {
			t.Errorf("the schema does not describe %s", key)
		}
	}
}

// The schema and the decoder agree: what one refuses, the other refuses too,
// except for what a schema can't say.
func TestSchemaAgreesWithDecoder(t *testing.T) {
	t.Parallel()
	schema := decodedSchema(t)
	worker := func(lines string) string { return "[workers.w]\ncommand = [\"x\"]\n" + lines }
	good := []string{
		Example(), commented.ReplaceAllString(Example(), "$1"), "",
		"kill.timeout = 90", "kill.timeout = \"1.5h30m.5s\"", "log.limit = \"64 mib\"", "log.limit = \"500kb\"", "log.limit = 1",
		"defaults.retain = \"none\"", "defaults.retain = 60", "[plugins.x]\nconfig = { a = [1, { b = 2 }] }\ncommand = \"x\"", "plugins.x.version = \"v1.2.0-rc.1+b_2\"",
		worker("ready = true"), worker("ready = \"x\""), worker("ready = { }"), worker("restart = \"no\""),
		worker("restart = { when = \"always\", min_delay = 1 }"), worker("env = { A = 1, B = true, C = \"x\" }"),
		worker("env_file = [\"a\", \"b\"]"), worker("worktree = false"), worker("worktree.branch = \"x\""), worker("workspace = \"copy\""), worker("workspace.options.exclude = \"x\""), "[workers.\"a.b\"]\ncommand = [\"x\"]",
	}
	hook := "on = [\"ended\"]\ncommand = [\"x\"]\n"
	good = append(good, "[hooks]\n"+hook, "[hooks.x]\n"+hook+"tags = [\"a\"]\ntimeout = 5", "[hooks]\n"+hook+"[hooks.x]\n"+hook)
	answer := "answer = \"allow\"\ncommand = \"ls\"\n"
	good = append(good, "[[answers]]\n"+answer+"for = \"always\"\n[[answers]]\nanswer = \"ask\"", "answers = [{ answer = \"deny\", tool = \"x\" }]", "answers = []")
	for _, src := range good {
		if problems := refusals(t, src); problems != nil {
			t.Errorf("the decoder refuses %q: %v", src, problems)
		}
		if wrong := violations("", schema, decoded(t, src)); wrong != nil {
			t.Errorf("the schema refuses %q: %q", src, wrong)
		}
	}
	bad := []string{
		"a = 1", "defaults.backend = 1", "defaults.tags = \"a\"", "defaults.tags = [1]", "kill = 1", "kill.timeout = \"soon\"",
		"kill.timeout = -1", "kill.timeout = 1.5", "kill.mode = \"all\"", "log.limit = 0", "log.limit = \"64XB\"", "defaults.retain = \"never\"",
		"[plugins.Big]\nmtls = true", "[plugins.x]\nsha256 = \"12\"", "[plugins.x]\ncommand = []", "plugins.x.y = 1",
		"plugins.x.version = 1.2", "plugins.x.version = \"../x\"", "plugins.x.version = \"\"",
		"[workers.w]", "[workers.w]\ncommand = \"x y\"", "[workers.w]\ncommand = []", worker("restart = \"yes\""), worker("restart.budget = 0"),
		worker("restart = { wen = \"no\" }"), worker("ready = 1"), worker("ready = \"\""), worker("env = [\"A=1\"]"), worker("env.A = 1.5"), worker("env.A = []"),
		worker("env_file = \"\""), worker("worktree = \"b\""), worker("workspace = true"), worker("workspace = \"Big\""), worker("workspace.options = [1]"), worker("depends_on = \"x\""), worker("stdin = 1"), worker("kill.x = 1"),
	}
	bad = append(bad, "hooks = 1", "[[hooks]]\n"+hook, "[hooks]\n"+hook+"x = 1", "[hooks.x]\non = [\"ended\"]", "[hooks.x]\ncommand = [\"x\"]",
		"[hooks.x]\n"+hook+"timeout = 0", "[hooks]\ncommand = [\"x\"]\non = [\"died\"]", "[hooks]\ncommand = [\"x\"]\non = []",
		"[hooks]\ncommand = \"x\"\non = [\"ended\"]", "[hooks.on]\n"+hook)
	bad = append(bad, "answers = 1", "[answers]\n"+answer, "[[answers]]", "[[answers]]\ntool = \"x\"", "[[answers]]\n"+answer+"x = 1", "[[answers]]\n"+answer+"for = \"a day\"",
		"[[answers]]\nanswer = \"\"", "[[answers]]\nanswer = \"ask\"\ntool = 1", "answers = [1]")
	for _, src := range bad {
		if refusals(t, src) == nil {
			t.Errorf("the decoder takes %q", src)
		}
		if violations("", schema, decoded(t, src)) == nil {
			t.Errorf("the schema takes %q", src)
		}
	}
}

func refusals(t *testing.T, src string) Problems {
	t.Helper()
	l := &Loaded{Config: Default(), Origins: map[string]Position{}}
	o := Options{Project: "/p/" + ProjectFile}
	path := o.Project
	if (strings.Contains(src, "hooks") || strings.Contains(src, "answers")) && !strings.Contains(src, "[workers") { // these are in the user's file only
		o, path = Options{User: "/p/config.toml"}, "/p/config.toml"
	}
	return l.add(path, src, true, o)
}

func decodedSchema(t *testing.T) map[string]any {
	t.Helper()
	text, err := JSONSchema(nil)
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

func decoded(t *testing.T, src string) any {
	t.Helper()
	doc := map[string]any{}
	if _, err := toml.Decode(src, &doc); err != nil {
		t.Fatalf("%q: %v", src, err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// below returns the schema of a property.
func below(schema map[string]any, name string) map[string]any {
	if p, ok := at(schema, "properties")[name].(map[string]any); ok {
		return p
	}
	for pattern, p := range at(schema, "patternProperties") {
		if regexp.MustCompile(pattern).MatchString(name) {
			return p.(map[string]any)
		}
	}
	if options, ok := schema["anyOf"].([]any); ok {
		for _, s := range options {
			if p := below(s.(map[string]any), name); p != nil {
				return p
			}
		}
	}
	more, _ := schema["additionalProperties"].(map[string]any)
	return more
}

func at(schema map[string]any, key string) map[string]any {
	m, _ := schema[key].(map[string]any)
	return m
}

// violations checks a value against the part of JSON Schema that the schema uses.
func violations(path string, schema map[string]any, v any) (found []string) {
	wrong := func(keyword string) { found = append(found, path+": "+keyword) }
	if options, ok := schema["anyOf"].([]any); ok && !slices.ContainsFunc(options, func(s any) bool { return violations(path, s.(map[string]any), v) == nil }) {
		wrong("anyOf")
	}
	kinds, _ := schema["type"].([]any)
	if kind, ok := schema["type"].(string); ok {
		kinds = []any{kind}
	}
	if kinds != nil && !slices.Contains(kinds, any(jsonType(v))) {
		wrong("type")
		return found
	}
	switch v := v.(type) {
	case string:
		enum, _ := schema["enum"].([]any)
		pattern, _ := schema["pattern"].(string)
		least, _ := schema["minLength"].(float64)
		if enum != nil && !slices.Contains(enum, any(v)) || !regexp.MustCompile(pattern).MatchString(v) || len(v) < int(least) {
			wrong("string")
		}
	case float64:
		if least, ok := schema["minimum"].(float64); ok && v < least {
			wrong("minimum")
		}
	case []any:
		if least, _ := schema["minItems"].(float64); len(v) < int(least) {
			wrong("minItems")
		}
		for _, item := range v {
			found = append(found, violations(path+"[]", at(schema, "items"), item)...)
		}
	case map[string]any:
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				wrong("required")
			}
		}
		_, open := schema["additionalProperties"]
		for name, v := range v {
			s := below(schema, name)
			if s == nil && open {
				wrong(name)
			}
			found = append(found, violations(path+"."+name, s, v)...)
		}
	}
	return found
}

func jsonType(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	default:
		return "object"
	}
}
