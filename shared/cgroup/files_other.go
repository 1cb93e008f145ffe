//go:build !linux

package cgroup

func isGroupDir(string) bool { return false }
