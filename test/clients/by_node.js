// What node-postgres with pg-copy-streams is told for each statement in a
// directory; see clients.pl.

const fs = require('fs');
const path = require('path');
const { pipeline } = require('stream/promises');
const { once } = require('events');
const { Client } = require('pg');
const { from } = require('pg-copy-streams');

const directory = process.argv[2];
const client = new Client({ connectionString: process.env.DATABASE_URL });
const file = (name) => path.join(directory, name);
const sql = (name) => fs.readFileSync(file(`${name}.sql`), 'utf8');

async function attempt(what, action) {
  let said;
  try {
    said = `COPY ${await action()}`;
  } catch (e) {
    said = [e.constructor.name, e.code, e.message, e.detail, e.where].join('|').replaceAll('\n', '\\n');
  }
  const { rows } = await client.query('SELECT taken()');
  console.log([what, said, rows[0].taken].join('\t'));
}

async function statement(name) {
  if (!fs.existsSync(file(`${name}.data`))) return (await client.query(sql(name))).rowCount;
  const stream = client.query(from(sql(name)));
  await pipeline(fs.createReadStream(file(`${name}.data`)), stream);
  return stream.rowCount;
}

async function givesUp(name) {
  const stream = client.query(from(sql(name)));
  const closed = once(stream, 'close');
  stream.write(fs.readFileSync(file(`${name}.data`)).subarray(0, -10), () => stream.destroy(new Error('no more')));
  await closed;
  return stream.rowCount;
}

async function transaction() {
  await client.query('BEGIN');
  let rows = await statement('csv');
  await client.query('SAVEPOINT s');
  await statement('csv_bad').catch(() => client.query('ROLLBACK TO s'));
  rows += await statement('csv');
  await client.query('COMMIT');
  return rows;
}

// COPY of a file among commands of one message
async function several(name) {
  const results = await client.query(`INSERT INTO d VALUES (-1); ${sql(name)}; INSERT INTO d VALUES (-2)`);
  return results.map((r) => r.rowCount);
}

async function main() {
  await client.connect();
  console.log(['driver', `node-postgres ${require('pg/package.json').version}, pg-copy-streams ${require('pg-copy-streams/package.json').version}`, ''].join('\t'));
  for (const f of fs.readdirSync(directory).sort())
    if (f.endsWith('.sql')) await attempt(f.slice(0, -4), () => statement(f.slice(0, -4)));
  for (const format of ['text', 'csv', 'binary'])
    await attempt(`${format}: the client gives up`, () => givesUp(format));
  await attempt('in a transaction', transaction);
  await attempt('several commands', () => several('file'));
  await attempt('several commands, bad', () => several('file_bad'));
  await client.end();
}

main();
