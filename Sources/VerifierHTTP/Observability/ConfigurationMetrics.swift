import Primitives

/// What `/metrics` says of the configuration: when it was read, whether the file is what is in force, and which API key
/// ends next.
enum ConfigurationMetrics {
  static func write(_ application: Application, to text: inout MetricsWriter) {
    let status = application.state.configuration
    let loaded = "mdoc_configuration_loaded_timestamp_seconds"
    text.family(loaded, .gauge, "When the configuration in force was read, in Unix seconds.")
    text.sample(loaded, [], Double(status.loadedAt.secondsSince1970))
    text.family("mdoc_configuration_current", .gauge, "1 where the latest reading of the file is in force, else 0.")
    text.sample("mdoc_configuration_current", [], status.isCurrent ? 1 : 0)
    let failures = "mdoc_configuration_reload_failures_total"
    text.family(failures, .counter, "Readings that left the configuration before in force.")
    text.sample(failures, [], Double(status.failures))
    let expiry = "mdoc_api_key_next_expiry_timestamp_seconds"
    text.family(expiry, .gauge, "When the next of the API keys that are good now expires, in Unix seconds.")
    if let next = application.service.relyingParties.nextKeyExpiry(after: application.clock()) {
      text.sample(expiry, [], Double(next.secondsSince1970))
    }
  }
}
