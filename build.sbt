// One JAR per minor version of Spark, each described by a line of this file. `./sbt -Dspark=4.2`
// builds that for 4.2; what Spark brings along at run time goes with it. `-Dspark.patch=4.1.0` tests
// with a patch release in folders of its own.
val sparkVersions = file("spark-versions.json")
val minorRelease = SparkRelease.chosen(sparkVersions, sys.props.get("spark"))
val release = sys.props.get("spark.patch").fold(minorRelease)(minorRelease.withPatch)
val sparkVersion = release.spark
val sparkMinor = release.minor
val scalaFull = release.scala
val scalaBinary = "2.13"
val parserCombinatorsVersion = "2.4.0"
val jacksonVersion = "2.21.2"
val scalatestVersion = "3.2.19"

// Only what winops is compared with; parquet and hadoop are those that Spark brings.
// The newest release whose planner is on Maven.
val flinkVersion = "1.20.3"
val esperVersion = "9.0.0"
val parquetVersion = "1.16.0"
val hadoopVersion = "3.4.2"
val slf4jVersion = "2.0.17"

// Only the crash campaign's broker; that of Spark's own client.
val kafkaVersion = "3.9.1"
// Not every registry has its later releases; what Spark calls of it is the same.
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

// Spark's own list, org.apache.spark.launcher.JavaModuleOptions.
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

// What only `make sbom` reads.
Global / excludeLintKeys ++= Set(bomFileName, includeBomSerialNumber, includeBomTimestamp)

val jarDir = settingKey[File]("Where the JARs that are handed on lie")
val jarFile = taskKey[File]("Writes this project's classes and core's into one JAR")

ThisBuild / jarDir := (ThisBuild / baseDirectory).value / "target" / "jars"

// A run repeats the one before; `SBT_OPTS=-Dseed=7 ./sbt test` tries other cases.
val seed = sys.props.getOrElse("seed", "2026")

// `SBT_OPTS=-Dspill=20 ./sbt spark/test`: no more rows than these are kept in a task's memory.
// Spark reads each spilled file through 1 MB: suites with thousands of rows in a group need 2000 or more.
val spilling = sys.props
  .get("spill")
  .map(rows => s"-Dspark.shuffle.spill.numElementsForceSpillThreshold=$rows")

// `SBT_OPTS=-Dgiant=10000000 ./sbt "spark/testOnly *.GiantGroupSuite"`: a larger group.
val giant = sys.props.get("giant").map(rows => s"-Dgiant=$rows")

// `SBT_OPTS=-Dbits=200 ./sbt "spark/testOnly *.SameBitsSuite"`: more runs.
val bits = sys.props.get("bits").map(runs => s"-Dbits=$runs")

// `SBT_OPTS=-Dover=110 ./sbt "spark/testOnly *.OverPropertySuite"`: more runs.
val over = sys.props.get("over").map(runs => s"-Dover=$runs")

// `SBT_OPTS=-Drestarts=300 ./sbt "spark/testOnly *.RandomRestartsSuite"`: more runs.
val restarts = sys.props.get("restarts").map(runs => s"-Drestarts=$runs")

// `make fuzz`: so much heap as a text's reader may need, and all of the JVM's compilers.
val fuzzed =
  sys.props.get("fuzz").toSeq.flatMap(heap => Seq(s"-Xmx$heap", "-XX:TieredStopAtLevel=4"))

// What is built for one version of Spark does not replace what is built for another.
val perRelease = target := baseDirectory.value / "target" / release.folder

val common = Seq(
  perRelease,
  libraryDependencies ++= Seq(
    "org.scalatest" %% "scalatest" % scalatestVersion % Test,
    "org.scalatestplus" %% "scalacheck-1-18" % s"$scalatestVersion.0" % Test),
  Test / fork := true,
  Test / parallelExecution := false,
  // tests/data is reached from here, and target/ takes what Spark's test logging writes.
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / javaOptions ++= "-Xss4m" +: fuzzed,
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDF"),
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-S", seed))

// A suite of Spark's leaves a core idle most of the time.
val testJvms = 2
Global / concurrentRestrictions := Seq(
  Tags.limitAll(java.lang.Runtime.getRuntime.availableProcessors),
  Tags.limit(Tags.ForkedTestGroup, testJvms),
  Tags.exclusiveGroup(Tags.Clean))

def handedOn(name: Def.Initialize[String]) = Seq(
  Compile / packageBin / mappings ++= (core / Compile / packageBin / mappings).value,
  Compile / packageBin / artifactPath := jarDir.value / name.value,
  jarFile := (Compile / packageBin).value)

def sparkJarOf(minor: String, version: String) = s"winops_${minor}_$scalaBinary-$version.jar"
def conformanceJarOf(minor: String) = s"winops-conformance_$minor.jar"
def faultsJarOf(minor: String) = s"winops-faults_$minor.jar"
def filesJarOf(minor: String) = s"winops-test-files_$minor.jar"

val sparkJar = Def.setting(sparkJarOf(sparkMinor, version.value))
val conformanceJar = Def.setting(conformanceJarOf(sparkMinor))
val peersJar = "winops-peers-spark.jar"
val faultsJar = Def.setting(faultsJarOf(sparkMinor))
val filesJar = Def.setting(filesJarOf(sparkMinor))

lazy val root = (project in file("."))
  .aggregate(core, spark, conformance)
  .settings(
    name := "winops",
    publish / skip := true,
    // Whoever looks for the JAR must not find that of another version.
    cleanStaleJars := {
      val winops = version.value
      val current = SparkRelease.all(sparkVersions).map(_.minor).toSet.flatMap { minor: String =>
        Set(
          sparkJarOf(minor, winops),
          conformanceJarOf(minor),
          faultsJarOf(minor),
          filesJarOf(minor)) + peersJar
      }
      IO.delete((jarDir.value * "*.jar").get().filterNot(jar => current(jar.getName)))
    })

lazy val cleanStaleJars = taskKey[Unit]("Removes the JARs of other versions")

// Spark itself, from Maven; or from PySpark, which can be ahead of it.
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
  .settings(common, handedOn(sparkJar))
  .settings(
    // Spark and what it brings; nothing of it is in the JAR. Where Spark comes from PySpark, it has no
    // coordinates and is not listed. The same JAR has the same bill of materials.
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
    // The refusal of another version has to load on the oldest JVM of Spark 3.
    javacOptions ++= Seq("--release", "8", "-Xlint:all,-options,-path,-classfile", "-Werror"),
    Compile / unmanagedSourceDirectories ++= release.sourceFolders(
      (Compile / sourceDirectory).value),
    Test / unmanagedSourceDirectories ++= release.sourceFolders((Test / sourceDirectory).value),
    // Not a dependency, which the POM would list.
    Test / unmanagedSourceDirectories += (testFiles / Compile / scalaSource).value,
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
    // Spark's own test classes are on Maven only.
    Test / sources := { if (release.maven.isEmpty) Nil else (Test / sources).value },
    Test / javaOptions ++= Seq(
      "-Xmx3g",
      // Most of what a test does it does once: optimising it would cost more than it does.
      "-XX:TieredStopAtLevel=1",
      // What it then has for compiled code was full in a minute, and nothing was compiled any more.
      "-XX:ReservedCodeCacheSize=240m",
      // Most suites generate the same code as others, which Spark compiles again if it forgets.
      "-Dspark.sql.codegen.cache.maxEntries=2000",
      "-Dspark.ui.enabled=false") ++ spilling ++ giant ++ bits ++ over ++ restarts ++
      fuzzed ++
      sparkJavaOptions,
    Test / javaOptions ++= Seq(
      "oldest" -> (sparkOldest / Compile / externalDependencyClasspath).value,
      "newest" -> (sparkNewest / Compile / externalDependencyClasspath).value,
      "beside" -> (sparkBeside / Compile / externalDependencyClasspath).value,
      "before" -> (sparkBefore / Compile / externalDependencyClasspath).value,
      "longBefore" -> (sparkLongBefore / Compile / externalDependencyClasspath).value).map {
      case (release, jars) =>
        s"-Dwinops.spark.$release=${jars.files.mkString(java.io.File.pathSeparator)}"
    },
    // Of the JVMs; each one runs its suites one after the other.
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

// The JARs of other releases of Spark, which classes are linked against. "before" and "longBefore" are
// the newest ones on Maven that winops refuses; PyPI, which `make test-releases` uses, can be ahead.
def sparkJars(id: String, version: String) =
  Project(s"winops-spark-$id", file(s"target/${release.folder}-$id"))
    .settings(
      publish / skip := true,
      autoScalaLibrary := false,
      libraryDependencies ++= {
        val Array(major, minor) = version.split('.').take(2).map(_.toInt)
        val scala = if (major < 4) "2.12" else scalaBinary
        // Modules became JARs of their own.
        val more =
          Seq("sql-api" -> (3, 5), "common-utils" -> (3, 5), "common-utils-java" -> (4, 1))
            .collect {
              case (name, (from, since)) if major > from || major == from && minor >= since =>
                name
            }
        (Seq("sql", "catalyst", "core", "unsafe", "sketch") ++ more).map(name =>
          ("org.apache.spark" % s"spark-${name}_$scala" % version).intransitive)
      })

// A version that Maven does not have is linked by compiling against it.
lazy val sparkOldest = sparkJars("oldest", release.maven.fold(releaseBeside)(_._1))
lazy val sparkNewest = sparkJars("newest", release.maven.fold(releaseBeside)(_._2))
lazy val sparkBeside = sparkJars("beside", releaseBeside)
lazy val sparkBefore = sparkJars("before", "4.0.4")
lazy val sparkLongBefore = sparkJars("long-before", "3.5.8")

lazy val releaseBeside = SparkRelease
  .all(sparkVersions)
  .collectFirst {
    case other if other.maven.nonEmpty && other.minor != release.minor => other.maven.get._2
  }
  .get

lazy val conformance = (project in file("jvm/conformance"))
  .dependsOn(
    core % "compile->compile;provided->provided;test->test",
    spark % "compile->compile;provided->provided")
  .settings(common, handedOn(conformanceJar))
  .settings(
    name := "winops-conformance",
    libraryDependencies ++= Seq(
      "com.fasterxml.jackson.core" % "jackson-databind" % jacksonVersion % Provided,
      "com.fasterxml.jackson.module" %% "jackson-module-scala" % jacksonVersion % Provided),
    Compile / packageBin / mappings ++= (spark / Compile / packageBin / mappings).value
      .filterNot { case (_, path) =>
        (core / Compile / packageBin / mappings).value.map(_._2).toSet(path)
      },
    Test / javaOptions ++= sparkJavaOptions)

// Outside of the root's aggregate, so that tests do not wait for it. Windows and rows are those of
// the tests.
lazy val jmh = (project in file("benchmarks/jmh"))
  .enablePlugins(JmhPlugin)
  .dependsOn(core % "provided,runtime->test", spark % "provided,runtime->test,provided")
  .settings(
    name := "winops-jmh",
    perRelease,
    publish / skip := true,
    Jmh / javaOptions ++= "-Xmx2g" +: sparkJavaOptions)

// Not in root's aggregate: `test` and `jars` do without what winops is compared with, and without
// what the crash campaign needs.
val classpathFile =
  taskKey[File]("Writes what a process of its own is started with")

def peer(id: String) = Project(s"peers${id.capitalize}", file(s"benchmarks/peers/$id"))
  .settings(name := s"winops-peers-$id", publish / skip := true)

lazy val peersCommon = peer("common")

lazy val peersSpark = peer("spark")
  .dependsOn(peersCommon)
  .settings(
    perRelease,
    ofRelease,
    Compile / packageBin / mappings ++= (peersCommon / Compile / packageBin / mappings).value,
    Compile / packageBin / artifactPath := jarDir.value / peersJar)

lazy val peersProcess = peer("process")
  .dependsOn(peersCommon)
  .settings(libraryDependencies ++= Seq(
    "org.apache.parquet" % "parquet-hadoop" % parquetVersion,
    "org.apache.hadoop" % "hadoop-client-api" % hadoopVersion,
    "org.apache.hadoop" % "hadoop-client-runtime" % hadoopVersion,
    "org.slf4j" % "slf4j-nop" % slf4jVersion))

val startedByClasspath = classpathFile := {
  val base = thisProject.value.base
  val folder = (ThisBuild / baseDirectory).value / "target" / base.getParentFile.getName
  val file = folder / s"${base.getName}.classpath"
  val entries = (Runtime / fullClasspath).value.files
  IO.write(file, entries.mkString(java.io.File.pathSeparator))
  file
}

lazy val peersFlink = peer("flink")
  .dependsOn(peersProcess)
  .settings(
    startedByClasspath,
    libraryDependencies ++= Seq(
      "flink-streaming-java",
      "flink-clients",
      "flink-statebackend-rocksdb",
      "flink-table-api-java-bridge",
      "flink-table-planner-loader",
      "flink-table-runtime")
      .map("org.apache.flink" % _ % flinkVersion))

lazy val peersEsper = peer("esper")
  .dependsOn(peersProcess)
  .settings(
    startedByClasspath,
    libraryDependencies ++= Seq("esper-common", "esper-compiler", "esper-runtime")
      .map("com.espertech" % _ % esperVersion))

// The file system of the sessions of tests.
lazy val testFiles = (project in file("tests/support/files"))
  .settings(
    name := "winops-test-files",
    publish / skip := true,
    perRelease,
    ofRelease,
    Compile / packageBin / artifactPath := jarDir.value / filesJar.value)

def faults(id: String) = Project(s"faults${id.capitalize}", file(s"tests/resilience/faults/$id"))
  .settings(name := s"winops-faults-$id", publish / skip := true)

lazy val faultsFiles = faults("files")
  .settings(
    perRelease,
    ofRelease,
    Compile / packageBin / artifactPath := jarDir.value / faultsJar.value)

// Only what Spark does not bring along: its own releases of the others are to stay its own.
lazy val faultsKafka = faults("kafka")
  .settings(
    startedByClasspath,
    autoScalaLibrary := false,
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql-kafka-0-10" % sparkVersion,
      "org.apache.spark" %% "spark-token-provider-kafka-0-10" % kafkaTokensVersion,
      "org.apache.kafka" % "kafka-clients" % kafkaVersion,
      "org.apache.commons" % "commons-pool2" % commonsPoolVersion).map(_.intransitive))

lazy val faultsBroker = faults("broker")
  .settings(
    startedByClasspath,
    libraryDependencies ++= Seq(
      "org.apache.kafka" %% "kafka" % kafkaVersion,
      "org.slf4j" % "slf4j-nop" % slf4jVersion))

// Table formats whose session extensions replace Spark's parser, without what Spark brings along.
lazy val lakehouse = (project in file("tests/compatibility/lakehouse"))
  .settings(
    name := "winops-lakehouse",
    publish / skip := true,
    startedByClasspath,
    autoScalaLibrary := false,
    perRelease,
    libraryDependencies ++= release.delta.toSeq.flatMap { version =>
      val others = Seq("storage", "kernel-api", "kernel-defaults", "kernel-unitycatalog")
      (s"spark_${sparkMinor}_$scalaBinary" +: others)
        .map(name => ("io.delta" % s"delta-$name" % version).intransitive)
    },
    libraryDependencies ++= release.iceberg.toSeq.map { version =>
      val name = s"iceberg-spark-runtime-${sparkMinor}_$scalaBinary"
      ("org.apache.iceberg" % name % version).intransitive
    })

addCommandAlias("jar", "cleanStaleJars; spark/jarFile")
addCommandAlias("conformanceJar", "cleanStaleJars; conformance/jarFile")
addCommandAlias(
  "jars",
  "cleanStaleJars; spark/jarFile; conformance/jarFile; testFiles/packageBin; " +
    "testFiles/scalafmtCheckAll")
addCommandAlias(
  "peers",
  "peersSpark/packageBin; peersFlink/classpathFile; peersEsper/classpathFile; " +
    Seq("Common", "Spark", "Process", "Flink", "Esper")
      .map(name => s"peers$name/scalafmtCheckAll")
      .mkString("; "))
addCommandAlias("faults", "faultsFiles/packageBin; faultsFiles/scalafmtCheckAll")
addCommandAlias("lakehouse", "lakehouse/classpathFile")
addCommandAlias("kafka", "faultsKafka/classpathFile; faultsBroker/classpathFile")
