import Base
import Cryptography
import HTTP
import Sessions

/// What a request's header says: where it goes, and who sends it as far as that needs no store. Found out once; anew only
/// where another configuration is in force when the request is here.
struct RequestHeading: Sendable {
  let application: Application
  let match: Router.Match
  /// Of the `Authorization` header; a fault where that has none.
  let token: Result<String, ServiceError>
  /// The token's SHA-256.
  private let hash: [UInt8]?
  /// Whose rate it counts for.
  let counted: RateLimiter.Caller

  init(_ request: HTTPRequest, _ router: Router, _ application: Application) {
    self.application = application
    match = router.match(method: request.method, path: request.path)
    token = Result { () throws(ServiceError) in try BearerToken.read(request.headers) }
    let text = try? token.get()
    hash = text.map(APIKey.hash)
    if let hash, Self.holder(of: hash, application) != nil {
      counted = .key(hash)
    } else {
      let secret = text.flatMap { ClientSecret($0)?.text }
      let address = application.edge.proxy.address(of: request)
      if case .route(_, let parameters) = match {
        counted = .other(session: secret ?? parameters["session"], address)
      } else {
        counted = .other(session: secret, address)
      }
    }
  }

  /// The relying party whose API key the token is, now: a key may come to its end while a body is on its way.
  var keyHolder: Caller? { hash.flatMap { Self.holder(of: $0, application) } }

  private static func holder(of hash: [UInt8], _ application: Application) -> Caller? {
    application.service.relyingParties.owner(ofKeyHash: hash, at: application.clock())
  }
}

/// The token of an `Authorization: Bearer` header (RFC 6750, 2.1).
enum BearerToken {
  private static let scheme = "bearer "

  /// Throws `api.unauthenticated` for a header that is absent, repeated, of another scheme or no token. Queries and
  /// bodies are never looked at for credentials.
  static func read(_ headers: HTTPHeaders) throws(ServiceError) -> String {
    guard let header = headers.single("Authorization"), header.utf8.count > scheme.utf8.count,
      header.prefix(scheme.count).lowercased() == scheme
    else { throw ServiceError(.apiUnauthenticated) }
    let token = String(header.dropFirst(scheme.count))
    guard token.utf8.count <= 512, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw ServiceError(.apiUnauthenticated)
    }
    return token
  }
}

/// The name of one request, for the reply, the log and whoever asks about it: `req_` and 24 hexadecimal digits.
///
/// Ours alone: an id that a client sends could be anything, and would end up in our logs.
enum RequestID {
  static func make() -> String {
    // A request is answered even if the random generator fails; its name is then no name.
    "req_" + Hex.encode((try? Random.bytes(12)) ?? [UInt8](repeating: 0, count: 12))
  }
}

/// A request's place in a distributed trace, for the log (W3C Trace Context, 3.2).
///
/// Of the caller's header only the trace's id is taken, which is a number and no more; `tracestate` is not read.
struct TraceContext: Sendable, Hashable {
  /// 32 lower-case hexadecimal digits.
  let traceID: String
  /// Of this request's work here: 16 digits, always our own.
  let spanID: String

  /// Goes on with the caller's trace. Nil where there is none, or no valid one: nobody else would know of another, and
  /// the request has an id of its own.
  init?(_ headers: HTTPHeaders) {
    // A request is answered even if the random generator fails; it then belongs to no trace.
    guard let traceID = headers.single("traceparent").flatMap(Self.traceID), let span = try? Random.bytes(8) else {
      return nil
    }
    self.traceID = traceID
    spanID = Hex.encode(span)
  }

  /// `00-<trace-id>-<parent-id>-<flags>`; later versions may have more after that (3.2.2, 3.2.4).
  static func traceID(in traceparent: String) -> String? {
    let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, zip(parts, [2, 32, 16, 2]).allSatisfy({ isHex($0, digits: $1) }) else { return nil }
    guard parts[0] != "ff", parts[0] != "00" || parts.count == 4 else { return nil }
    guard !parts[1].allSatisfy({ $0 == "0" }), !parts[2].allSatisfy({ $0 == "0" }) else { return nil }
    return String(parts[1])
  }

  /// Lower case alone (3.2.1).
  private static func isHex(_ text: Substring, digits: Int) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy {
        ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "f"))
      }
  }
}
