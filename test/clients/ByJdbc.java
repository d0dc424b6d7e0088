// What JDBC is told for each statement in a directory; see clients.pl.

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Collectors;
import org.postgresql.copy.CopyIn;
import org.postgresql.copy.CopyManager;
import org.postgresql.copy.PGCopyOutputStream;
import org.postgresql.core.BaseConnection;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

public class ByJdbc {
    interface Action { long rows() throws SQLException, IOException; }

    static Connection db;
    static CopyManager copies;
    static Path directory;

    public static void main(String[] args) throws Exception {
        db = DriverManager.getConnection(System.getenv("JDBC_DATABASE_URL"));
        copies = new CopyManager((BaseConnection) db);
        directory = Path.of(args[0]);
        System.out.println("driver\tJDBC " + db.getMetaData().getDriverVersion() + "\t");
        for (String name : statements())
            attempt(name, () -> statement(name));
        for (String format : List.of("text", "csv", "binary")) {
            attempt(format + ": the client gives up", () -> givesUp(format));
        }
        attempt("writeToCopy", () -> byParts("csv"));
        attempt("PGCopyOutputStream", () -> byStream("binary"));
        attempt("in a transaction", ByJdbc::inTransaction);
        attempt("batch", () -> batch("file"));
        attempt("batch, bad", () -> batch("file_bad"));
    }

    static List<String> statements() throws IOException {
        try (var files = Files.list(directory)) {
            return files.map(p -> p.getFileName().toString()).filter(n -> n.endsWith(".sql"))
                .map(n -> n.replace(".sql", "")).sorted().collect(Collectors.toList());
        }
    }

    static String sql(String name) throws IOException {
        return Files.readString(directory.resolve(name + ".sql"));
    }

    static byte[] data(String name) throws IOException {
        return Files.readAllBytes(directory.resolve(name + ".data"));
    }

    static void attempt(String what, Action action) throws Exception {
        String said;
        try {
            said = "COPY " + action.rows();
        } catch (SQLException | IOException e) {
            said = e.getClass().getSimpleName() + " " + told(e);
        }
        try (Statement s = db.createStatement(); ResultSet r = s.executeQuery("SELECT taken()")) {
            r.next();
            System.out.println(what + "\t" + said.replace("\n", "\\n") + "\t" + r.getString(1));
        }
    }

    static String told(Exception e) {
        ServerErrorMessage m = null;
        for (Throwable t = e; t != null && m == null; t = t.getCause())
            m = t instanceof PSQLException ? ((PSQLException) t).getServerErrorMessage() : null;
        return m == null ? e.getMessage()
            : String.join("|", m.getSQLState(), m.getMessage(), m.getDetail(), m.getWhere());
    }

    static long statement(String name) throws SQLException, IOException {
        if (!Files.exists(directory.resolve(name + ".data"))) {
            try (var s = db.prepareStatement(sql(name))) {
                return s.executeUpdate();
            }
        }
        try (InputStream in = Files.newInputStream(directory.resolve(name + ".data"))) {
            return copies.copyIn(sql(name), in);
        }
    }

    static long givesUp(String name) throws SQLException, IOException {
        CopyIn copy = copies.copyIn(sql(name));
        byte[] data = data(name);
        copy.writeToCopy(data, 0, data.length - 10);
        copy.cancelCopy();
        return copy.getHandledRowCount();
    }

    static long byParts(String name) throws SQLException, IOException {
        CopyIn copy = copies.copyIn(sql(name));
        byte[] data = data(name);
        for (int at = 0; at < data.length; at += 997) {
            copy.writeToCopy(data, at, Math.min(997, data.length - at));
            if (at % 9970 == 0)
                copy.flushCopy();
        }
        return copy.endCopy();
    }

    static long byStream(String name) throws SQLException, IOException {
        var out = new PGCopyOutputStream((org.postgresql.PGConnection) db, sql(name));
        out.write(data(name));
        return out.endCopy();
    }

    static long inTransaction() throws SQLException, IOException {
        db.setAutoCommit(false);
        try (Statement s = db.createStatement()) {
            long rows = statement("csv");
            Savepoint before = db.setSavepoint();
            try {
                statement("csv_bad");
            } catch (SQLException e) {
                db.rollback(before);
            }
            rows += statement("csv");
            db.commit();
            return rows;
        } finally {
            db.setAutoCommit(true);
        }
    }

    // COPY of a file among commands that are sent at once
    static long batch(String name) throws SQLException, IOException {
        try (Statement s = db.createStatement()) {
            s.addBatch("INSERT INTO d VALUES (-1)");
            s.addBatch(sql(name));
            s.addBatch("INSERT INTO d VALUES (-2)");
            long rows = 0;
            for (int n : s.executeBatch())
                rows = rows * 10000 + n;
            return rows;
        }
    }
}
