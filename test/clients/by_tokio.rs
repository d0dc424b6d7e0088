// What tokio-postgres is told for each statement in a directory; see
// clients.pl.  It sends COPY by the extended protocol.

use bytes::Bytes;
use futures_util::{pin_mut, SinkExt};
use std::path::{Path, PathBuf};
use std::{env, fs};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error, NoTls};

fn said(result: Result<u64, Error>) -> String {
    match result {
        Ok(rows) => format!("COPY {}", rows),
        Err(e) => match e.as_db_error() {
            Some(d) => format!("{}|{}|{:?}|{:?}", d.code().code(), d.message(), d.detail(), d.where_()),
            None => e.to_string(),
        },
    }
}

async fn told(client: &Client, what: &str, result: Result<u64, Error>) {
    let row = client.query_one("SELECT taken()", &[]).await.unwrap();
    println!("{}\t{}\t{}", what, said(result).replace('\n', "\\n"), row.get::<_, String>(0));
}

fn sql(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

async fn statement(client: &Client, path: &Path) -> Result<u64, Error> {
    let data = path.with_extension("data");
    if !data.exists() {
        return client.execute(sql(path).as_str(), &[]).await;
    }
    let sink = client.copy_in(sql(path).as_str()).await?;
    pin_mut!(sink);
    for block in fs::read(data).unwrap().chunks(10000) {
        sink.send(Bytes::copy_from_slice(block)).await?;
    }
    sink.finish().await
}

// The driver sends CopyFail for a sink that is dropped.
async fn gives_up(client: &Client, path: &Path) -> Result<u64, Error> {
    let sink = client.copy_in(sql(path).as_str()).await?;
    pin_mut!(sink);
    let data = fs::read(path.with_extension("data")).unwrap();
    sink.send(Bytes::copy_from_slice(&data[..data.len() - 10])).await?;
    Ok(0)
}

async fn records(client: &Client, rows: i32, finish: bool) -> Result<u64, Error> {
    let sink = client.copy_in("COPY d FROM STDIN (FORMAT binary)").await?;
    let writer = BinaryCopyInWriter::new(sink, &[Type::INT4, Type::TEXT, Type::FLOAT8]);
    pin_mut!(writer);
    for n in 0..rows {
        let v = (n % 5 != 0).then(|| format!("row\t{} {}", n, "x".repeat(1200)));
        writer.as_mut().write(&[&n, &v, &(n as f64 / 8.0)]).await?;
    }
    if finish { writer.finish().await } else { Ok(0) }
}

async fn in_transaction(client: &mut Client, directory: &Path) -> Result<u64, Error> {
    client.batch_execute("BEGIN").await?;
    let mut rows = statement(client, &directory.join("csv.sql")).await?;
    client.batch_execute("SAVEPOINT s").await?;
    if statement(client, &directory.join("csv_bad.sql")).await.is_err() {
        client.batch_execute("ROLLBACK TO s").await?;
    }
    rows += statement(client, &directory.join("csv.sql")).await?;
    client.batch_execute("COMMIT").await?;
    Ok(rows)
}

// Commands that are sent without waiting for one another
async fn pipeline(client: &Client, path: &Path) -> Result<u64, Error> {
    let text = sql(path);
    let (first, copy, last) = tokio::join!(
        client.execute("INSERT INTO d VALUES (-1)", &[]),
        client.execute(text.as_str(), &[]),
        client.execute("INSERT INTO d VALUES (-2)", &[])
    );
    first?;
    last?;
    copy
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = env::args().collect();
    let directory = PathBuf::from(&args[1]);
    let (mut client, connection) = tokio_postgres::connect(&env::var("DATABASE_URL").unwrap(), NoTls).await.unwrap();
    tokio::spawn(connection);
    println!("driver\ttokio-postgres\t");
    let mut paths: Vec<PathBuf> = fs::read_dir(&directory).unwrap().map(|f| f.unwrap().path()).collect();
    // after a COPY that does not begin, this driver's connection is of no use:
    // the server answers each of the two Syncs that it sends
    paths.retain(|p| p.extension().unwrap() == "sql" && !p.file_stem().unwrap().to_str().unwrap().starts_with("no_"));
    paths.sort();
    for path in &paths {
        let result = statement(&client, path).await;
        told(&client, path.file_stem().unwrap().to_str().unwrap(), result).await;
    }
    for format in ["text", "csv", "binary"] {
        let result = gives_up(&client, &directory.join(format!("{}.sql", format))).await;
        told(&client, &format!("{}: the client gives up", format), result).await;
    }
    let rows = args[2].parse().unwrap();
    told(&client, "BinaryCopyInWriter", records(&client, rows, true).await).await;
    told(&client, "BinaryCopyInWriter, given up", records(&client, rows, false).await).await;
    let result = in_transaction(&mut client, &directory).await;
    told(&client, "in a transaction", result).await;
    told(&client, "pipeline", pipeline(&client, &directory.join("file.sql")).await).await;
    told(&client, "pipeline, bad", pipeline(&client, &directory.join("file_bad.sql")).await).await;
}
