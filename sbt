#!/usr/bin/env bash
# sbt from Maven Central, so that a JDK and Maven are all a checkout needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

version=$(sed -n 's/^sbt\.version=//p' project/build.properties)
# Not below target/, which `clean` deletes while sbt is running from it.
launcher=.sbt-launch/sbt-launch-$version.jar

if [[ ! -f $launcher ]]; then
  mkdir -p .sbt-launch
  part=$(mktemp -d .sbt-launch/part.XXXXXX)
  trap 'rm -rf "$part"' EXIT
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
    -Dartifact="org.scala-sbt:sbt-launch:$version" -DoutputDirectory="$PWD/$part" >&2
  mv "$part/sbt-launch-$version.jar" "$launcher"
  rm -rf "$part"
fi

# SBT_OPTS is unquoted because it holds several options.
# shellcheck disable=SC2086
exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx2g -Xss4m -Dfile.encoding=UTF-8 \
  -Dsbt.server.autostart=false -Dsbt.supershell=false ${SBT_OPTS:-} \
  -jar "$launcher" "$@"
