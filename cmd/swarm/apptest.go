package main

import "bytes"

// testApp returns an app that writes into buffers and has no environment.
func testApp() (a *app, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &app{printer: printer{out: &stream{w: stdout}, err: stderr, outWidth: noTerminal, errWidth: noTerminal}}, stdout, stderr
}

func noTerminal() int { return 0 }
