package install

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/swarmhost/swarm/host/catalog"
)

// platform reads the system and the processor of a program from its first bytes. The
// packages of the standard library for such files read, and link, much more.
func platform(path string) (system, arch string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", "", err
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("#!")):
		return catalog.Anywhere, catalog.Anywhere, nil
	case bytes.HasPrefix(head, []byte("\x7fELF")) && n >= 20:
		system, arch = elf(head)
	case bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")) && n >= 8:
		system, arch = "darwin", machine(machO, uint64(binary.LittleEndian.Uint32(head[4:])))
	case bytes.HasPrefix(head, []byte("\xca\xfe\xba\xbe")):
		system, arch = "darwin", catalog.Anywhere
	case bytes.HasPrefix(head, []byte("MZ")):
		system, arch = "windows", windows(head)
	default:
		return "", "", errors.New(`not a program: neither a script that begins with "#!" nor one for a machine`)
	}
	return system, arch, nil
}

// The numbers of architectures and systems, by Go's names for them.
var (
	elfMachine = map[uint64]string{
		3: "386", 8: "mips", 20: "ppc", 21: "ppc64", 22: "s390x", 40: "arm", 62: "amd64", 183: "arm64", 243: "riscv64", 258: "loong64",
	}
	elfSystem = map[byte]string{2: "netbsd", 6: "solaris", 9: "freebsd", 12: "openbsd"}
	machO     = map[uint64]string{0x1000007: "amd64", 0x100000c: "arm64"}
	peMachine = map[uint64]string{0x14c: "386", 0x8664: "amd64", 0xaa64: "arm64"}
)

func machine(known map[uint64]string, n uint64) string {
	if name, ok := known[n]; ok {
		return name
	}
	return fmt.Sprintf("machine %#x", n)
}

func elf(head []byte) (system, arch string) {
	const (
		dataAt, abiAt, machineAt = 5, 7, 18
		littleEndian             = 1
	)
	order := binary.ByteOrder(binary.BigEndian)
	if head[dataAt] == littleEndian {
		order = binary.LittleEndian
	}
	arch = machine(elfMachine, uint64(order.Uint16(head[machineAt:])))
	if (arch == "ppc64" || arch == "mips") && head[dataAt] == littleEndian {
		arch += "le"
	}
	return cmp.Or(elfSystem[head[abiAt]], "linux"), arch
}

func windows(head []byte) string {
	const headerAt = 0x3c
	if len(head) > headerAt+4 {
		at := int64(binary.LittleEndian.Uint32(head[headerAt:]))
		if at+6 <= int64(len(head)) && bytes.HasPrefix(head[at:], []byte("PE\x00\x00")) {
			return machine(peMachine, uint64(binary.LittleEndian.Uint16(head[at+4:])))
		}
	}
	return catalog.Anywhere
}
