# What pg8000 is told for each statement in a directory; see clients.pl.  It
# sends COPY by the extended protocol.

import os
import sys
from pathlib import Path

import pg8000

try:
    from pg8000 import dbapi
except ImportError:
    dbapi = pg8000
conn = dbapi.connect(user=os.environ['PGUSER'], host=os.environ['PGHOST'],
                     port=int(os.environ['PGPORT']), database=os.environ['PGDATABASE'])
conn.autocommit = True
cur = conn.cursor()


def attempt(path):
    data = path.with_suffix('.data')
    try:
        if data.exists():
            with data.open('rb') as source:
                cur.execute(path.read_text(), stream=source)
        else:
            cur.execute(path.read_text())
        said = f'COPY {cur.rowcount}'
    except Exception as e:
        # newer ones have the server's fields in a dict, old ones in order
        fields = e.args[0] if isinstance(e.args[0], dict) else e.args
        said = f'{type(e).__name__} {fields}'
    cur.execute('SELECT taken()')
    print(path.stem, said.replace('\n', '\\n'), cur.fetchone()[0], sep='\t')


print('driver', f'pg8000 {pg8000.__version__}', '', sep='\t')
for path in sorted(Path(sys.argv[1]).glob('*.sql')):
    attempt(path)
