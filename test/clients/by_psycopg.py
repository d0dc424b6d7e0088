# What psycopg 3 is told for each statement in a directory; see clients.pl.

import os
import sys
import time
from pathlib import Path

import psycopg

conn = psycopg.connect(os.environ['DATABASE_URL'], autocommit=True)


def attempt(what, action):
    try:
        with conn.cursor() as cur:
            action(cur)
            said = f'{cur.statusmessage} {cur.rowcount}'
    except Exception as e:
        diag = getattr(e, 'diag', None)
        said = type(e).__name__
        if diag and diag.sqlstate:
            said += f' {diag.sqlstate}|{diag.message_primary}|{diag.message_detail}|{diag.context}'
        else:
            said += f' {e}'
    print(what, said.replace('\n', '\\n'), conn.execute('SELECT taken()').fetchone()[0], sep='\t')


def statement(path):
    sql, data = path.read_text(), path.with_suffix('.data')

    def action(cur):
        if not data.exists():
            cur.execute(sql)
            return
        with cur.copy(sql) as copy, data.open('rb') as source:
            while block := source.read(10000):
                copy.write(block)
    return action


def gives_up(path):
    def action(cur):
        with cur.copy(path.read_text()) as copy:
            copy.write(path.with_suffix('.data').read_bytes()[:-10])
            raise ValueError('no more')
    return action


# Its connection is lost; the server's log tells what became of it
def goes(path):
    def action(cur):
        with psycopg.connect(os.environ['DATABASE_URL']) as other:
            pid = other.info.backend_pid
            with other.cursor().copy(path.read_text()) as copy:
                copy.write(path.with_suffix('.data').read_bytes()[:-10])
                other.pgconn.finish()
                while cur.execute(f'SELECT 1 FROM pg_stat_activity WHERE pid = {pid}').fetchone():
                    time.sleep(0.01)
    return action


def records(options, types=None):
    def action(cur):
        with cur.copy(f'COPY d FROM STDIN ({options})') as copy:
            if types:
                copy.set_types(types)
            for n in range(int(sys.argv[2])):
                copy.write_row((n, None if n % 5 == 0 else f'row\t{n} ' + 'x' * 1200, n / 8))
    return action


def transaction(good, bad):
    def action(cur):
        with conn.transaction():
            statement(good)(cur)
            try:
                with conn.transaction():
                    statement(bad)(cur)
            except psycopg.Error as e:
                cur.execute('INSERT INTO d (v) VALUES (%s)', (str(e),))
            statement(good)(cur)
    return action


# COPY of a file among other commands, none of which waits for another
def pipeline(path):
    def action(cur):
        with conn.pipeline():
            cur.execute('INSERT INTO d VALUES (-1)')
            conn.execute(path.read_text())
            cur.execute('INSERT INTO d VALUES (-2)')
    return action


directory = Path(sys.argv[1])
print('driver', 'psycopg ' + psycopg.__version__, '', sep='\t')
for path in sorted(directory.glob('*.sql')):
    attempt(path.stem, statement(path))
for format in 'text', 'csv', 'binary':
    attempt(f'{format}: the client gives up', gives_up(directory / f'{format}.sql'))
attempt('the client goes', goes(directory / 'text.sql'))
attempt('write_row, text', records('FORMAT text'))
attempt('write_row, binary', records('FORMAT binary', ['int4', 'text', 'float8']))
attempt('in a transaction', transaction(directory / 'csv.sql', directory / 'csv_bad.sql'))
attempt('pipeline', pipeline(directory / 'file.sql'))
attempt('pipeline, bad', pipeline(directory / 'file_bad.sql'))
