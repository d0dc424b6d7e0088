// What pgx is told for each statement in a directory; see clients.pl.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	ctx       = context.Background()
	conn      *pgx.Conn
	directory = os.Args[1]
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func read(name string) []byte { return must(os.ReadFile(filepath.Join(directory, name))) }

func attempt(what string, action func() (string, error)) {
	said, err := action()
	var e *pgconn.PgError
	if errors.As(err, &e) {
		said = strings.Join([]string{e.Code, e.Message, e.Detail, e.Where}, "|")
	} else if err != nil {
		said = err.Error()
	}
	var taken string
	if err := conn.QueryRow(ctx, "SELECT taken()").Scan(&taken); err != nil {
		panic(err)
	}
	fmt.Printf("%s\t%s\t%s\n", what, strings.ReplaceAll(said, "\n", "\\n"), taken)
}

func statement(name string) (string, error) {
	data, err := os.Open(filepath.Join(directory, name+".data"))
	if err != nil {
		tag, err := conn.Exec(ctx, string(read(name+".sql")))
		return tag.String(), err
	}
	defer data.Close()
	tag, err := conn.PgConn().CopyFrom(ctx, data, string(read(name+".sql")))
	return tag.String(), err
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no more") }

func givesUp(name string) (string, error) {
	data := read(name + ".data")
	tag, err := conn.PgConn().CopyFrom(ctx, io.MultiReader(bytes.NewReader(data[:len(data)-10]), broken{}), string(read(name+".sql")))
	return tag.String(), err
}

func records(last error) (string, error) {
	rows := must(strconv.Atoi(os.Args[2]))
	source := pgx.CopyFromFunc(func() ([]any, error) {
		rows--
		if rows < 0 {
			return nil, last
		}
		var v any
		if rows%5 != 0 {
			v = fmt.Sprintf("row\t%d %s", rows, strings.Repeat("x", 1200))
		}
		return []any{rows, v, float64(rows) / 8}, nil
	})
	n, err := conn.CopyFrom(ctx, pgx.Identifier{"d"}, []string{"n", "v", "f"}, source)
	return strconv.FormatInt(n, 10), err
}

func inTransaction() (string, error) {
	tx := must(conn.Begin(ctx))
	defer tx.Rollback(ctx)
	first := must(statement("csv"))
	inner := must(tx.Begin(ctx))
	_, err := statement("csv_bad")
	if err == nil {
		return "", errors.New("no error")
	}
	if err := inner.Rollback(ctx); err != nil {
		return "", err
	}
	second := must(statement("csv"))
	return first + ", " + second, tx.Commit(ctx)
}

// COPY of a file among commands of one pipeline
func batch(name string) (string, error) {
	b := &pgx.Batch{}
	b.Queue("INSERT INTO d VALUES (-1)")
	b.Queue(string(read(name + ".sql")))
	b.Queue("INSERT INTO d VALUES ($1)", -2)
	results := conn.SendBatch(ctx, b)
	said := ""
	for i := 0; i < 3; i++ {
		tag, err := results.Exec()
		if err != nil {
			results.Close()
			return "", err
		}
		said += tag.String() + ";"
	}
	return said, results.Close()
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == "github.com/jackc/pgx/v5" {
			return m.Version
		}
	}
	return ""
}

func main() {
	conn = must(pgx.Connect(ctx, os.Getenv("DATABASE_URL")))
	defer conn.Close(ctx)
	fmt.Printf("driver\tpgx %s\t\n", version())
	paths := must(filepath.Glob(filepath.Join(directory, "*.sql")))
	sort.Strings(paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		attempt(name, func() (string, error) { return statement(name) })
	}
	for _, format := range []string{"text", "csv", "binary"} {
		attempt(format+": the client gives up", func() (string, error) { return givesUp(format) })
	}
	attempt("CopyFrom", func() (string, error) { return records(nil) })
	attempt("CopyFrom, given up", func() (string, error) { return records(errors.New("no more")) })
	attempt("in a transaction", inTransaction)
	attempt("batch", func() (string, error) { return batch("file") })
	attempt("batch, bad", func() (string, error) { return batch("file_bad") })
}
