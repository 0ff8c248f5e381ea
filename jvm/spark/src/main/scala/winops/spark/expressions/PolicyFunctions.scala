package winops.spark.expressions

import org.apache.spark.sql.catalyst.analysis.{FunctionRegistry, SimpleFunctionRegistry}
import org.apache.spark.sql.catalyst.expressions.Expression

/** The Spark functions that a policy's expressions may call. The list is explicit, so that a new
  * release of Spark does not extend it.
  *
  * The list excludes functions that
  *
  *   - access the session, the file, the task, random numbers or user code;
  *   - return rows, or are valid only in a query or under an OVER;
  *   - create a value or a buffer of a size given by an argument, such as `repeat`,
  *     `array_insert` or the sketches, because a short text could request any amount of memory;
  *   - compute with a number of digits given in a text, such as `decimal('1e-1000000000')`;
  *   - parse a type from a text, such as `from_json` and `variant_get`, because Spark
  *     instantiates any class that such a text names.
  */
private[spark] object PolicyFunctions {

  /** Functions with a result about as long as all arguments together, or of bounded length. */
  private val ofAnything: Set[String] = named("""
    any any_value approx_count_distinct approx_percentile array_agg avg bit_and bit_or bit_xor
    bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_list collect_set
    corr count count_if covar_pop covar_samp every first first_value histogram_numeric kurtosis
    last last_value listagg max max_by mean median min min_by mode percentile percentile_approx
    percentile_cont percentile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness some std stddev
    stddev_pop stddev_samp string_agg sum try_avg try_sum var_pop var_samp variance

    array array_size cardinality element_at get map named_struct size struct try_element_at

    bit_count bit_get getbit shiftleft shiftright shiftrightunsigned

    between coalesce equal_null if ifnull isnan isnotnull isnull nanvl nullif nullifzero nvl nvl2
    when zeroifnull

    bigint binary boolean date double float int smallint string time timestamp tinyint

    add_months convert_timezone curdate current_date current_time current_timestamp
    current_timezone date_add date_diff date_from_unix_date date_part date_sub date_trunc dateadd
    datediff datepart day dayname dayofmonth dayofweek dayofyear extract from_utc_timestamp hour
    last_day localtimestamp make_date make_dt_interval make_interval make_time make_timestamp
    make_timestamp_ltz make_timestamp_ntz make_ym_interval minute month monthname months_between
    next_day now quarter second time_diff time_trunc timestamp_micros timestamp_millis
    timestamp_seconds to_date to_time to_timestamp to_timestamp_ltz to_timestamp_ntz
    to_unix_timestamp to_utc_timestamp trunc try_make_interval try_make_timestamp
    try_make_timestamp_ltz try_make_timestamp_ntz try_to_date try_to_time try_to_timestamp
    unix_date unix_micros unix_millis unix_seconds unix_timestamp weekday weekofyear year

    crc32 hash md5 sha sha1 sha2 xxhash64

    abs acos acosh asin asinh atan atan2 atanh bin bround cbrt ceil ceiling conv cos cosh cot csc
    degrees div e exp expm1 factorial floor greatest hypot least ln log log10 log1p log2 mod
    negative pi pmod positive pow power radians rand randn random rint round sec sign signum sin
    sinh sqrt tan tanh try_add try_divide try_mod try_multiply try_subtract unhex width_bucket

    ascii bit_length btrim char char_length character_length chr collate collation concat contains
    elt endswith find_in_set initcap instr is_valid_utf8 lcase left len length locate lower ltrim
    luhn_check make_valid_utf8 mask octet_length overlay position right rtrim soundex startswith
    substr substring substring_index to_binary to_number trim try_to_binary try_to_number
    try_validate_utf8 ucase unbase64 upper validate_utf8
  """)

  /** Functions with a result that may be many times as long as the arguments, or with a long run
    * time for short arguments.
    */
  private val ofRows: Set[String] = named("""
    array_append array_compact array_contains array_distinct array_except array_intersect
    array_join array_max array_min array_position array_prepend array_remove array_sort array_union
    arrays_overlap arrays_zip flatten reverse slice sort_array

    aggregate exists filter forall map_filter map_zip_with reduce transform transform_keys
    transform_values zip_with

    get_json_object json_array_length json_object_keys to_json

    map_concat map_contains_key map_entries map_from_arrays map_from_entries map_keys map_values
    str_to_map

    ilike like regexp regexp_count regexp_extract regexp_extract_all regexp_instr regexp_like
    regexp_replace regexp_substr rlike

    base64 concat_ws date_format decode encode from_unixtime hex levenshtein quote replace
    sentences split split_part to_char to_varchar translate

    parse_url try_parse_url try_url_decode url_decode url_encode

    is_variant_null parse_json schema_of_variant to_variant_object try_parse_json
  """)

  /** The maximum number of arguments of functions whose next argument is a buffer size. */
  private val arguments: Map[String, Int] = Map("approx_count_distinct" -> 1)

  /** Functions that round to the number of digits in their second argument, and compute with that
    * many digits.
    */
  private val rounding: Set[String] = named("bround ceil ceiling floor round")

  /** Returns true if a policy may call the function. */
  def has(name: String): Boolean = ofAnything(lower(name)) || ofRows(lower(name))

  /** Returns true if the function needs a column among its arguments. Spark folds constants on
    * the driver, where a short text must not become a long value.
    */
  def needsRow(name: String): Boolean = ofRows(lower(name))

  /** The maximum number of arguments, if Spark allows more. */
  def mostArguments(name: String): Option[Int] = arguments.get(lower(name))

  /** Returns true if the function's second argument is a number of digits. */
  def rounds(name: String): Boolean = rounding(lower(name))

  /** Creates a registry of the functions for an analyzer.
    *
    * @param built
    *   called with each expression that replaces a function call, after its arguments were
    *   replaced
    */
  def registry(built: Expression => Unit): FunctionRegistry = {
    val registry = new SimpleFunctionRegistry
    // Spark 4.1 identifies its functions by name alone, 4.2 and later by `system.builtin` too. The
    // builders are those of the immutable map, because anyone may replace those in the registry.
    for {
      identifier <- FunctionRegistry.functionSet if has(identifier.funcName)
      (info, builder) <- FunctionRegistry.expressions.get(identifier.funcName)
    } {
      registry.internalRegisterFunction(
        identifier,
        info,
        arguments => {
          val expression = builder(arguments)
          built(expression)
          expression
        })
    }
    registry
  }

  private[spark] def all: Set[String] = ofAnything ++ ofRows

  private def named(words: String): Set[String] = words.split("\\s+").filter(_.nonEmpty).toSet

  private def lower(name: String): String = name.toLowerCase(java.util.Locale.ROOT)
}
