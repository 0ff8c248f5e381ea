import sbt._
import sbt.Keys._

/** JARs of programs that tests and benchmarks start or compare with, and no project depends on.
  */
object Jars {

  /** Finds the JARs of modules and of all that the modules depend on, and downloads them. */
  val find: Def.Initialize[Task[Seq[ModuleID] => Seq[File]]] = Def.task {
    val resolution = dependencyResolution.value
    val scala = scalaModuleInfo.value
    val configuration = updateConfiguration.value
    val warnings = (update / unresolvedWarningConfiguration).value
    val log = streams.value.log
    (modules: Seq[ModuleID]) => {
      val asking = ModuleID("io.github.winops", "winops-jars", "0")
      val descriptor = resolution.moduleDescriptor(asking, modules.toVector, scala)
      resolution.update(descriptor, configuration, warnings, log) match {
        case Right(report) => report.allFiles.distinct
        case Left(unresolved) => throw unresolved.resolveException
      }
    }
  }

  /** Writes a class path into a file, with which a program starts in a process of its own. */
  def writeClasspath(jars: Seq[File], file: File): Unit =
    IO.write(file, jars.mkString(java.io.File.pathSeparator))
}
