//go:build !linux

package machinetest

import "errors"

func lacksLandlock() error { return errors.New("it needs Landlock, which Linux has") }
