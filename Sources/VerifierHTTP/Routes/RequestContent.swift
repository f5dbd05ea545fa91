import Primitives
import VerificationService

/// Reads what comes with a request besides its path: query names, body, `Idempotency-Key`.
enum RequestContent {
  static func checkQuery(_ request: HTTPRequest, _ route: Route) throws(ServiceError) {
    for item in request.query where !route.query.contains(where: { $0.name == item.name }) {
      let isList = route.query.contains { $0.name == item.name + "[]" }
      let hint = isList ? "; write it as `\(item.name)[]`" : ""
      throw ServiceError(.apiUnknownMember, "The query parameter `\(item.name)` is not known here\(hint).")
    }
  }

  static func body(_ request: HTTPRequest, _ route: Route) throws(ServiceError) -> JSON {
    switch route.body {
    case .none: return .null
    case .json: return try json(request)
    case .form: return try form(request)
    case .empty:
      if request.body.isEmpty { return .null }
      let json = try json(request)
      guard let members = json.object else {
        throw ServiceError(.apiInvalidRequest, pointers: [.init(pointer: "", detail: "must be an object")])
      }
      guard members.isEmpty else {
        throw ServiceError(
          .apiUnknownMember,
          pointers: members.prefix(Limits.reportedFaults).map {
            .init(pointer: "/" + escaped($0.name), detail: "is not known here")
          })
      }
      return json
    }
  }

  /// `Idempotency-Key` of a POST with an API key; a client secret has none.
  static func idempotency(
    _ request: HTTPRequest, _ route: Route, _ caller: Caller?
  ) throws(ServiceError) -> IdempotencyRequest? {
    guard route.method == .post, case .apiKey = caller, request.headers.contains("Idempotency-Key") else { return nil }
    guard let key = request.headers.single("Idempotency-Key"), (1...255).contains(key.utf8.count),
      key.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else {
      throw ServiceError(
        .apiInvalidRequest, "An Idempotency-Key is sent once and has 1 to 255 visible ASCII characters.")
    }
    return IdempotencyRequest(key: key, method: request.method, path: request.path, body: request.body)
  }

  private static func json(_ request: HTTPRequest) throws(ServiceError) -> JSON {
    guard let type = request.headers.single("Content-Type"), isType(type, "application/json") else {
      throw ServiceError(.apiUnsupportedMediaType)
    }
    try checkCoding(request)
    do throws(JSON.SyntaxError) {
      return try JSON(parsing: request.body)
    } catch {
      throw ServiceError(.apiMalformedRequest, "The body is not JSON.")
    }
  }

  /// A form without fields may come without a body, and then without a type.
  private static func form(_ request: HTTPRequest) throws(ServiceError) -> JSON {
    if request.body.isEmpty, !request.headers.contains("Content-Type") { return [:] }
    guard let type = request.headers.single("Content-Type"), isType(type, FormBody.mediaType) else {
      throw ServiceError(.apiUnsupportedMediaType, "The body must be a form: \(FormBody.mediaType).")
    }
    try checkCoding(request)
    return try FormBody.read(request.body)
  }

  private static func checkCoding(_ request: HTTPRequest) throws(ServiceError) {
    if let coding = request.headers.values("Content-Encoding").first, coding.lowercased() != "identity" {
      throw ServiceError(.apiUnsupportedMediaType, "The body must come without a Content-Encoding.")
    }
  }

  /// A media type alone or with `charset=utf-8` (RFC 9110, 8.3.1).
  private static func isType(_ type: String, _ expected: String) -> Bool {
    let parts = type.lowercased().split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
    guard let first = parts.first, first == expected else { return false }
    return parts.count == 1 || (parts.count == 2 && ["charset=utf-8", "charset=\"utf-8\""].contains(parts[1]))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop { $0 == " " || $0 == "\t" }
    return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
  }

  /// RFC 6901.
  static func escaped(_ name: String) -> String {
    name.unicodeScalars.reduce(into: "") { $0 += $1 == "~" ? "~0" : $1 == "/" ? "~1" : String($1) }
  }
}
