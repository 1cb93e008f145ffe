package registry

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSavepoint(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	boom := errors.New("boom")
	change(t, r, func(ctx context.Context, tx *Tx) error {
		add := func(name string, err error) func(context.Context) error {
			return func(ctx context.Context) error { return errors.Join(tx.InsertTeam(ctx, &Team{Name: name}), err) }
		}
		for _, c := range []struct {
			part func(context.Context) error
			want error
		}{
			{add("a", nil), nil},
			{add("b", boom), boom},
			// A statement that breaks a rule of the schema fails alone.
			{add("a", nil), ErrExists},
			{add("c", nil), nil},
		} {
			if failed, err := tx.Savepoint(ctx, c.part); err != nil || !errors.Is(failed, c.want) {
				t.Errorf("%v, %v, want %v", failed, err, c.want)
			}
		}
		return nil
	})
	var names []string
	for _, team := range readTeams(t, r).Teams {
		names = append(names, team.Name)
	}
	if diff := cmp.Diff([]string{"a", "c"}, names); diff != "" {
		t.Errorf("teams (-want +got):\n%s", diff)
	}
}

// A failure that ends the whole change is not handled by its savepoint.
func TestSavepointOfAnEndedChange(t *testing.T) {
	t.Parallel()
	r := openTest(t, t.TempDir())
	err := r.Change(t.Context(), func(ctx context.Context, tx *Tx) error {
		failed, err := tx.Savepoint(ctx, func(ctx context.Context) error {
			_, err := tx.tx.ExecContext(ctx, "ROLLBACK") // as SQLite does when the disk is full
			return errors.Join(err, errors.New("full"))
		})
		if failed == nil || err == nil {
			t.Errorf("%v, %v", failed, err)
		}
		return err
	})
	if err == nil {
		t.Error("a change that has ended was made")
	}
}

// A reader sees one moment, waits for no writer, and changes nothing.
func TestView(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writer, reader := openTest(t, dir), openTest(t, dir)
	writeTeams(t, writer)
	count := func(ctx context.Context, tx *Tx) int {
		teams, _, err := tx.Teams(ctx)
		if err != nil {
			t.Error(err)
		}
		return len(teams)
	}
	change(t, writer, func(ctx context.Context, tx *Tx) error {
		err := tx.InsertTeam(ctx, &Team{Name: "c"})
		return errors.Join(err, reader.View(ctx, func(ctx context.Context, tx *Tx) error {
			if n := count(ctx, tx); n != 2 {
				t.Errorf("a reader sees %d teams in the middle of a change", n)
			}
			return nil
		}))
	})
	err := reader.View(t.Context(), func(ctx context.Context, tx *Tx) error { return tx.DeleteTeam(ctx, "blue") })
	if err != nil {
		t.Error(err)
	}
	err = reader.View(t.Context(), func(ctx context.Context, tx *Tx) error {
		before := count(ctx, tx)
		change(t, writer, func(ctx context.Context, tx *Tx) error { return tx.DeleteTeam(ctx, "red") })
		if after := count(ctx, tx); before != 3 || after != before {
			t.Errorf("%d teams, then %d in the same view", before, after)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
