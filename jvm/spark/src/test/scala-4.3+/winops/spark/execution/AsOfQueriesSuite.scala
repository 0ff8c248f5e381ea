package winops.spark.execution

import java.nio.file.{Files, Path, Paths}
import java.time.Instant
import java.util.UUID

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.apache.commons.io.FileUtils
import org.scalatest.BeforeAndAfterAll
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{Encoder, Row, SparkSession}
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.encoders.ExpressionEncoder
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Literal}
import org.apache.spark.sql.catalyst.optimizer.InlineCTE
import org.apache.spark.sql.catalyst.plans.logical.{AsOfJoin, EventTimeWatermark, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.types.{StructField, StructType, TimestampType}
import org.apache.spark.sql.winops.testing.PlannedQuery
import org.apache.spark.unsafe.types.CalendarInterval

import winops.spark.internal.WinopsAnalysisException
import winops.testing.Longer

/** The queries of Spark's own tests of ASOF JOIN, over two streams. Maven has no test JAR of each
  * Spark, so `-Dqueries` names the folder `sql-tests/inputs` of Spark's sources.
  */
class AsOfQueriesSuite extends AnyFunSuite with BeforeAndAfterAll {
  import AsOfQueriesSuite._

  private val warehouse = Files.createTempDirectory("warehouse")

  private lazy val spark: classic.SparkSession = SparkSession
    .builder()
    .master("local[2]")
    .appName(getClass.getSimpleName)
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.datetime.java8API.enabled", "true")
    .config("spark.sql.warehouse.dir", warehouse.toString)
    .getOrCreate()
    .asInstanceOf[classic.SparkSession]

  override def afterAll(): Unit =
    try {
      spark.stop()
      FileUtils.deleteDirectory(warehouse.toFile)
    } finally super.afterAll()

  test("each query gives the rows of tables, or is refused by a condition of winops", Longer) {
    if (!sys.props.contains("queries")) cancel("-Dqueries names no folder with Spark's queries")
    val counts = files(Paths.get(sys.props("queries")))
      .flatMap(outcomesOf)
      .groupMapReduce(identity)(_ => 1)(_ + _)
    assert(counts == Expected)
  }

  private def files(folder: Path): Seq[Path] = {
    val listed = Files.list(folder)
    try
      listed.iterator.asScala.filter(_.getFileName.toString.startsWith("join-asof-")).toSeq.sorted
    finally listed.close()
  }

  /** The outcomes of the queries of a file, which has a session of its own. */
  private def outcomesOf(file: Path): Seq[Outcome] = {
    val session = spark.newSession()
    val lines = Files.readAllLines(file).asScala.toSeq
    lines.collect { case Setting(name, value) => session.conf.set(name, value) }
    val text = lines.map(_.replaceFirst("--.*", "")).mkString("\n")
    Statement.findAllIn(text).map(_.stripSuffix(";").trim).filter(_.nonEmpty).toSeq.flatMap {
      query =>
        SparkSession.setActiveSession(session)
        val outcome = withClue(s"${file.getFileName}: $query\n")(outcomeOf(session, query))
        outcome.foreach(found => info(s"$found: ${query.replaceAll("\\s+", " ")}"))
        outcome
    }
  }

  /** The outcome of a query; None if it is none with an as-of join. */
  private def outcomeOf(session: classic.SparkSession, query: String): Option[Outcome] =
    Try(session.sql(query)) match {
      case Failure(_) => Option.when(query.toUpperCase.contains("ASOF"))(FailsOnTables)
      case Success(rows) =>
        lowestJoin(PlannedQuery.planOf(rows)).map { join =>
          if (Try(rows.collect()).isFailure) FailsOnTables else compared(session, join)
        }
    }

  private def lowestJoin(plan: LogicalPlan): Option[AsOfJoin] = {
    val joins = InlineCTE(alwaysInline = true)(plan)
      .transformWithSubqueries {
        case view: View => view.child
        case named: SubqueryAlias => named.child
      }
      .collectWithSubqueries { case join: AsOfJoin => join }
    joins.find(!_.children.exists(_.exists(_.isInstanceOf[AsOfJoin])))
  }

  private def compared(session: classic.SparkSession, join: AsOfJoin): Outcome =
    Try(join.children.map(side => PlannedQuery.of(session, side).collect().toSeq)) match {
      case Failure(_) => IsCorrelated
      case Success(rows) =>
        val sides = join.children.zip(rows).map { case (side, all) => new Side(side, join, all) }
        val table = texts(
          PlannedQuery.of(session, join.withNewChildren(sides.map(_.table(session)))).collect())
        Try(streamed(session, join, sides)) match {
          case Failure(error) => refusalOf(error).getOrElse(fail(error))
          case Success(found) =>
            assert(found == table)
            Equal
        }
    }

  /** The rows of the join of two streams, with two micro-batches of rows. */
  private def streamed(
      session: classic.SparkSession,
      join: AsOfJoin,
      sides: Seq[Side]): Seq[String] = {
    val inputs = sides.zipWithIndex.map { case (side, id) =>
      implicit val encoder: Encoder[Row] = ExpressionEncoder(side.schema)
      new MemoryStream[Row](id, session)
    }
    val plans = sides.zip(inputs).map { case (side, input) =>
      side.stream(PlannedQuery.planOf(input.toDF().asInstanceOf[classic.DataFrame]))
    }
    val folder = Files.createTempDirectory("queries")
    val name = s"answers_${UUID.randomUUID().toString.replace('-', '_')}"
    val running = PlannedQuery
      .of(session, join.withNewChildren(plans))
      .writeStream
      .format("memory")
      .queryName(name)
      .option("checkpointLocation", folder.toString)
      .start()
    try {
      val times = sides.flatMap(_.times).sorted
      val middle = times.lift(times.size / 2)
      def isLater(side: Side, row: Row) =
        side.timeOf(row).exists(time => middle.exists(time.isAfter(_)))
      Seq(
        (side: Side) => side.rows.filterNot(isLater(side, _)),
        (side: Side) => side.rows.filter(isLater(side, _)),
        (side: Side) => Seq(side.last)).foreach { rowsOf =>
        sides.zip(inputs).foreach { case (side, input) => input.addData(rowsOf(side)) }
        running.processAllAvailable()
      }
      texts(session.table(name).collect())
    } finally {
      running.stop()
      FileUtils.deleteDirectory(folder.toFile)
    }
  }

  private def refusalOf(error: Throwable): Option[Outcome] =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).collectFirst {
      case refusal: WinopsAnalysisException =>
        val text = refusal.getMessage
        Refused(refusal.getCondition, Reasons.find(text.contains).getOrElse(text))
    }

  private def texts(rows: Array[Row]): Seq[String] = rows.map(_.toString).sorted.toSeq
}

private object AsOfQueriesSuite {
  sealed trait Outcome
  case object Equal extends Outcome
  final case class Refused(condition: String, reason: String) extends Outcome

  /** Spark refuses the query over tables, or fails. */
  case object FailsOnTables extends Outcome

  /** A side has columns of a query around the join. */
  case object IsCorrelated extends Outcome

  private implicit val byTime: Ordering[Instant] = Ordering.fromLessThan(_.isBefore(_))

  private val Last = Instant.parse("2999-01-01T00:00:00Z")

  private val Setting = "--SET (\\S+?)\\s*=\\s*(\\S+)".r

  /** A statement, or a script from BEGIN to END. */
  private val Statement = "(?s)\\s*BEGIN\\b.*?\\bEND;|.+?(;\\s*(?=\n)|$)".r

  private val NoWatermark = "has no watermark"
  private val NoTime = "expected: TIMESTAMP"
  private val NoColumns = "does not compare a column of each side"
  private val ComesLater = "may come later"
  private val NoEquality = "is no equality"
  private val Reasons = Seq(NoWatermark, NoTime, NoColumns, ComesLater, NoEquality)

  /** The number of queries of Spark 4.3 by their outcome. */
  private val Expected = Map[Outcome, Int](
    Equal -> 84,
    Refused("WINOPS_ASOF_JOIN", NoColumns) -> 25,
    Refused("WINOPS_TIME_TYPE", NoTime) -> 13,
    Refused("WINOPS_ASOF_JOIN", ComesLater) -> 5,
    Refused("WINOPS_ASOF_JOIN", NoEquality) -> 2,
    Refused("WINOPS_WATERMARK_REQUIRED", NoWatermark) -> 1,
    FailsOnTables -> 43,
    IsCorrelated -> 1)

  /** A side of a join as a table and as a stream.
    *
    * @param rows
    *   the rows; those with a time have its order
    */
  final class Side(plan: LogicalPlan, join: AsOfJoin, all: Seq[Row]) {
    private val time: Option[Attribute] = plan.output.find { column =>
      join.asOfCondition.references.contains(column) && column.dataType == TimestampType
    }
    private val ordinal = time.map(column => plan.output.indexWhere(_.exprId == column.exprId))

    val rows: Seq[Row] = all.sortBy(timeOf)

    val schema: StructType = StructType(plan.output.zipWithIndex.map { case (column, i) =>
      StructField(s"c$i", column.dataType, column.nullable)
    })

    def times: Seq[Instant] = rows.flatMap(timeOf)

    def timeOf(row: Row): Option[Instant] =
      ordinal.filter(!row.isNullAt(_)).map(row.getInstant)

    /** A row after which the watermark has passed all others, and which is emitted in no batch.
      */
    def last: Row = Row.fromSeq(plan.output.map { column =>
      if (time.exists(_.exprId == column.exprId)) Last
      else
        CatalystTypeConverters
          .convertToScala(Literal.default(column.dataType).value, column.dataType)
    })

    def table(session: SparkSession): LogicalPlan = {
      val local = session.createDataFrame(session.sparkContext.parallelize(rows, 1), schema)
      named(PlannedQuery.planOf(local.asInstanceOf[classic.DataFrame]))
    }

    def stream(source: LogicalPlan): LogicalPlan = {
      val below = named(source)
      time.fold(below) { column =>
        val own = below.output.find(_.exprId == column.exprId).get
        EventTimeWatermark(UUID.randomUUID(), own, new CalendarInterval(0, 0, 0L), below)
      }
    }

    private def named(source: LogicalPlan): LogicalPlan = Project(
      plan.output.zip(source.output).map { case (column, from) =>
        Alias(from, column.name)(exprId = column.exprId, qualifier = column.qualifier)
      },
      source)
  }
}
