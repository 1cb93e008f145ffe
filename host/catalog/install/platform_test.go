package install

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// elfOf is the beginning of a program for Linux.
func elfOf(t *testing.T, arch string) string {
	t.Helper()
	numbers := map[string]uint16{"amd64": 62, "arm64": 183, "sparc": 43, "ppc64le": 21}
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02\x01\x01")
	binary.LittleEndian.PutUint16(head[18:], numbers[arch])
	return string(head)
}

func TestPlatform(t *testing.T) {
	t.Parallel()
	pe := make([]byte, 0x100)
	copy(pe, "MZ")
	pe[0x3c] = 0x80
	copy(pe[0x80:], "PE\x00\x00\x64\xaa")
	for want, content := range map[string]string{
		"linux/amd64": elfOf(t, "amd64"), "linux/arm64": elfOf(t, "arm64"), "linux/ppc64le": elfOf(t, "ppc64le"),
		"linux/machine 0x2b": elfOf(t, "sparc"),
		"freebsd/amd64":      "\x7fELF\x02\x01\x01\x09" + elfOf(t, "amd64")[8:],
		"linux/s390x":        "\x7fELF\x02\x02\x01" + string(make([]byte, 11)) + "\x00\x16" + string(make([]byte, 40)),
		"darwin/arm64":       "\xcf\xfa\xed\xfe\x0c\x00\x00\x01" + string(make([]byte, 24)),
		"darwin/amd64":       "\xcf\xfa\xed\xfe\x07\x00\x00\x01" + string(make([]byte, 24)),
		"darwin/all":         "\xca\xfe\xba\xbe\x00\x00\x00\x02",
		"windows/arm64":      string(pe),
		"windows/all":        "MZ",
		"all/all":            "#!/usr/bin/env python3\n",
		"/":                  "\x7fELF",
	} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		system, arch, err := platform(path)
		if got := system + "/" + arch; got != want || (err != nil) != (want == "/") {
			t.Errorf("%q: %s, %v, want %s", content[:min(8, len(content))], got, err, want)
		}
	}
	// This test is a program of this machine.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if system, arch, err := platform(self); err != nil || system != runtime.GOOS || arch != runtime.GOARCH {
		t.Errorf("this program: %s/%s, %v", system, arch, err)
	}
}

func TestShortPrograms(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"\xcf\xfa\xed\xfe", "\xca\xfe", "M", "MZ" + string(make([]byte, 0x3a)) + "\xff\xff\xff\x7f\x00\x00\x00\x00"} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, _ = platform(path) // it says something and does not panic
	}
}
