import Base
import Cryptography
import HTTP
import Sessions

/// What a request's header tells: the route, and the sender as far as that needs no store. It is read once. It is read
/// again only if another configuration is in force when the whole request has arrived.
struct RequestHeading: Sendable {
  let application: Application
  let match: Router.Match
  /// The token of the `Authorization` header, or the fault if there is none.
  let token: Result<String, ServiceError>
  /// The token's SHA-256; nil if there is no token.
  private let hash: [UInt8]?
  /// The caller whose rate the request counts against.
  let counted: RateLimiter.Caller
  /// Whose turn the request takes. A session in the path decides nothing: anybody may name any session.
  let flow: Flow

  init(_ request: HTTPRequest, _ router: Router, _ application: Application) {
    self.application = application
    match = router.match(method: request.method, path: request.path)
    token = Result { () throws(ServiceError) in try BearerToken.read(request.headers) }
    let text = try? token.get()
    hash = text.map(APIKey.hash)
    if let hash, let holder = Self.holder(of: hash, application) {
      counted = .key(hash)
      flow = Flow(relyingParty: holder.relyingParty.id)
    } else {
      let secret = text.flatMap { ClientSecret($0)?.text }
      let address = application.edge.proxy.address(of: request)
      flow = Flow(stranger: address)
      if case .route(_, let parameters) = match {
        counted = .other(session: secret ?? parameters["session"].map(Self.session), address)
      } else {
        counted = .other(session: secret, address)
      }
    }
  }

  /// One session counts as one, by whichever of its wallets' addresses it is called.
  private static func session(_ text: String) -> String { WalletPath(text)?.session.text ?? text }

  /// The caller whose API key the token is; nil if it is none. It is looked up each time, since a key may expire while
  /// a body is on its way.
  var keyHolder: Caller? { hash.flatMap { Self.holder(of: $0, application) } }

  private static func holder(of hash: [UInt8], _ application: Application) -> Caller? {
    application.service.relyingParties.owner(ofKeyHash: hash, at: application.clock())
  }
}

/// The token of an `Authorization: Bearer` header (RFC 6750, 2.1).
enum BearerToken {
  private static let scheme = "bearer "

  /// The token. Queries and bodies are never searched for credentials.
  ///
  /// - Throws: `api.unauthenticated` if the header is absent, repeated, of another scheme or without a valid token.
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

/// The name of one request, for the reply, the log and questions about it: `req_` and 24 hexadecimal digits.
///
/// The server always makes it: an id that a client sends could be anything, and would end up in our logs.
enum RequestID {
  static func make() -> String {
    // If the random generator fails the request is still answered, with zeros for a name.
    "req_" + Hex.encode((try? Random.bytes(12)) ?? [UInt8](repeating: 0, count: 12))
  }
}

/// A request's place in a distributed trace, for the log (W3C Trace Context, 3.2).
///
/// Only the trace's id is taken from the caller's header, since it is just a number. `tracestate` is not read.
struct TraceContext: Sendable, Hashable {
  /// 32 lower-case hexadecimal digits.
  let traceID: String
  /// The id of this request's work here: 16 digits, always made by us.
  let spanID: String

  /// Continues the caller's trace. Nil if the caller sent none, or an invalid one: nobody else would know a trace that
  /// we made, and the request has an id of its own.
  init?(_ headers: HTTPHeaders) {
    // A request is answered even if the random generator fails; it then belongs to no trace.
    guard let traceID = headers.single("traceparent").flatMap(Self.traceID), let span = try? Random.bytes(8) else {
      return nil
    }
    self.traceID = traceID
    spanID = Hex.encode(span)
  }

  /// Reads `00-<trace-id>-<parent-id>-<flags>`; later versions may have more after that (3.2.2, 3.2.4). Nil if it is
  /// invalid.
  static func traceID(in traceparent: String) -> String? {
    let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, zip(parts, [2, 32, 16, 2]).allSatisfy({ isHex($0, digits: $1) }) else { return nil }
    guard parts[0] != "ff", parts[0] != "00" || parts.count == 4 else { return nil }
    guard !parts[1].allSatisfy({ $0 == "0" }), !parts[2].allSatisfy({ $0 == "0" }) else { return nil }
    return String(parts[1])
  }

  /// Whether the text has so many hexadecimal digits, all in lower case (3.2.1).
  private static func isHex(_ text: Substring, digits: Int) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy {
        ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "f"))
      }
  }
}
