package org.apache.spark.sql.winops.testing

import org.apache.spark.DebugFilesystem

import winops.testing.InProcessFiles

/** The file system of Spark's tests, which knows the open files, over [[InProcessFiles]]. */
final class InProcessDebugFileSystem extends DebugFilesystem {
  fs = new InProcessFiles
}
