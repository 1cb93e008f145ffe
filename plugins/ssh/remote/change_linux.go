package remote

import "syscall"

// changed is when the file or its permissions were changed last. Programs can't set it.
func changed(st *syscall.Stat_t) int64 { return st.Ctim.Nano() }
