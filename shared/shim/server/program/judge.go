package program

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	headLen = 256 // what the kernel looks at
	deepest = 5   // how many interpreters may need another one
)

// Judge returns the error with which the start of a file would fail although its mode lets it be
// run: it is not a program, or one for another machine, or its interpreter is missing. It decides as
// the kernel does. command is what the error calls the file. dir is the directory of the start,
// from which the first line of a script may name its interpreter; without it, such an
// interpreter is not judged, and neither is a file that can't be read.
func Judge(file, command, dir string) error { return judge(file, command, dir, 0) }

func judge(file, command, dir string, depth int) error {
	if depth > deepest {
		return errors.New("too many interpreters that need another: " + command)
	}
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil // a program that can be run need not be readable
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	head := make([]byte, headLen) // what a shorter file lacks is zero, as in the kernel
	if n, err := f.ReadAt(head, 0); err != nil && (!errors.Is(err, io.EOF) || n == 0 && info.Size() > 0) {
		return nil // a file that can't be read is left to the start
	}
	switch {
	case bytes.HasPrefix(head, []byte("#!")):
		err = judgeScript(head, command, dir, depth)
	case runtime.GOOS == "linux":
		err = judgeELF(f, info.Size(), head, command)
	case info.Size() == 0:
		err = StartError(command, unix.ENOEXEC)
	}
	if err != nil && registered(file, head) {
		return nil
	}
	return err
}

// judgeScript is Judge for a file with "#!".
func judgeScript(head []byte, command, dir string, depth int) error {
	name, ok := interpreter(head)
	switch {
	case !ok || name == "":
		return StartError(command, unix.ENOEXEC)
	case !filepath.IsAbs(name) && dir == "":
		return nil
	}
	file := absolute(name, dir)
	err := Executable(file, name)
	if err != nil && strings.HasSuffix(name, "\r") {
		return errors.New("the interpreter that the first line of " + command + " names does not exist: the line ends with a carriage return, as in files of Windows")
	}
	if err == nil {
		err = judge(file, name, dir, depth+1)
	}
	if err != nil {
		return errors.New("the interpreter that the first line of " + command + " names can't be run: " + err.Error())
	}
	return nil
}

// interpreter returns what the first line of a script names, up to a blank. It returns false if
// the kernel takes the file for no script.
func interpreter(head []byte) (string, bool) {
	const blank = " \t"
	line, _, ends := bytes.Cut(head[len("#!"):], []byte("\n"))
	line = bytes.TrimLeft(line, blank)
	if len(line) == 0 {
		return "", false
	}
	at := bytes.IndexAny(line, blank+"\x00")
	switch {
	case at >= 0:
		return string(line[:at]), true
	case ends:
		return string(line), true
	default: // the name may continue after what the kernel reads
		return "", false
	}
}

// Constants of programs for Linux, see elf(5).
const (
	elfType, elfMachine    = 16, 18
	elfFixed, elfMovable   = 2, 3 // types of programs
	partLoad, partLoader   = 1, 3
	mostParts, longestPath = 65536, 4096
)

// machines are the numbers of the processors whose programs may run here, by Go's names for
// this one; an unknown processor is not judged.
var machines = map[string][]uint16{
	"amd64": {62, 3, 6}, "386": {3, 6, 62}, "arm64": {183, 40}, "arm": {40, 183},
	"riscv64": {243}, "loong64": {258}, "ppc64": {21, 20}, "ppc64le": {21}, "s390x": {22},
}

// narrow are those that have 32 bits.
var narrow = []uint16{3, 6, 20, 40}

// judgeELF is Judge for a file without "#!".
func judgeELF(f io.ReaderAt, size int64, head []byte, command string) error {
	order := binary.NativeEndian // the kernel does not look at what the file says
	kind, machine := order.Uint16(head[elfType:]), order.Uint16(head[elfMachine:])
	known, ok := machines[runtime.GOARCH]
	switch {
	case !bytes.HasPrefix(head, []byte("\x7fELF")), kind != elfFixed && kind != elfMovable:
		return StartError(command, unix.ENOEXEC)
	case !ok:
		return nil
	case !slices.Contains(known, machine):
		return errors.New("not a program for this machine: " + command)
	}
	// Where the table of parts is, how long an entry is, how many there are, and where in an
	// entry the offset and the size of a part are.
	wide := !slices.Contains(narrow, machine)
	at, each, count, entry, offsetAt, sizeAt := uint64(order.Uint32(head[28:])), 42, 44, 32, 4, 16
	word := func(b []byte) uint64 { return uint64(order.Uint32(b)) }
	if wide {
		at, each, count, entry, offsetAt, sizeAt = order.Uint64(head[32:]), 54, 56, 56, 8, 32
		word = order.Uint64
	}
	n := int(order.Uint16(head[count:])) * entry
	table := make([]byte, min(n, mostParts))
	if int(order.Uint16(head[each:])) != entry || n == 0 || n > mostParts || !reads(f, table, at) {
		return StartError(command, unix.ENOEXEC)
	}
	for part := range slices.Chunk(table, entry) {
		offset, length := word(part[offsetAt:]), word(part[sizeAt:])
		switch order.Uint32(part) {
		case partLoad:
			page := uint64(os.Getpagesize())
			if end := (uint64(size) + page - 1) / page * page; length > 0 && (offset > end || length > end-offset) {
				return errors.New("not a program: " + command + " (its end is missing)")
			}
		case partLoader:
			if length < 2 || length > longestPath {
				return StartError(command, unix.ENOEXEC)
			}
			name := make([]byte, length)
			if !reads(f, name, offset) || name[length-1] != 0 {
				return StartError(command, unix.ENOEXEC)
			}
			path, _, _ := strings.Cut(string(name), "\x00")
			if !filepath.IsAbs(path) {
				continue
			}
			if err := Executable(path, path); err != nil {
				return errors.New("the loader that " + command + " names can't be run: " + err.Error())
			}
		}
	}
	return nil
}

// reads fills b with what is at an offset of a file, and reports whether there is enough.
func reads(f io.ReaderAt, b []byte, at uint64) bool {
	if at > 1<<62 {
		return false
	}
	n, _ := f.ReadAt(b, int64(at))
	return n == len(b)
}

// formatsDir lists further kinds of programs, which users of the machine have registered.
const formatsDir = "/proc/sys/fs/binfmt_misc"

// registered reports whether a file is of a kind that is registered with the kernel,
// such as programs for another machine that an emulator runs.
func registered(file string, head []byte) bool {
	entries, err := os.ReadDir(formatsDir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if text, err := os.ReadFile(formatsDir + "/" + e.Name()); err == nil && describes(string(text), file, head) {
			return true
		}
	}
	return false
}

// describes reports whether the text of a registered kind fits a file.
func describes(text, file string, head []byte) bool {
	if !strings.HasPrefix(text, "enabled\ninterpreter ") {
		return false
	}
	at := 0
	var magic, mask []byte
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "extension":
			return strings.HasSuffix(filepath.Base(file), value)
		case "offset":
			at, _ = strconv.Atoi(value)
		case "magic":
			magic = bytesOf(value)
		case "mask":
			mask = bytesOf(value)
		}
	}
	if len(magic) == 0 || at < 0 || at+len(magic) > len(head) {
		return false
	}
	for i := range magic {
		bits := byte(0xff)
		if i < len(mask) {
			bits = mask[i]
		}
		if (head[at+i]^magic[i])&bits != 0 {
			return false
		}
	}
	return true
}

// bytesOf reads bytes from hexadecimal digits, as far as they are some. Package encoding/hex
// would link fmt into every shim.
func bytesOf(digits string) (bytes []byte) {
	for ; len(digits) >= 2; digits = digits[2:] {
		n, err := strconv.ParseUint(digits[:2], 16, 8)
		if err != nil {
			break
		}
		bytes = append(bytes, byte(n))
	}
	return bytes
}
