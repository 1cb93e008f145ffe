package proc

// NotifyLimit returns "": there is no such limit here.
func NotifyLimit() string { return "" }
