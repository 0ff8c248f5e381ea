package winops.tests;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A catalog of small tables in files, which MERGE rewrites as a whole. An Auto CDC flow needs a
 * table with row-level operations that outlives its session, and Spark has none of its own.
 *
 * <p>The option {@code path} is the folder of the tables. A table is a folder with its schema as
 * JSON, its properties, and its rows in Spark's own format. Each session that has the catalog sees
 * the same tables. One query writes to a table at a time.
 */
public final class FileCatalog implements TableCatalog {
  private String name;
  private Path root;

  @Override
  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
    this.root = Paths.get(options.get("path"));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Identifier[] listTables(String[] namespace) {
    Path folder = root.resolve(String.join("/", namespace));
    if (!Files.isDirectory(folder)) {
      return new Identifier[0];
    }
    try (Stream<Path> tables = Files.list(folder)) {
      return tables
          .map(table -> Identifier.of(namespace, table.getFileName().toString()))
          .toArray(Identifier[]::new);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public boolean tableExists(Identifier ident) {
    return Files.isRegularFile(folderOf(ident).resolve(FileTable.SCHEMA));
  }

  @Override
  public Table loadTable(Identifier ident) throws NoSuchTableException {
    if (!tableExists(ident)) {
      throw new NoSuchTableException(ident);
    }
    return new FileTable(name + "." + ident, folderOf(ident));
  }

  @Override
  public Table createTable(Identifier ident, TableInfo info) throws TableAlreadyExistsException {
    if (tableExists(ident)) {
      throw new TableAlreadyExistsException(ident);
    }
    if (info.partitions().length > 0) {
      throw new UnsupportedOperationException("tables of this catalog have no partitions");
    }
    FileTable table = new FileTable(name + "." + ident, folderOf(ident));
    try {
      Files.createDirectories(folderOf(ident));
      table.writeRows(new ArrayList<>());
      table.writeProperties(info.properties());
      // The schema is written last, because the table exists from then on.
      table.write(FileTable.SCHEMA, info.schema().json().getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return table;
  }

  @Override
  public Table alterTable(Identifier ident, TableChange... changes) throws NoSuchTableException {
    FileTable table = (FileTable) loadTable(ident);
    Map<String, String> properties = new HashMap<>(table.properties());
    for (TableChange change : changes) {
      if (change instanceof TableChange.SetProperty) {
        TableChange.SetProperty set = (TableChange.SetProperty) change;
        properties.put(set.property(), set.value());
      } else if (change instanceof TableChange.RemoveProperty) {
        properties.remove(((TableChange.RemoveProperty) change).property());
      } else {
        throw new UnsupportedOperationException("columns of this catalog's tables stay: " + change);
      }
    }
    try {
      table.writeProperties(properties);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return table;
  }

  @Override
  public boolean dropTable(Identifier ident) {
    boolean exists = tableExists(ident);
    if (exists) {
      try (Stream<Path> files = Files.walk(folderOf(ident))) {
        files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return exists;
  }

  @Override
  public void renameTable(Identifier from, Identifier to) {
    throw new UnsupportedOperationException("tables of this catalog keep their names");
  }

  private Path folderOf(Identifier ident) {
    return root.resolve(String.join("/", ident.namespace())).resolve(ident.name());
  }

  /** A table, whose rows are read as one partition and replaced or extended as a whole. */
  private static final class FileTable
      implements Table, SupportsRead, SupportsWrite, SupportsRowLevelOperations {
    static final String SCHEMA = "schema.json";
    private static final String PROPERTIES = "properties";
    private static final String ROWS = "rows";

    private final String name;
    private final Path folder;

    FileTable(String name, Path folder) {
      this.name = name;
      this.folder = folder;
    }

    @Override
    public String name() {
      return name;
    }

    @Override
    @SuppressWarnings("deprecation")
    public StructType schema() {
      String json = new String(read(SCHEMA), StandardCharsets.UTF_8);
      return (StructType) DataType.fromJson(json);
    }

    @Override
    public Map<String, String> properties() {
      Properties stored = new Properties();
      try {
        stored.load(new StringReader(new String(read(PROPERTIES), StandardCharsets.UTF_8)));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Map<String, String> properties = new HashMap<>();
      stored.stringPropertyNames().forEach(key -> properties.put(key, stored.getProperty(key)));
      return properties;
    }

    @Override
    public Set<TableCapability> capabilities() {
      return EnumSet.of(TableCapability.BATCH_READ, TableCapability.BATCH_WRITE);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new WholeScan(schema(), readRows());
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
      return new TableWrite(this, false);
    }

    @Override
    public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
      return () -> new Rewrite(this, info.command());
    }

    List<byte[]> readRows() {
      List<byte[]> rows = new ArrayList<>();
      try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(read(ROWS)))) {
        for (int left = in.readInt(); left > 0; left--) {
          byte[] row = new byte[in.readInt()];
          in.readFully(row);
          rows.add(row);
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return rows;
    }

    void writeRows(List<byte[]> rows) throws IOException {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      out.writeInt(rows.size());
      for (byte[] row : rows) {
        out.writeInt(row.length);
        out.write(row);
      }
      write(ROWS, bytes.toByteArray());
    }

    void writeProperties(Map<String, String> properties) throws IOException {
      Properties stored = new Properties();
      properties.forEach(stored::setProperty);
      StringWriter text = new StringWriter();
      stored.store(text, null);
      write(PROPERTIES, text.toString().getBytes(StandardCharsets.UTF_8));
    }

    void write(String file, byte[] bytes) throws IOException {
      Path part = folder.resolve(file + ".part");
      Files.write(part, bytes);
      Files.move(
          part,
          folder.resolve(file),
          StandardCopyOption.ATOMIC_MOVE,
          StandardCopyOption.REPLACE_EXISTING);
    }

    private byte[] read(String file) {
      try {
        return Files.readAllBytes(folder.resolve(file));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Replaces all rows, of which Spark gives those that stay as they are, too. */
  private static final class Rewrite implements RowLevelOperation {
    private final FileTable table;
    private final Command command;

    Rewrite(FileTable table, Command command) {
      this.table = table;
      this.command = command;
    }

    @Override
    public Command command() {
      return command;
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return table.newScanBuilder(options);
    }

    @Override
    public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
      return new TableWrite(table, true);
    }
  }

  /** Reads all rows, as bytes that the partition carries. */
  private static final class WholeScan implements Scan, Batch {
    private final StructType schema;
    private final List<byte[]> rows;

    WholeScan(StructType schema, List<byte[]> rows) {
      this.schema = schema;
      this.rows = rows;
    }

    @Override
    public StructType readSchema() {
      return schema;
    }

    @Override
    public Batch toBatch() {
      return this;
    }

    @Override
    public InputPartition[] planInputPartitions() {
      return new InputPartition[] {new Rows(schema.length(), new ArrayList<>(rows))};
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return new ReaderFactory();
    }
  }

  private static final class Rows implements InputPartition, WriterCommitMessage {
    private static final long serialVersionUID = 1L;
    private final int columns;
    private final ArrayList<byte[]> rows;

    Rows(int columns, ArrayList<byte[]> rows) {
      this.columns = columns;
      this.rows = rows;
    }
  }

  private static final class ReaderFactory implements PartitionReaderFactory {
    private static final long serialVersionUID = 1L;

    @Override
    public PartitionReader<InternalRow> createReader(InputPartition partition) {
      Rows all = (Rows) partition;
      return new PartitionReader<InternalRow>() {
        private int next = 0;

        @Override
        public boolean next() {
          next += 1;
          return next <= all.rows.size();
        }

        @Override
        public InternalRow get() {
          byte[] bytes = all.rows.get(next - 1);
          UnsafeRow row = new UnsafeRow(all.columns);
          row.pointTo(bytes, bytes.length);
          return row;
        }

        @Override
        public void close() {}
      };
    }
  }

  /** Adds rows to a table, or replaces all of them, when all tasks have committed. */
  private static final class TableWrite implements WriteBuilder, Write, BatchWrite {
    private final FileTable table;
    private final boolean replaces;

    TableWrite(FileTable table, boolean replaces) {
      this.table = table;
      this.replaces = replaces;
    }

    @Override
    public Write build() {
      return this;
    }

    @Override
    public String description() {
      return "rows of " + table.name();
    }

    @Override
    public BatchWrite toBatch() {
      return this;
    }

    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
      return new WriterFactory(table.schema());
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
      List<byte[]> rows = replaces ? new ArrayList<>() : table.readRows();
      for (WriterCommitMessage message : messages) {
        rows.addAll(((Rows) message).rows);
      }
      try {
        table.writeRows(rows);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void abort(WriterCommitMessage[] messages) {}
  }

  private static final class WriterFactory implements DataWriterFactory, Serializable {
    private static final long serialVersionUID = 1L;
    private final StructType schema;

    WriterFactory(StructType schema) {
      this.schema = schema;
    }

    @Override
    public DataWriter<InternalRow> createWriter(int partition, long task) {
      UnsafeProjection projection = UnsafeProjection.create(schema);
      ArrayList<byte[]> rows = new ArrayList<>();
      return new DataWriter<InternalRow>() {
        @Override
        public void write(InternalRow row) {
          rows.add(projection.apply(row).copy().getBytes());
        }

        @Override
        public WriterCommitMessage commit() {
          return new Rows(schema.length(), rows);
        }

        @Override
        public void abort() {}

        @Override
        public void close() {}
      };
    }
  }
}
