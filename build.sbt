// One JAR for each minor version of Spark, which a line of spark-versions.json describes. `./sbt`
// builds the default version, `./sbt -Dspark=4.2` another one. `-Dspark.patch=4.1.0` compiles and
// tests with a patch release, in folders of its own.
val sparkVersions = file("spark-versions.json")
val minorRelease = SparkRelease.chosen(sparkVersions, sys.props.get("spark"))
val release = sys.props.get("spark.patch").fold(minorRelease)(minorRelease.withPatch)
val sparkVersion = release.spark
val sparkMinor = release.minor
val scalaFull = release.scala
val scalaBinary = "2.13"
val parserCombinatorsVersion = "2.4.0"
val scalatestVersion = "3.2.19"

// Engines that the benchmarks compare with winops. This is the newest Flink whose planner is on
// Maven; Parquet and Hadoop are those of Spark.
val flinkVersion = "1.20.3"
val esperVersion = "9.0.0"
val parquetVersion = "1.16.0"
val hadoopVersion = "3.4.2"
val slf4jVersion = "2.0.17"

// The broker of fault injection and of the tests with Kafka, in the version of Spark's client.
val kafkaVersion = "3.9.1"
// Not every registry has the later releases, of which Spark calls the same methods.
val kafkaTokensVersion = "4.0.0"
val commonsPoolVersion = "2.12.1"

ThisBuild / organization := "io.github.winops"
ThisBuild / version := IO.read(file("VERSION")).trim
ThisBuild / scalaVersion := scalaFull
ThisBuild / licenses := Seq(License.Apache2)
ThisBuild / scalacOptions ++= Seq(
  "-Xlint",
  "-Werror",
  "-deprecation",
  "-feature",
  "-unchecked",
  "-encoding",
  "utf8",
  "-release",
  "17")

Publishing.buildSettings

// The list of Spark: org.apache.spark.launcher.JavaModuleOptions.
val sparkJavaOptions = "-XX:+IgnoreUnrecognizedVMOptions" +:
  "--add-modules=jdk.incubator.vector" +:
  "--enable-native-access=ALL-UNNAMED" +:
  "-Djdk.reflect.useDirectMethodHandle=false" +:
  "-Dio.netty.tryReflectionSetAccessible=true" +:
  "-Dio.netty.allocator.type=pooled" +:
  "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE" +:
  Seq(
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5").map(p => s"--add-opens=$p=ALL-UNNAMED")

// Only `make sbom` reads these settings.
Global / excludeLintKeys ++= Set(bomFileName, includeBomSerialNumber, includeBomTimestamp)

val jarDir = settingKey[File]("The folder of JARs that Python and the tests use")
val jarFile = taskKey[File]("Writes the classes of this project and of core into one JAR")

ThisBuild / jarDir := (ThisBuild / baseDirectory).value / "target" / "jars"

// Properties of sbt, such as `SBT_OPTS="-Dseed=7 -Dbits=200" ./sbt test`:
//
//   seed      the seed of property tests; the same seed repeats a run
//   spill     the rows that a task keeps in memory. Spark reads each spilled file through 1 MB,
//             so suites with thousands of rows in a group need 2000 or more.
//   giant     the rows of the group in GiantGroupSuite
//   bits      the runs of SameBitsSuite
//   over      the runs of OverPropertySuite and AddedFunctionsSuite; all queries of SparkQueriesSuite
//   restarts  the runs of RandomRestartsSuite
//   changes   the runs of ChangedQueriesSuite, ChangedFunctionsSuite, CarriedRowsSuite and
//             HistoryRestartsSuite
//   history   the runs of HistoryPropertySuite and HistoryFailureSuite
//   realtime  the runs of RealTimeRandomSuite
//   queries   the folder `sql-tests/inputs` of Spark's sources, for AsOfQueriesSuite
//   longer    "only" runs the tests with the tag Longer and no others, "too" runs them and the
//             others; they are left out otherwise, unless a number of runs is given
//   fuzz      the heap of `make fuzz`, which also uses all compilers of the JVM
val seed = sys.props.getOrElse("seed", "2026")
val spilling = sys.props
  .get("spill")
  .map(rows => s"-Dspark.shuffle.spill.numElementsForceSpillThreshold=$rows")
val sizesOfSuites =
  Seq("giant", "bits", "over", "restarts", "changes", "history", "realtime", "queries").flatMap(
    name => sys.props.get(name).map(size => s"-D$name=$size"))
val longerTests =
  if (sys.props.get("longer").contains("only")) Seq("-n", "winops.testing.Longer")
  else if (sys.props.get("longer").contains("too") || sizesOfSuites.nonEmpty) Nil
  else Seq("-l", "winops.testing.Longer")
val fuzzed =
  sys.props.get("fuzz").toSeq.flatMap(heap => Seq(s"-Xmx$heap", "-XX:TieredStopAtLevel=4"))

// The builds for two versions of Spark have separate folders.
val perRelease = target := baseDirectory.value / "target" / release.folder

val common = Seq(
  perRelease,
  libraryDependencies ++= Seq(
    "org.scalatest" %% "scalatest" % scalatestVersion % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % s"$scalatestVersion.0" % Test),
  Test / fork := true,
  Test / parallelExecution := false,
  // Suites read tests/data from this folder, and Spark's test logging writes into its target.
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / javaOptions ++= "-Xss4m" +: fuzzed,
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDF"),
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, longerTests: _*),
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-S", seed))

// A suite with Spark leaves a core idle most of the time.
val testJvms = 2
Global / concurrentRestrictions := Seq(
  Tags.limitAll(java.lang.Runtime.getRuntime.availableProcessors),
  Tags.limit(Tags.ForkedTestGroup, testJvms),
  Tags.exclusiveGroup(Tags.Clean))

def sparkJarOf(minor: String, version: String) = s"winops_${minor}_$scalaBinary-$version.jar"
def faultsJarOf(minor: String) = s"winops-faults_$minor.jar"
def filesJarOf(minor: String) = s"winops-test-files_$minor.jar"

val sparkJar = Def.setting(sparkJarOf(sparkMinor, version.value))
val peersJar = "winops-peers-spark.jar"
val faultsJar = Def.setting(faultsJarOf(sparkMinor))
val filesJar = Def.setting(filesJarOf(sparkMinor))

lazy val root = (project in file("."))
  .aggregate(core, spark)
  .settings(
    name := "winops",
    publish / skip := true,
    // Python and the tests find the JAR of a version by its name.
    cleanStaleJars := {
      val winops = version.value
      val current = SparkRelease.all(sparkVersions).map(_.minor).toSet.flatMap { minor: String =>
        Set(sparkJarOf(minor, winops), faultsJarOf(minor), filesJarOf(minor)) + peersJar
      }
      IO.delete((jarDir.value * "*.jar").get().filterNot(jar => current(jar.getName)))
    },
    lakehouse := {
      val file = baseDirectory.value / "target" / "compatibility" / "lakehouse.classpath"
      Jars.writeClasspath(Jars.find.value(tableFormats), file)
    },
    kafka := {
      val find = Jars.find.value
      val folder = baseDirectory.value / "target" / "faults"
      Jars.writeClasspath(find(kafkaOfSpark), folder / "kafka.classpath")
      Jars.writeClasspath(find(kafkaBroker), folder / "broker.classpath")
    })

lazy val cleanStaleJars = taskKey[Unit]("Removes the JARs of other versions of winops")
lazy val lakehouse = taskKey[Unit]("Writes the class path of Delta Lake and Iceberg")
lazy val kafka = taskKey[Unit]("Writes the class paths of Kafka in Spark and of a broker")

// Table formats whose session extensions replace Spark's parser, without the modules of Spark.
val tableFormats = {
  val delta = release.delta.toSeq.flatMap { version =>
    val others = Seq("storage", "kernel-api", "kernel-defaults", "kernel-unitycatalog")
    (s"spark_${sparkMinor}_$scalaBinary" +: others)
      .map(name => "io.delta" % s"delta-$name" % version)
  }
  val iceberg = release.iceberg.map { version =>
    "org.apache.iceberg" % s"iceberg-spark-runtime-${sparkMinor}_$scalaBinary" % version
  }
  (delta ++ iceberg).map(_.intransitive)
}

// Spark brings the other libraries, in its own releases.
val kafkaOfSpark = Seq(
  "org.apache.spark" %% "spark-sql-kafka-0-10" % sparkVersion,
  "org.apache.spark" %% "spark-token-provider-kafka-0-10" % kafkaTokensVersion,
  "org.apache.kafka" % "kafka-clients" % kafkaVersion,
  "org.apache.commons" % "commons-pool2" % commonsPoolVersion).map(_.intransitive)

val kafkaBroker =
  Seq("org.apache.kafka" %% "kafka" % kafkaVersion, "org.slf4j" % "slf4j-nop" % slf4jVersion)

// The sources for all versions of Spark are formatted, also those that the chosen one does not compile.
def formatAllReleases(config: Configuration) = {
  val folders = Def.setting(SparkRelease.sourceFolders((config / sourceDirectory).value))
  Seq(
    config / scalafmt / unmanagedSourceDirectories :=
      ((config / unmanagedSourceDirectories).value ++ folders.value).distinct,
    config / scalafmt / unmanagedSources :=
      ((config / unmanagedSources).value ++ (folders.value ** "*.scala").get()).distinct)
}

// Spark from Maven, or from PySpark if Maven does not have the version.
val ofRelease = Seq(
  libraryDependencies ++= release.maven.toSeq.flatMap { _ =>
    Seq("spark-sql", "spark-catalyst", "spark-core")
      .map(module => "org.apache.spark" %% module % sparkVersion % Provided)
  },
  Compile / unmanagedJars ++= {
    val environment = (ThisBuild / baseDirectory).value / "target" / "releases" / sparkVersion
    if (release.maven.isEmpty) {
      val jars = (environment / "lib" ** "pyspark" / "jars" * "*.jar").get()
      if (jars.isEmpty)
        sys.error(s"No JARs of pyspark below $environment. Run `make jars`.")
      Attributed.blankSeq(jars.filterNot(_.getName.startsWith("scala-library")))
    } else Nil
  })

lazy val core = (project in file("jvm/core"))
  .settings(common)
  .settings(
    name := "winops-core",
    libraryDependencies +=
      "org.scala-lang.modules" %% "scala-parser-combinators" % parserCombinatorsVersion % Provided)

lazy val spark = (project in file("jvm/spark"))
  .dependsOn(core % "compile->compile;provided->provided;test->test")
  .settings(common)
  .settings(
    // The JAR also has the classes of core.
    Compile / packageBin / mappings ++= (core / Compile / packageBin / mappings).value,
    Compile / packageBin / artifactPath := jarDir.value / sparkJar.value,
    // The Python package of a checkout finds its JAR in the same folder as that of a wheel.
    jarFile := {
      val jar = (Compile / packageBin).value
      val folder = (ThisBuild / baseDirectory).value / "python" / "winops" / "jars"
      IO.delete((folder * s"winops_${sparkMinor}_*.jar").get())
      IO.copyFile(jar, folder / jar.getName)
      jar
    },
    // The bill of materials lists Spark and its dependencies, none of which is in the JAR. Spark
    // is not listed if it comes from PySpark, because it then has no coordinates. Without the
    // serial number and the time, the same JAR has the same bill.
    makeBom := Def
      .taskDyn(
        com.github.sbt.sbom.BomSbtSettings.makeBomTask(Classpaths.updateTask.value, Provided))
      .value,
    bomFileName := s"${sparkJar.value}.cdx.json",
    bomSchemaVersion := "1.6",
    includeBomSerialNumber := false,
    includeBomTimestamp := false)
  .settings(Publishing.settings(sparkMinor, core))
  .settings(
    ofRelease,
    // The classes that refuse another version of Spark load on Java 8, the oldest one of Spark 3.
    javacOptions ++= Seq("--release", "8", "-Xlint:all,-options,-path,-classfile", "-Werror"),
    Compile / unmanagedSourceDirectories ++= release.sourceFolders(
      (Compile / sourceDirectory).value),
    formatAllReleases(Compile),
    formatAllReleases(Test),
    Test / unmanagedSourceDirectories ++= release.sourceFolders((Test / sourceDirectory).value),
    // A dependency on the project would be in the POM.
    Test / unmanagedSourceDirectories ++= (testFiles / Compile / unmanagedSourceDirectories).value,
    libraryDependencies ++= release.maven.toSeq.flatMap { _ =>
      Seq("spark-sql", "spark-catalyst", "spark-core").map { module =>
        "org.apache.spark" %% module % sparkVersion % Test classifier "tests"
      }
    },
    Test / javacOptions := Seq("--release", "17", "-Xlint:all,-path,-classfile", "-Werror"),
    // The code of the page and the examples of Scaladoc.
    Test / sourceGenerators += Def.task {
      Examples.write(
        (ThisBuild / baseDirectory).value / "docs" / "scala.md",
        ((Compile / scalaSource).value / "winops" * "*.scala").get(),
        (Test / sourceManaged).value)
    }.taskValue,
    // Spark's own test classes are on Maven only. Suites in the folders of versions do without
    // them.
    Test / sources := {
      val ofVersions = release.sourceFolders((Test / sourceDirectory).value) ++
        release.sourceFolders((testFiles / Compile / sourceDirectory).value)
      val all = (Test / sources).value
      if (release.maven.nonEmpty) all
      else all.filter(file => ofVersions.exists(folder => IO.relativize(folder, file).nonEmpty))
    },
    Test / javaOptions ++= Seq(
      "-Xmx3g",
      // A test runs most of its code once, so that optimizing costs more than it saves.
      "-XX:TieredStopAtLevel=1",
      // The default code cache of this level is full after a minute, and compiling then stops.
      "-XX:ReservedCodeCacheSize=240m",
      // Most suites generate the same code, which Spark compiles again if its cache is too small.
      "-Dspark.sql.codegen.cache.maxEntries=2000",
      "-Dspark.ui.enabled=false") ++ spilling ++ sizesOfSuites ++ fuzzed ++ sparkJavaOptions,
    Test / javaOptions ++= {
      val find = Jars.find.value
      otherSparks.map { case (name, version) =>
        val jars = find(sparkModules(version)).mkString(java.io.File.pathSeparator)
        s"-Dwinops.spark.$name=$jars"
      }
    },
    // Groups of suites run in parallel, each in a JVM that runs its suites one after the other.
    Test / parallelExecution := true,
    Test / testGrouping := {
      val options = (Test / forkOptions).value
      val folder = target.value
      val suites = (Test / definedTests).value.sortBy(_.name).zipWithIndex
      suites.groupBy(_._2 % testJvms).toSeq.sortBy(_._1).map { case (jvm, all) =>
        val warehouse = s"-Dspark.sql.warehouse.dir=${folder / s"spark-warehouse-$jvm"}"
        val own = options.withRunJVMOptions(options.runJVMOptions :+ warehouse)
        Tests.Group(s"spark-$jvm", all.map(_._1), Tests.SubProcess(own))
      }
    },
    Compile / resourceGenerators += Def.task {
      val file = (Compile / resourceManaged).value / "winops" / "build.properties"
      val text =
        s"""version=${version.value}
           |spark.version=$sparkVersion
           |spark.minor=$sparkMinor
           |spark.supported=${SparkRelease.all(sparkVersions).map(_.minor).mkString(", ")}
           |scala.binary=$scalaBinary
           |""".stripMargin
      if (!file.exists || IO.read(file) != text) IO.write(file, text)
      Seq(file)
    }.taskValue)

// The releases of Spark that LinkageSuite links the classes with. "before" and "longBefore" are
// the newest ones on Maven that winops refuses; PyPI, which `make test-releases` uses, can be
// ahead. A version that Maven does not have is linked by compiling against it, and "beside"
// replaces its releases.
lazy val otherSparks = {
  val beside = SparkRelease
    .all(sparkVersions)
    .find(other => other.maven.nonEmpty && other.minor != release.minor)
    .flatMap(_.maven)
    .map { case (_, newest) => newest }
    .get
  val (oldest, newest) = release.maven.getOrElse(beside -> beside)
  Seq(
    "oldest" -> oldest,
    "newest" -> newest,
    "beside" -> beside,
    "before" -> "4.0.4",
    "longBefore" -> "3.5.8")
}

/** The modules of a release of Spark that winops calls. */
def sparkModules(version: String): Seq[ModuleID] = {
  val Array(major, minor) = version.split('.').take(2).map(_.toInt)
  val scala = if (major < 4) "2.12" else scalaBinary
  // Modules that were part of another one in earlier versions.
  val more = Seq("sql-api" -> (3, 5), "common-utils" -> (3, 5), "common-utils-java" -> (4, 1))
    .collect {
      case (name, (from, since)) if major > from || major == from && minor >= since => name
    }
  (Seq("sql", "catalyst", "core", "unsafe", "sketch") ++ more)
    .map(name => ("org.apache.spark" % s"spark-${name}_$scala" % version).intransitive)
}

// Outside of the aggregate of root, so that `test` does not compile it. The benchmarks use windows
// and rows of the tests.
lazy val jmh = (project in file("benchmarks/jmh"))
  .enablePlugins(JmhPlugin)
  .dependsOn(core % "provided,runtime->test", spark % "provided,runtime->test,provided")
  .settings(
    name := "winops-jmh",
    perRelease,
    publish / skip := true,
    Jmh / javaOptions ++= "-Xmx2g" +: sparkJavaOptions)

// The projects below are outside of the aggregate of root: `test` and `jars` do not need the
// engines of the benchmarks, nor the faults.

/** A project whose JAR, in the folder `jarDir`, is added to a session of the chosen Spark. */
def jarForSession(id: String, folder: String, jar: Def.Initialize[String]) =
  Project(id, file(folder)).settings(
    publish / skip := true,
    perRelease,
    ofRelease,
    Compile / unmanagedSourceDirectories ++= release.sourceFolders(
      (Compile / sourceDirectory).value),
    formatAllReleases(Compile),
    Compile / packageBin / artifactPath := jarDir.value / jar.value)

// A file system and a source for the sessions of tests.
lazy val testFiles = jarForSession("testFiles", "tests/support/files", filesJar)

// A file system with faults.
lazy val faultsFiles = jarForSession("faultsFiles", "tests/resilience/faults/files", faultsJar)

lazy val peersSpark =
  jarForSession("peersSpark", "benchmarks/peers/spark", Def.setting(peersJar))
    .settings(peersCommon)

// The sums that the engines have in common, which peersSpark and peersProcess compile.
val peersCommon = Compile / unmanagedSourceDirectories +=
  (ThisBuild / baseDirectory).value / "benchmarks" / "peers" / "common" / "src" / "main" / "scala"

/** A project of an engine that runs in a process of its own. */
def peer(id: String) = Project(s"peers${id.capitalize}", file(s"benchmarks/peers/$id"))
  .settings(
    publish / skip := true,
    peerClasspath := Jars.writeClasspath(
      (Runtime / fullClasspath).value.files,
      (ThisBuild / baseDirectory).value / "target" / "peers" / s"$id.classpath"))

lazy val peerClasspath = taskKey[Unit]("Writes the class path of the engine")

lazy val peersProcess = peer("process").settings(
  peersCommon,
  libraryDependencies ++= Seq(
    "org.apache.parquet" % "parquet-hadoop" % parquetVersion,
    "org.apache.hadoop" % "hadoop-client-api" % hadoopVersion,
    "org.apache.hadoop" % "hadoop-client-runtime" % hadoopVersion,
    "org.slf4j" % "slf4j-nop" % slf4jVersion))

lazy val peersFlink = peer("flink")
  .dependsOn(peersProcess)
  .settings(libraryDependencies ++= Seq(
    "flink-streaming-java",
    "flink-clients",
    "flink-statebackend-rocksdb",
    "flink-table-api-java-bridge",
    "flink-table-planner-loader",
    "flink-table-runtime")
    .map("org.apache.flink" % _ % flinkVersion))

lazy val peersEsper = peer("esper")
  .dependsOn(peersProcess)
  .settings(libraryDependencies ++= Seq("esper-common", "esper-compiler", "esper-runtime")
    .map("com.espertech" % _ % esperVersion))

// `scalafmtAll` of root runs in its aggregate only.
def inAllProjects(task: String) =
  (root.id +: Seq(jmh, testFiles, faultsFiles, peersSpark, peersProcess, peersFlink, peersEsper)
    .map(_.id)).map(id => s"$id/$task").mkString("; ")

addCommandAlias("format", s"${inAllProjects("scalafmtAll")}; scalafmtSbt")
addCommandAlias("checkFormat", s"${inAllProjects("scalafmtCheckAll")}; scalafmtSbtCheck")
addCommandAlias("jar", "cleanStaleJars; spark/jarFile")
addCommandAlias("jars", "cleanStaleJars; spark/jarFile; testFiles/packageBin")
addCommandAlias(
  "peers",
  "peersSpark/packageBin; peersFlink/peerClasspath; peersEsper/peerClasspath")
addCommandAlias("faults", "faultsFiles/packageBin")
