import Base

/// What `/metrics` says of the configuration: when it was read, whether the file is what is in force, and which API key
/// ends next.
enum ConfigurationMetrics {
  static func write(_ application: Application, to text: inout MetricsWriter) {
    let status = application.state.configuration
    text.single(
      "mdoc_configuration_loaded_timestamp_seconds", .gauge,
      "When the configuration in force was read, in Unix seconds.", Double(status.loadedAt.secondsSince1970))
    text.single(
      "mdoc_configuration_current", .gauge, "1 where the latest reading of the file is in force, else 0.",
      status.isCurrent ? 1 : 0)
    text.single(
      "mdoc_configuration_reload_failures_total", .counter,
      "Readings that left the configuration before in force.", Double(status.failures))
    MetricsText.expiry(
      "mdoc_api_key_next_expiry_timestamp_seconds",
      "When the next of the API keys that are good now expires, in Unix seconds.",
      application.service.relyingParties.nextKeyExpiry(after: application.clock()), &text)
  }
}
