//go:build !linux

package proc

import "syscall"

// EndWithParent returns empty attributes: this system can't tie a program to its parent.
func EndWithParent(syscall.Signal) *syscall.SysProcAttr { return new(syscall.SysProcAttr) }
