import Base
import Cryptography

/// The parameters of an authorization request, as the wallet reads them; no signature is checked, only that the
/// structure is there.
struct OpenID4VPRequest: Sendable {
  /// Where the answer goes, and with that which handover is due.
  enum Channel: Sendable, Hashable {
    case digitalCredentialsAPI(origin: String)
    case redirect(responseURI: String)
    /// ISO/IEC TS 18013-7, Annex B.
    case annexB(responseURI: String)
  }

  let channel: Channel
  let clientID: String
  let nonce: String
  let state: String?
  let asked: AskedDocuments
  /// `id` of the presentation definition (Annex B).
  let definitionID: String?
  /// The verifier's key where the answer is to be encrypted, and the content encryption that is used then.
  let recipient: MockJWK?
  let encryption: String

  var isEncrypted: Bool { recipient != nil }

  /// - Parameter protocolName: which of the three says where the parameters stand.
  init(protocolName: String, data: JSON, origin: String) throws {
    let parameters: JSON =
      switch protocolName {
      case "openid4vp-v1-unsigned": data
      case "openid4vp-v1-signed": try Self.payload(ofCompact: data["request"]?.string)
      case "openid4vp-v1-multisigned": try Self.payload(data["request"]?["payload"]?.string)
      default: throw MockError.unreadableRequest("\(protocolName) is no protocol of the Digital Credentials API")
      }
    try self.init(parameters, channel: .digitalCredentialsAPI(origin: origin))
  }

  /// - Parameter requestObject: a compact JWS (RFC 9101).
  init(requestObject: [UInt8]) throws {
    let parameters = try Self.payload(ofCompact: String(decoding: requestObject, as: UTF8.self))
    guard let responseURI = parameters["response_uri"]?.string else {
      throw MockError.unreadableRequest("there is no response_uri")
    }
    let isAnnexB = parameters["presentation_definition"] != nil
    try self.init(
      parameters, channel: isAnnexB ? .annexB(responseURI: responseURI) : .redirect(responseURI: responseURI))
  }

  private init(_ parameters: JSON, channel: Channel) throws {
    guard let nonce = parameters["nonce"]?.string, let mode = parameters["response_mode"]?.string else {
      throw MockError.unreadableRequest("there is no nonce or no response_mode")
    }
    let metadata = parameters["client_metadata"]
    self.channel = channel
    self.nonce = nonce
    clientID = parameters["client_id"]?.string ?? ""
    state = parameters["state"]?.string
    let definition = parameters["presentation_definition"]
    definitionID = definition?["id"]?.string
    asked =
      try definition.map { try AskedDocuments(presentationDefinition: $0) }
      ?? AskedDocuments(dcql: parameters["dcql_query"] ?? .null)
    recipient = mode.hasSuffix(".jwt") ? metadata?["jwks"]?["keys"]?.array?.lazy.compactMap(MockJWK.init).first : nil
    if mode.hasSuffix(".jwt"), recipient == nil {
      throw MockError.unreadableRequest("client_metadata has no P-256 key to encrypt to")
    }
    // 1.0 lists what the verifier supports, A128GCM where it says nothing; Annex B names one.
    let supported = metadata?["encrypted_response_enc_values_supported"]?.array?.compactMap(\.string)
    encryption =
      metadata?["authorization_encrypted_response_enc"]?.string
      ?? supported?.first { ["A128GCM", "A256GCM"].contains($0) } ?? "A128GCM"
  }

  private static func payload(ofCompact text: String?) throws -> JSON {
    let parts = (text ?? "").split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { throw MockError.unreadableRequest("the request is no compact JWS") }
    return try payload(String(parts[1]))
  }

  private static func payload(_ text: String?) throws -> JSON {
    guard let bytes = text.flatMap(Base64.decodeURLSafe), let json = try? JSON(parsing: bytes), json.object != nil
    else {
      throw MockError.unreadableRequest("the request's payload is no JSON object")
    }
    return json
  }
}
