package proc

// Getenv is [LookupEnv] for callers that treat an unreadable environment as empty.
func Getenv(pid int, name string) (string, bool) {
	value, ok, err := LookupEnv(pid, name)
	return value, ok && err == nil
}

// lookup finds a variable in a stream of NUL-terminated entries without holding
// more of it than the value: environments can be megabytes long.
type lookup struct {
	name  string
	at    int // bytes of "name=" seen in this entry, -1: another variable
	value []byte
	found bool
}

// feed returns true once the value is complete.
func (l *lookup) feed(chunk []byte) bool {
	for _, b := range chunk {
		switch {
		case l.found:
			if b == 0 {
				return true
			}
			l.value = append(l.value, b)
		case b == 0:
			l.at = 0
		case l.at < 0:
		case l.at < len(l.name) && b == l.name[l.at]:
			l.at++
		case l.at == len(l.name) && b == '=':
			l.found = true
		default:
			l.at = -1
		}
	}
	return false
}
