package winops.testing

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.matching.Regex

/** Checks that the packages of a source tree, its rooms, use each other in one direction only.
  *
  * A file uses a type of another room if it imports the type, alone or with a wildcard, names it
  * with its absolute or relative package, or sees it through an outer package clause. Comments
  * and the text of strings are ignored; code interpolated into strings is checked.
  *
  * @param roots
  *   the root folders of packages, such as `src/main/scala`
  * @param packages
  *   the packages that contain the rooms; a room may have a part in each of them
  * @param order
  *   the rooms' names below `packages`, such as `window.rules`, the highest first; the empty name
  *   is `packages` themselves. A room may use only the rooms after it.
  */
final class SourceRooms(roots: Seq[Path], packages: Seq[String], order: Seq[String]) {
  import SourceRooms._

  private val rankOf = order.zipWithIndex.toMap
  private val files = roots.flatMap(sourcesOf)
  private val declared =
    files.groupMap(_.inPackage)(_.types).view.mapValues(_.flatten.toSet).toMap
  // All packages with types, and all their parents.
  private val known = declared.keySet.flatMap(prefixes)

  /** All uses of a room by another room. */
  val uses: Seq[Use] = files.flatMap(usesOf)

  /** All violations, one line each; empty if none is found. */
  def problems: Seq[String] =
    homeless ++ empty ++ misplaced ++ upward ++ circles

  /** Packages of sources that are missing in the order. */
  def homeless: Seq[String] = files
    .filter(file => roomOf(file.inPackage).isEmpty)
    .groupBy(_.inPackage)
    .toSeq
    .sortBy(_._1)
    .map { case (name, its) =>
      s"package $name (${its.head.path}) has no place in the order of rooms"
    }

  /** Rooms of the order without a file. */
  def empty: Seq[String] = order
    .diff(files.flatMap(file => roomOf(file.inPackage)))
    .map(room => s"the room ${shown(room)} has no sources")

  /** Files in a folder that differs from their package. */
  def misplaced: Seq[String] = files.collect {
    case file if !file.path.getParent.endsWith(file.inPackage.replace('.', '/')) =>
      s"${file.path}: its package is ${file.inPackage}"
  }

  /** Uses of a room above the file's own room. */
  def upward: Seq[String] = uses
    .filter(use => rankOf(use.to) < rankOf(use.from))
    .map(use => s"$use, but ${shown(use.to)} stands above ${shown(use.from)}")

  /** Rooms that use each other, directly or through other rooms. */
  def circles: Seq[String] = {
    val next = uses.groupMap(_.from)(_.to).view.mapValues(_.distinct).toMap.withDefaultValue(Nil)
    def pathBack(from: String, to: String): Option[Seq[String]] = {
      def go(paths: Seq[Seq[String]], seen: Set[String]): Option[Seq[String]] =
        paths.find(_.last == to).orElse {
          val longer =
            for (path <- paths; room <- next(path.last) if !seen(room)) yield path :+ room
          Option.when(longer.nonEmpty)(longer).flatMap(go(_, seen ++ longer.map(_.last)))
        }
      go(Seq(Seq(from)), Set(from))
    }
    // Each cycle contains a use of a room above.
    uses
      .filter(use => rankOf(use.to) < rankOf(use.from))
      .distinctBy(use => (use.from, use.to))
      .flatMap(use => pathBack(use.to, use.from))
      .map { path =>
        val round = path :+ path.head
        val steps = round.zip(round.tail).map { case (from, to) =>
          uses.find(use => use.from == from && use.to == to).fold("")(_.toString)
        }
        s"circle of rooms ${round.map(shown).mkString(" -> ")}: ${steps.mkString("; ")}"
      }
  }

  /** Files without a type of the file's name. */
  def unnamed: Seq[String] = files.collect {
    case file if !file.types.contains(file.name) =>
      s"${file.path} holds ${file.types.toSeq.sorted.mkString(", ")}, but no ${file.name}"
  }

  private def shown(room: String): String = if (room.isEmpty) packages.mkString(", ") else room

  private def roomOf(inPackage: String): Option[String] = packages.collectFirst {
    case outer if inPackage == outer && rankOf.contains("") => ""
    case outer
        if rankOf.contains(inPackage.stripPrefix(s"$outer.")) &&
          inPackage.startsWith(s"$outer.") =>
      inPackage.stripPrefix(s"$outer.")
  }

  private def usesOf(file: Source): Seq[Use] = for {
    from <- roomOf(file.inPackage).toSeq
    (line, inPackage, name) <- namesIn(file).distinct
    to <- roomOf(inPackage)
    if to != from
  } yield Use(file.path, line, from, to, s"$inPackage.$name")

  /** The types or wildcards that a file uses: line, package, name. */
  private def namesIn(file: Source): Seq[(Int, String, String)] = {
    // Short names of packages that the file sees through imports and its package clauses.
    val members = file.imports.flatMap { case (_, path, selectors) =>
      selectors.flatMap(name => if (name == "_") membersOf(path) else Some(s"$path.$name"))
    } ++ file.clauses.flatMap(membersOf)
    val short = members.filter(known).map(name => name.split('.').last -> name).toMap
    val imported = file.imports.flatMap { case (at, path, selectors) =>
      val first = path.takeWhile(_ != '.')
      val absolute = short.get(first).fold(path)(_ + path.drop(first.length))
      selectors.flatMap { name =>
        val whole = s"$absolute.$name"
        if (known(whole)) Some((at, whole, "_"))
        else
          packageOf(whole).map(found => (at, found, whole.drop(found.length + 1))).filterNot {
            // A package of another module can have the name of an outer one.
            case (_, found, name) => name.contains('.') && !declaredIn(found, name)
          }
      }
    }
    val qualified = Dotted.findAllMatchIn(file.code).toSeq.flatMap { m =>
      val (first, rest) = (m.group(1), m.group(2))
      val starts = if (packages.exists(_.startsWith(s"$first."))) Seq(first) else Nil
      (starts ++ packages.filter(_ == first) ++ short.get(first)).flatMap { start =>
        val whole = start + rest
        packageOf(whole).flatMap { found =>
          val name = whole.drop(found.length + 1).takeWhile(_ != '.')
          Option.when(declaredIn(found, name))((m.start(1), found, name))
        }
      }
    }
    val outer = file.clauses.dropRight(1).flatMap { clause =>
      val seen = declared.getOrElse(clause, Set.empty)
      Identifier.findAllMatchIn(file.code).filter(m => seen(m.matched)).map { m =>
        (m.start, clause, m.matched)
      }
    }
    (imported ++ qualified ++ outer).map { case (at, found, name) =>
      (file.lineAt(at), found, name)
    }
  }

  private def declaredIn(inPackage: String, name: String): Boolean =
    declared.get(inPackage).exists(_(name.takeWhile(_ != '.')))

  private def membersOf(inPackage: String): Seq[String] =
    known
      .filter(name => name.lastIndexOf('.') == inPackage.length && name.startsWith(inPackage))
      .toSeq

  /** The longest package that is a prefix of a dotted name. */
  private def packageOf(name: String): Option[String] =
    prefixes(name).filter(declared.contains).maxByOption(_.length)

  private def sourcesOf(root: Path): Seq[Source] =
    scalaFiles(root).map(path => Source(path, Files.readString(path, UTF_8)))
}

object SourceRooms {
  def apply(root: Path, inPackage: String, order: String*): SourceRooms =
    new SourceRooms(Seq(root), Seq(inPackage), order)

  /** A use of `name`, a type of room `to`, by a file of room `from`. */
  final case class Use(path: Path, line: Int, from: String, to: String, name: String) {
    override def toString: String = s"$path:$line uses $name"
  }

  private val NoCode: Regex =
    ("""(?s)/\*.*?\*/|//[^\n]*|"{3}.*?"{3}"*|"(?:\\.|[^"\\\n])*+"|""" +
      """'(?:\\u\w{4}|\\.|[^\\\n])'""").r
  private val Spliced: Regex = """\$\{([^}]*)\}""".r
  private val Clause: Regex = """(?m)^package (?!object )([\w.]+)""".r
  private val PackageObject: Regex = """(?m)^package object (\w+)""".r
  private val Import: Regex = """(?m)^\s*import ((?:\w+\.)*\w+)\.(\{[^}]*\}|\w+)""".r
  private val TopLevel: Regex =
    """(?m)^(?:[a-z]+(?:\[\w+\])? )*(?:class|object|trait|type|val|def) (\w+)""".r
  private val Dotted: Regex = """(?<![\w.])(\w+)((?:\.\w+)+)""".r
  private val Identifier: Regex = """(?<![\w.])[A-Z]\w*""".r

  private final case class Source(path: Path, text: String) {
    val code: String = NoCode.replaceAllIn(
      text.replace("_root_.", ""),
      m => {
        val spliced =
          if (m.matched.startsWith("\""))
            Spliced.findAllMatchIn(m.matched).map(_.group(1)).mkString(" ")
          else ""
        // Line numbers stay the same.
        val missing = m.matched.count(_ == '\n') - spliced.count(_ == '\n')
        Regex.quoteReplacement(s" $spliced ${"\n" * missing}")
      })

    private val packageObject = PackageObject.findFirstMatchIn(code).map(_.group(1))
    // Scala calls the file of a package object package.scala.
    val name: String =
      packageObject.getOrElse(path.getFileName.toString.stripSuffix(".scala"))
    val clauses: Seq[String] =
      (Clause.findAllMatchIn(code).map(_.group(1)).toSeq ++ packageObject)
        .scanLeft("") { (outer, inner) =>
          if (outer.isEmpty) inner else s"$outer.$inner"
        }
        .tail
    val inPackage: String = clauses.lastOption.getOrElse("")
    val types: Set[String] = TopLevel.findAllMatchIn(code).map(_.group(1)).toSet

    /** Position, imported package or type, and the imported names. */
    val imports: Seq[(Int, String, Seq[String])] = Import
      .findAllMatchIn(code)
      .map { m =>
        val selectors = m.group(2).stripPrefix("{").stripSuffix("}").split(',').toSeq
        val names = selectors.map(_.split("=>").head.trim).filter(_.nonEmpty)
        (m.start(1), m.group(1), names)
      }
      .toSeq

    def lineAt(position: Int): Int = code.take(position).count(_ == '\n') + 1
  }

  private def prefixes(name: String): Seq[String] =
    name.split('.').toSeq.inits.filter(_.nonEmpty).map(_.mkString(".")).toSeq

  private def scalaFiles(root: Path): Seq[Path] = {
    val found = Files.walk(root)
    try found.iterator.asScala.filter(_.toString.endsWith(".scala")).toSeq.sorted
    finally found.close()
  }
}
