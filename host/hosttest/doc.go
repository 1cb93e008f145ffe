// Package hosttest provides a host on fake plugins, for the tests of package host and of the
// packages below it. A [Rig] is a real [host.Host] whose backends keep their workers in files, so
// that several hosts, in one process or in many, see the same workers. Only tests import it.
package hosttest
