import Base
import HTTP
import Sessions

/// Reads what comes with a request besides its path: query names, body, `Idempotency-Key`.
enum RequestContent {
  /// A page's address is passed on, and others add parameters of their own (`utm_source`, `fbclid`): it ignores them.
  static func checkQuery(_ request: HTTPRequest, _ route: Route) throws(ServiceError) {
    if route.isPage { return }
    for item in request.query where !route.query.contains(where: { $0.name == item.name }) {
      let isList = route.query.contains { $0.name == item.name + "[]" }
      let hint = isList ? "; write it as `\(item.name)[]`" : ""
      throw ServiceError(.apiUnknownMember, "The query parameter `\(item.name)` is not known here\(hint).")
    }
  }

  /// Checks the header fields about a body, which may have arrived or not.
  static func checkType(_ request: HTTPRequest, _ route: Route, hasBody: Bool) throws(ServiceError) {
    switch route.body {
    case .none: return
    // A form without fields may come without a body, and then without a type.
    case .form where !hasBody && !request.headers.contains("Content-Type"): return
    case .form: try checkType(request, FormBody.mediaType)
    case .empty where !hasBody, .json(_, isRequired: false, _) where !hasBody: return
    case .json, .empty: try checkType(request, "application/json")
    }
    if let coding = request.headers.values("Content-Encoding").first, coding.lowercased() != "identity" {
      throw ServiceError(.apiUnsupportedMediaType, "The body must come without a Content-Encoding.")
    }
  }

  /// The body as JSON; null for a form, which `RouteCall.form` reads.
  static func body(_ request: HTTPRequest, _ route: Route) throws(ServiceError) -> JSON {
    try checkType(request, route, hasBody: !request.body.isEmpty)
    switch route.body {
    case .none, .form: return .null
    case .json(_, let isRequired, _):
      return !isRequired && request.body.isEmpty ? [:] : try json(request)
    case .empty:
      if request.body.isEmpty { return .null }
      let json = try json(request)
      try nothing.value(of: json)
      return json
    }
  }

  private static let nothing = Shape<Void>.object("Nothing", "No members.", {})

  /// The `Idempotency-Key` of a POST with an API key; nil if there is none. Callers with a client secret have none.
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
    let most = Limits.requestJSONValues
    let json: JSON
    do throws(JSON.SyntaxError) {
      json = try JSON(parsing: request.body, values: most)
    } catch {
      guard error.hasTooManyValues else { throw ServiceError(.apiMalformedRequest, "The body is not JSON.") }
      throw ServiceError(.apiBodyTooLarge, "The body has more than \(most) JSON values.")
    }
    return try held(json, of: request)
  }

  static func form(_ request: HTTPRequest) throws(ServiceError) -> JSON {
    try held(FormBody.read(request.body), of: request)
  }

  /// Counts the memory of what was made of a body. It is held beside the body until the reply is written.
  private static func held(_ json: JSON, of request: HTTPRequest) throws(ServiceError) -> JSON {
    guard request.hold?.take(json.memoryBytes) ?? true else { throw ServiceError(.apiOverloaded, retryAfter: 1) }
    return json
  }

  private static func checkType(_ request: HTTPRequest, _ expected: String) throws(ServiceError) {
    guard let type = request.headers.single("Content-Type"), isType(type, expected) else {
      throw ServiceError(.apiUnsupportedMediaType, "Send this body with `Content-Type: \(expected)`.")
    }
  }

  /// A media type alone or with `charset=utf-8` (RFC 9110, 8.3.1).
  private static func isType(_ type: String, _ expected: String) -> Bool {
    let parts = type.lowercased().split(separator: ";", omittingEmptySubsequences: false).map(\.withoutBlanks)
    guard let first = parts.first, first == expected else { return false }
    return parts.count == 1 || (parts.count == 2 && ["charset=utf-8", "charset=\"utf-8\""].contains(parts[1]))
  }
}

extension Substring {
  /// Without optional white space around it (RFC 9110, 5.6.3).
  var withoutBlanks: Substring {
    let start = drop { $0 == " " || $0 == "\t" }
    return start.lastIndex { $0 != " " && $0 != "\t" }.map { start[...$0] } ?? ""
  }
}

/// The body of a form that a wallet posts (`application/x-www-form-urlencoded`). It is read strictly: a name that
/// occurs twice, or a wrong encoding, has no single meaning and is refused.
enum FormBody {
  static let mediaType = "application/x-www-form-urlencoded"

  /// An object of texts; empty if the form has no fields.
  static func read(_ body: [UInt8]) throws(ServiceError) -> JSON {
    // Counted before anything is made of the fields, since the sender is not known yet.
    guard body.count(where: { $0 == UInt8(ascii: "&") }) < Limits.formFields else {
      throw ServiceError(.apiInvalidRequest, "The form has more than \(Limits.formFields) fields.")
    }
    for field in body.split(separator: UInt8(ascii: "&"))
    where field.prefix(Limits.formNameBytes + 1).firstIndex(of: UInt8(ascii: "=")) == nil
      && field.count > Limits.formNameBytes
    {
      throw ServiceError(.apiInvalidRequest, "A name in the form has more than \(Limits.formNameBytes) bytes.")
    }
    guard body.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
      let fields = FormEncoding.members(of: String(decoding: body, as: UTF8.self)[...])
    else { throw ServiceError(.apiMalformedRequest, "The body is no form: percent-encoded UTF-8 without white space.") }
    var names: Set<UTF8Key> = []
    for field in fields where !names.insert(UTF8Key(field.name)).inserted {
      throw ServiceError(
        .apiInvalidRequest,
        pointers: [.init(pointer: "/" + JSONPointer.escape(field.name), detail: "is there twice")])
    }
    return .object(fields.map { JSON.Member($0.name, .string($0.value)) })
  }
}
