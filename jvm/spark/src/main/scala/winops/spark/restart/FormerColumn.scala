package winops.spark.restart

import org.apache.spark.sql.types.StructField

/** A column of the stored rows.
  *
  * @param field
  *   the column, with the type as which its values are stored
  * @param place
  *   its place among the columns of the query; -1 if the query does not have it
  * @param isSame
  *   true if the column has the same name and type in the query
  */
final case class FormerColumn(field: StructField, place: Int, isSame: Boolean)
