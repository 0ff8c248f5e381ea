"""Lists the public API, one name in a line.

usage: python -m release.public_api

Writes release/public-api.txt. A test compares the file with the code, so that a change of the
public API fails until the file is written anew.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import winops
from release import maven
from release.versions import ROOT, spark_releases
from winops import _errors, testing
from winops._tools.command_line import command_line

LIST = ROOT / "release" / "public-api.txt"

_JVM = ROOT / "jvm" / "spark" / "src" / "main"
_SCALA = _JVM / "scala" / "winops"
_SPARK = _SCALA / "spark"
_SERVICES = _JVM / "resources" / "META-INF" / "services"
_METHOD = re.compile(r"^  (?:@varargs )?(implicit )?(?:override )?def ", re.MULTILINE)
_CONDITIONS = _JVM / "resources" / "error" / "winops-error-conditions.json"
_DIALECTS = _SPARK / "analysis" / "Dialects.scala"
# Only winops itself calls them.
_INTERNAL_FUNCTIONS = {"winops_sample", "winops_warnings"}
# The files with the names of the arguments, of functions that have a file for them.
_ARGUMENTS = {
    "with_history": "HistoryArguments.scala",
    "asof_join": "AsOfArguments.scala",
}


def lines() -> list[str]:
    """Return the list, without a line end."""
    return [
        *sorted(_python()),
        *sorted(_scala()),
        *sorted(_command_line()),
        *sorted(_classes()),
        *sorted(_functions()),
        *sorted(_settings()),
        *sorted(_conditions()),
        *sorted(_metrics()),
        *sorted(_columns()),
        *_artifacts(),
    ]


def _python() -> Iterator[str]:
    for module in (winops, testing):
        for name in module.__all__:
            yield from _public(f"{module.__name__}.{name}", getattr(module, name))


def _public(name: str, thing: Any) -> Iterator[str]:
    if not inspect.isclass(thing):
        yield f"python {name}{inspect.signature(thing)}"
        return
    # The other classes are results; nobody but winops makes them.
    made = str(inspect.signature(thing)) if dataclasses.is_dataclass(thing) else ""
    yield f"python class {name}{made}"
    yield from (f"python {name}.{member}" for member in _members(thing))


def _members(kind: type[Any]) -> Iterator[str]:
    for name, member in inspect.getmembers(kind):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            returned = inspect.signature(member.fget).return_annotation if member.fget else ""
            yield f"{name} -> {returned}"
        elif inspect.isfunction(member):
            yield f"{name}{inspect.signature(member)}"


def _scala() -> Iterator[str]:
    """Yield the public methods of the package `winops`, which Java calls too."""
    for file in _SCALA.glob("*.scala"):
        code = re.sub(r"(?s)/\*\*.*?\*/", "", file.read_text())
        if "private[winops] final class" in code:
            continue
        owner = "winops" if file.stem == "package" else f"winops.{file.stem}"
        if file.stem != "package":
            yield f"scala {'class' if ' class ' in code else 'object'} {owner}"
        for found in re.finditer(
            r"^  (?:@varargs )?(implicit )?(?:override )?def ", code, re.MULTILINE
        ):
            signature = " ".join(_signature(code[found.end() :]).split())
            if not signature.startswith("toString"):
                tidy = signature.replace("( ", "(").replace(" )", ")")
                yield f"scala {found[1] or ''}{owner}.{tidy}"


def _signature(text: str) -> str:
    """Return the start of a text up to the equals sign outside of parentheses."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if depth == 0 and text.startswith(" =", i) and text[i + 2] in " \n":
            return text[:i]
    raise ValueError(text[:80])


def _command_line() -> Iterator[str]:
    parser = command_line()
    (commands,) = (action for action in parser._actions if action.dest == "command")
    for name, command in dict(commands.choices or {}).items():
        places = [action.dest for action in command._actions if not action.option_strings]
        options = {
            action.option_strings[-1] for action in command._actions if action.option_strings
        }
        yield " ".join(["command python -m winops", name, *places, *sorted(options - {"--help"})])


def _classes() -> Iterator[str]:
    for file in _SERVICES.iterdir():
        for name in file.read_text().split():
            yield f"class {name}"


def _functions() -> Iterator[str]:
    listed = _strings((_SPARK / "analysis" / "Arguments.scala").read_text(), "val Names")
    languages = re.findall(r"Seq\[Dialect\] = Seq\((.*)\)", _DIALECTS.read_text())[0].lower()
    arguments = [*listed, *languages.split(", ")]
    for file in _SPARK.glob("*Function.scala"):
        text = file.read_text()
        found = re.search(r'val Name = "(\w+)"', text)
        if found is None or found[1] in _INTERNAL_FUNCTIONS:
            continue
        named = re.search(r"new StateArguments\(Seq\((.*?)\)", text)
        if found[1] == "keep":
            names = arguments
        elif found[1] in _ARGUMENTS:
            names = _strings(
                (_SPARK / "analysis" / _ARGUMENTS[found[1]]).read_text(), "val Names"
            )
        else:
            names = re.findall(r'"(\w+)"', named[1]) if named else []
        yield f"sql {found[1]}({', '.join(names)})"


def _strings(text: str, after: str) -> list[str]:
    """Return the strings of the definition that starts with a text."""
    return re.findall(r'"(\w+)"', text.split(after, 1)[1].split('")\n', 1)[0] + '"')


def _settings() -> Iterator[str]:
    for file in _SPARK.glob("**/*.scala"):
        for name in re.findall(r'= "(spark\.winops\.[\w.]+)"$', file.read_text(), re.MULTILINE):
            yield f"setting {name}"


def _conditions() -> Iterator[str]:
    for name, value in vars(_errors).items():
        if name.isupper():
            yield f"error {value}"
    for name, entry in json.loads(_CONDITIONS.read_text()).items():
        yield f"error {name} {entry['sqlState']}"
        yield from (f"error {name}.{kind}" for kind in entry.get("subClass", {}))


def _metrics() -> Iterator[str]:
    text = (_SPARK / "internal" / "KeepMetrics.scala").read_text()
    for name in re.findall(r'^  (?:private )?val \w+ = "(\w+)"$', text, re.MULTILINE):
        yield f"metric {name}"


def _columns() -> Iterator[str]:
    text = (_SPARK / "plan" / "GroupedOperator.scala").read_text()
    names = re.findall(r'^  val \w+ = "(_\w+)"$', text, re.MULTILINE)
    names += re.findall(
        r'arrayOf\("(\w+)"', (_SPARK / "analysis" / "OutputColumns.scala").read_text()
    )
    yield from (f"column {name}" for name in names)


def _artifacts() -> Iterator[str]:
    """Yield the names of the wheel and of the Maven artifacts, without the version of winops."""
    (wheel,) = re.findall(r'^name = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    yield f"artifact {wheel}"
    for release in spark_releases():
        yield f"artifact {maven.GROUP}:{maven.artifact_id(release.minor)}"


if __name__ == "__main__":
    LIST.write_text("\n".join(lines()) + "\n")
