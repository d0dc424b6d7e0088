# What asyncpg is told for each statement in a directory; see clients.pl.  It
# writes the COPY itself, so that of a statement only the format is taken.

import asyncio
import os
import re
import sys
from pathlib import Path

import asyncpg


async def attempt(conn, what, action):
    try:
        said = await action
    except Exception as e:
        said = f'{type(e).__name__} '
        if isinstance(e, asyncpg.PostgresError):
            said += f'{e.sqlstate}|{e.message}|{e.detail}|{e.context}'
        else:
            said += str(e)
    print(what, said.replace('\n', '\\n'), await conn.fetchval('SELECT taken()'), sep='\t')


def options(sql):
    return {'format': re.search('FORMAT (\\w+)', sql)[1], **({'header': True} if 'HEADER' in sql else {})}


async def gives_up(path):
    yield path.read_bytes()[:-10]
    raise ValueError('no more')


async def in_transaction(conn, records):
    async with conn.transaction():
        await conn.copy_records_to_table('d', records=records)
        try:
            async with conn.transaction():
                await conn.copy_records_to_table('d', records=[(1, 'a', 1.5)], columns=['n', 'v', 'v'])
        except asyncpg.PostgresError as e:
            await conn.execute('INSERT INTO d (v) VALUES ($1)', e.message)
        return await conn.copy_records_to_table('d', records=records)


async def main():
    directory = Path(sys.argv[1])
    conn = await asyncpg.connect(os.environ['DATABASE_URL'])
    records = [(n, None if n % 5 == 0 else f'row\t{n} ' + 'x' * 1200, n / 8) for n in range(int(sys.argv[2]))]
    print('driver', f'asyncpg {asyncpg.__version__}', '', sep='\t')
    for path in sorted(directory.glob('*.sql')):
        sql, data = path.read_text(), path.with_suffix('.data')
        if not data.exists():
            await attempt(conn, path.stem, conn.execute(sql))
        elif re.fullmatch(r'COPY d FROM STDIN \(FORMAT \w+(, HEADER)?\)', sql):
            await attempt(conn, path.stem, conn.copy_to_table('d', source=data, **options(sql)))
    for name in 'text', 'csv', 'binary':
        path = directory / f'{name}.sql'
        await attempt(conn, f'{name}: the client gives up',
                      conn.copy_to_table('d', source=gives_up(path.with_suffix('.data')), **options(path.read_text())))
    await attempt(conn, 'copy_records_to_table', conn.copy_records_to_table('d', records=records))
    await attempt(conn, 'copy_records_to_table, of a wrong type',
                  conn.copy_records_to_table('d', records=records + [('x', 'y', 1.5)]))
    await attempt(conn, 'in a transaction', in_transaction(conn, records))


asyncio.run(main())
