package backend

import (
	"fmt"
	"time"
)

// patience is how long the user waits for a plugin before being told for which.
const patience = 5 * time.Second

// TellWait tells the user what a call waits for, unless stop is called soon. A
// repository may be locked by another process, or be large.
func (ps *Plugins) TellWait(format string, args ...any) (stop func()) {
	if ps.waiting == nil {
		return func() {}
	}
	t := time.AfterFunc(patience, func() { ps.waiting(fmt.Sprintf(format, args...)) })
	return func() { t.Stop() }
}
