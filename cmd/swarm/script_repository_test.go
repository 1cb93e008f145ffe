package main_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdRepo makes a repository with a commit that holds two files and ignores
// *.log, .env and the directory build.
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 1, "repo DIR")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	for name, text := range map[string]string{
		"a.txt":      "first\n",
		"b.txt":      "second\n",
		".gitignore": "*.log\n.env\nbuild/\n",
	} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, line := range [][]string{
		{"-C", dir, "init", "-q"},
		{"-C", dir, "add", "."},
		{"-C", dir, "commit", "-q", "-m", "first"},
	} {
		ts.Check(ts.Exec("git", line...))
	}
}

// cmdServe serves files until the script ends.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) == 2, "serve DIR VAR")
	s := httptest.NewServer(http.FileServer(http.Dir(ts.MkAbs(args[0]))))
	ts.Defer(s.Close)
	ts.Setenv(args[1], s.URL)
}
