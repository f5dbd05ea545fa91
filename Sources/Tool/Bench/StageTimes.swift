/// Seconds that the parts of a flow took in a server, with what they waited, as the histograms of its metrics add them
/// up.
struct StageTimes: Sendable {
  /// By the sample's name and label.
  private var sums: [String: Double] = [:]

  /// Of a flow's two requests: what waits for a turn, each request as a whole, and its stages.
  private static let parts = [
    ("waiting for a turn", "mdoc_http_queue_wait_seconds"),
    ("creation", "mdoc_http_request_duration_seconds{route=\"/v1/verification_sessions\"}"),
    ("  stored", "mdoc_store_operation_duration_seconds{operation=\"create\"}"),
    ("submit", "mdoc_http_request_duration_seconds{route=\"/v1/verification_sessions/{id}/submit\"}"),
    ("  challenge consumed", stage("consume")), ("  opened and parsed", stage("open")),
    ("  authenticated", stage("verify")), ("  judged, sealed, rendered", stage("conclude")),
    ("  outcome stored", stage("outcome")),
  ]

  private static func stage(_ name: String) -> String {
    "mdoc_verification_stage_duration_seconds{stage=\"\(name)\"}"
  }

  /// Empty where the server does not tell.
  init(port: UInt16, token: String) {
    guard let connection = try? KeptConnection(port: port, token: token),
      (try? connection.send("GET", "/metrics", [])) != nil, let reply = try? connection.receiveReply()
    else { return }
    for line in String(decoding: reply.body, as: UTF8.self).split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard let name = fields.first, fields.count == 2, let value = Double(fields[1]) else { continue }
      let family = name.prefix { $0 != "{" }
      guard family.hasSuffix("_sum") else { continue }
      sums["\(family.dropLast(4))\(name.dropFirst(family.count))"] = value
    }
  }

  static func - (left: StageTimes, right: StageTimes) -> StageTimes {
    var rest = left
    // What was not there before began at nothing.
    for (name, before) in right.sums { rest.sums[name]? -= before }
    return rest
  }

  /// Seconds of each part, in the order of a flow.
  var parts: [(name: String, seconds: Double)] {
    Self.parts.compactMap { name, sample in sums[sample].map { (name, $0) } }
  }
}
