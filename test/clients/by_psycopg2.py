# What psycopg2 is told for each statement in a directory; see clients.pl.

import io
import os
import sys
from pathlib import Path

import psycopg2

conn = psycopg2.connect(os.environ['DATABASE_URL'])
conn.autocommit = True
cur = conn.cursor()


def attempt(what, action):
    try:
        action()
        said = f'{cur.statusmessage} {cur.rowcount}'
    except Exception as e:
        diag = getattr(e, 'diag', None)
        said = type(e).__name__
        if diag and diag.sqlstate:
            said += f' {diag.sqlstate}|{diag.message_primary}|{diag.message_detail}|{diag.context}'
        else:
            said += f' {e}'
    cur.execute('SELECT taken()')
    print(what, said.replace('\n', '\\n'), cur.fetchone()[0], sep='\t')


def statement(path):
    sql, data = path.read_text(), path.with_suffix('.data')

    def action():
        if not data.exists():
            cur.execute(sql)
            return
        with data.open('rb') as source:
            cur.copy_expert(sql, source, size=10000)
    return action


# Blocks come from an object, which fails in the middle
def gives_up(path):
    class Source(io.BytesIO):
        def read(self, size=-1):
            block = super().read(size)
            if not block:
                raise ValueError('no more')
            return block

    def action():
        cur.copy_expert(path.read_text(), Source(path.with_suffix('.data').read_bytes()[:-10]))
    return action


# copy_from() writes the command itself
def copy_from():
    cur.copy_from(io.StringIO(''.join(f'{n}\trow {n}\t{n / 8}\n' for n in range(int(sys.argv[2])))), 'd', columns=('n', 'v', 'f'))


def transaction(good, bad):
    def action():
        conn.autocommit = False
        with conn:
            statement(good)()
            cur.execute('SAVEPOINT s')
            try:
                statement(bad)()
            except psycopg2.Error:
                cur.execute('ROLLBACK TO s')
            statement(good)()
        conn.autocommit = True
    return action


directory = Path(sys.argv[1])
print('driver', 'psycopg2 ' + psycopg2.__version__, '', sep='\t')
for path in sorted(directory.glob('*.sql')):
    attempt(path.stem, statement(path))
for format in 'text', 'csv', 'binary':
    attempt(f'{format}: the client gives up', gives_up(directory / f'{format}.sql'))
attempt('copy_from', copy_from)
attempt('in a transaction', transaction(directory / 'csv.sql', directory / 'csv_bad.sql'))
