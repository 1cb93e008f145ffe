// Package apptest holds an [app.App] for tests that writes into buffers. Only tests import it.
package apptest
