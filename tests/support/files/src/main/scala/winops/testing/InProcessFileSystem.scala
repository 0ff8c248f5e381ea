package winops.testing

import org.apache.hadoop.fs.LocalFileSystem

/** The local file system over [[InProcessFiles]]; the setting is `spark.hadoop.fs.file.impl`. */
final class InProcessFileSystem extends LocalFileSystem(new InProcessFiles)
