package winops.spark.restart

import org.json4s.{JArray, JInt, JString, JValue}
import org.json4s.JsonDSL._
import org.json4s.jackson.JsonMethods.{parse => parseJson}

import org.apache.spark.sql.types.StructType

import winops.spark.frames.{FrameForm, Frames}
import winops.spark.plan.OverPlan

/** The forms of window functions as JSON. */
private[spark] object FrameForms {
  def json(plan: OverPlan): JArray = JArray(Frames.forms(plan).map(json).toList)

  private def json(form: FrameForm): JValue =
    ("kind" -> form.kind) ~
      ("functions" -> form.functions) ~
      ("positions" -> form.positions) ~
      ("distinct" -> form.distinct) ~
      ("buffers" -> form.buffers.map(_._1)) ~
      ("types" -> JArray(form.buffers.map(buffer => parseJson(buffer._2.json)).toList)) ~
      ("wide" -> form.wide)

  /** Parses what [[json]] returned. */
  def parse(json: JValue): Option[Seq[FrameForm]] = json match {
    case JArray(forms) => Some(forms.map(formOf))
    case _ => None
  }

  private def formOf(json: JValue): FrameForm = FrameForm(
    texts(json \ "kind").headOption.getOrElse(""),
    texts(json \ "functions"),
    numbers(json \ "positions").headOption.getOrElse(0),
    numbers(json \ "distinct").headOption.getOrElse(0),
    texts(json \ "buffers").zip(structs(json \ "types")),
    numbers(json \ "wide"))

  private def texts(json: JValue): Seq[String] = json match {
    case JArray(values) => values.flatMap(texts)
    case JString(text) => Seq(text)
    case _ => Nil
  }

  private def numbers(json: JValue): Seq[Int] = json match {
    case JArray(values) => values.flatMap(numbers)
    case JInt(number) => Seq(number.toInt)
    case _ => Nil
  }

  private def structs(json: JValue): Seq[StructType] = json match {
    case JArray(values) => values.flatMap(StoredTypes.columns)
    case _ => Nil
  }
}
