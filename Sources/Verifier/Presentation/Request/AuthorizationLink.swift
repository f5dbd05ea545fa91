import Base

/// A link that brings a request to a wallet, such as `openid4vp://?client_id=…` (OpenID4VP 1.0, 5; RFC 9101, 5).
///
/// The request is in the link's parameters, in one signed parameter (`request`), or at an address (`request_uri`).
public struct AuthorizationLink: Sendable {
  /// The scheme in lower case, such as `openid4vp`, `haip-vp`, `mdoc-openid4vp`, `av` or `https`.
  public let scheme: String
  /// The decoded parameters in the link's order. Values that are objects or arrays are parsed (OpenID4VP 1.0, 5.1).
  public let parameters: [JSON.Member]
  let hasFragment: Bool

  /// Nil unless the text is a URI with a query.
  public init?(_ text: String) {
    let parts = text.prefix { $0 != "#" }.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let scheme = parts[0].prefix { $0 != ":" }
    guard parts.count == 2, scheme.endIndex < parts[0].endIndex, scheme.first?.isLetter == true,
      scheme.utf8.allSatisfy((RequestRules.letters + "+-.".utf8).contains),
      let members = FormEncoding.members(of: parts[1])
    else { return nil }
    self.scheme = scheme.lowercased()
    hasFragment = text.contains("#")
    parameters = members.map { name, value in
      let json = Self.structured.contains(name) ? try? JSON(parsing: Array(value.utf8)) : nil
      return JSON.Member(name, json ?? .string(value))
    }
  }

  private static let structured: Set = [
    "dcql_query", "client_metadata", "transaction_data", "verifier_info", "presentation_definition", "expected_origins",
  ]

  public subscript(_ name: String) -> JSON? { JSON.object(parameters)[name] }

  public var clientID: String? { self["client_id"]?.string }
  /// The address of the request; nil if the link contains the request.
  public var requestURI: String? { self["request_uri"]?.string }
  /// The request object, if the link contains one; otherwise nil.
  public var request: String? { self["request"]?.string }
  /// Whether the verifier prefers that the wallet fetches the request by POST (5.10).
  public var wantsPost: Bool { self["request_uri_method"] == "post" }
}

/// A verifier's address: the parts against which requests are checked.
struct VerifierAddress {
  /// The host in lower case, without a port.
  let host: String
  let isEncrypted: Bool
  let hasFragment: Bool

  /// Nil unless the text is an absolute `http` or `https` address (RFC 3986) with a host and without user information.
  init?(_ text: String) {
    let pattern =
      #/
      (https?):// ([a-z0-9._\-]+ | \[[0-9a-f:.]+\]) (?: :([0-9]+))?
      (?: [/?\#] (?: [a-z0-9._~!$&'()*+,;=:@/?\#\-] | %[0-9a-f]{2})*)?
      /#
    guard text.utf8.allSatisfy({ $0 < 0x80 }), let match = text.wholeMatch(of: pattern.ignoresCase()),
      match.3.map({ UInt16($0) != nil }) ?? true
    else { return nil }
    host = match.2.lowercased()
    isEncrypted = match.1.lowercased() == "https"
    hasFragment = text.contains("#")
  }

  /// Whether a wallet may use the address. It must be encrypted or on the wallet's own machine, and have no fragment.
  var isAllowed: Bool { (isEncrypted || isLoopback) && !hasFragment }

  private var isLoopback: Bool {
    let octets = host.split(separator: ".", omittingEmptySubsequences: false)
    return ["localhost", "[::1]"].contains(host)
      || octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil && !$0.contains("-") }
  }
}
