package main

import (
	"bytes"
	"os"
	"strconv"
)

// untitled overwrites its own environment, as programs do that write their title there, and
// leaves its directory.
func untitled(dir string) {
	ignore()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		fail(err.Error())
	}
	// The name, which may hold blanks, is the 2nd field; the addresses are the 50th and 51st.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	begin, err1 := strconv.ParseInt(string(fields[47]), 10, 64)
	end, err2 := strconv.ParseInt(string(fields[48]), 10, 64)
	mem, err3 := os.OpenFile("/proc/self/mem", os.O_WRONLY, 0)
	if err1 != nil || err2 != nil || err3 != nil {
		fail("the environment can't be found")
	}
	title := make([]byte, end-begin)
	copy(title, "master process")
	if _, err := mem.WriteAt(title, begin); err != nil {
		fail(err.Error())
	}
	if err := os.Chdir("/"); err != nil {
		fail(err.Error())
	}
	ready(dir, "pid")
}
