// Package jsontest holds values and schema checks for tests of JSON. Only tests import it.
package jsontest
