package registry

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// scanner is a row, alone or of many.
type scanner interface{ Scan(targets ...any) error }

// scan reads a row of all columns of a type.
func scan[T any, P interface {
	*T
	fields() []any
}](s scanner) (v T, err error) {
	err = s.Scan(P(&v).fields()...)
	return v, err
}

// eachRow calls row for every row of a query until it returns an error.
func eachRow(ctx context.Context, q querier, row func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// all returns the rows of a query, up to one that can't be read.
func all[T any](ctx context.Context, q querier, scan func(scanner) (T, error), query string, args ...any) (found []T, err error) {
	err = eachRow(ctx, q, func(rows *sql.Rows) error {
		v, err := scan(rows)
		if err == nil {
			found = append(found, v)
		}
		return err
	}, query, args...)
	return found, err
}

// readable is like all, but leaves out each row that can't be read, and returns a warning
// that has its kind and its name.
func readable[T any](
	ctx context.Context, q querier, scan func(scanner) (T, error), kind string, name func(T) string, query string, args ...any,
) (found []T, warnings []string, err error) {
	err = eachRow(ctx, q, func(rows *sql.Rows) error {
		if v, err := scan(rows); err != nil {
			warnings = append(warnings, fmt.Sprintf("cannot read %s '%s': %v", kind, cmp.Or(name(v), "?"), err))
		} else {
			found = append(found, v)
		}
		return nil
	}, query, args...)
	return found, warnings, err
}

// value scans the only column of a row.
func value[T any](s scanner) (v T, err error) {
	err = s.Scan(&v)
	return v, err
}

// orNotFound makes an [ErrNotFound] of the error that a query has no rows.
func orNotFound(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// wrapf puts what was tried before err; nil stays nil.
func wrapf(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

// numbered is [marks] for a row whose number SQLite gives if it is 0.
func numbered(columns string) string { return strings.Replace(marks(columns), "?", "nullif(?, 0)", 1) }

// marks is one mark for each of some columns.
func marks(columns string) string {
	return strings.Repeat("?, ", strings.Count(columns, ",")) + "?"
}

// oneOf returns the condition that a column has one of some values, and its arguments.
func oneOf[T any](column string, values []T) (cond string, args []any) {
	for _, v := range values {
		args = append(args, v)
	}
	return column + " IN (" + strings.TrimSuffix(strings.Repeat("?, ", len(values)), ", ") + ")", args
}

func (t *Tx) exec(ctx context.Context, query string, args ...any) error {
	_, err := t.tx.ExecContext(ctx, query, args...)
	return err
}

// add adds a row and returns its number. A first value of 0 is a number that SQLite gives.
func (t *Tx) add(ctx context.Context, table, columns string, values []any) (int64, error) {
	res, err := t.tx.ExecContext(ctx, "INSERT INTO "+table+" ("+columns+") VALUES ("+numbered(columns)+")", values...)
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// put writes a row in the place of the one that the condition where selects.
func (t *Tx) put(ctx context.Context, table, columns string, values []any, where string, args ...any) error {
	return t.exec(ctx, "UPDATE "+table+" SET ("+columns+") = ("+marks(columns)+") WHERE "+where, append(values, args...)...)
}

// taken makes an [ErrExists] of a value that is there already and must not be
// there twice.
func taken(err error) error {
	se, ok := errors.AsType[*sqlite.Error](err)
	if ok && (se.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || se.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY) {
		return ErrExists
	}
	return err
}
