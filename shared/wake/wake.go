// Package wake wakes a goroutine that waits for a channel, however often it is asked to.
package wake

// Up puts a value into a channel with space for one, unless one is there already.
func Up(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
