package winops.spark.live

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkConf

class LiveSettingsSuite extends AnyFunSuite {
  private def conf(settings: (String, String)*): SparkConf =
    new SparkConf(loadDefaults = false).setAll(settings)

  test("a setting is on unless it is false") {
    assert(LiveSettings.isOn(conf(), LiveSettings.Enabled))
    assert(LiveSettings.isOn(conf(LiveSettings.Enabled -> "true"), LiveSettings.Enabled))
    assert(!LiveSettings.isOn(conf(LiveSettings.Enabled -> " False"), LiveSettings.Enabled))
    assert(LiveSettings.isOn(conf(LiveSettings.GroupKeys -> "false"), LiveSettings.Enabled))
  }
}
