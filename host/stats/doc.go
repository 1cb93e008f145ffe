// Package stats reports what workers use. It asks backends and changes nothing. It is
// imported by host, which says which workers are meant.
package stats
