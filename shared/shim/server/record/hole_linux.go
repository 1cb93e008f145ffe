package record

import (
	"os"

	"golang.org/x/sys/unix"
)

func punch(f *os.File, from, size int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, size)
}
