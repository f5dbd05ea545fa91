import Base
import Cryptography
import JOSE
import Mdoc

/// The parameters of an authorization response that came encrypted (OpenID4VP 1.0, 8.3): `response`, a JWE to the key
/// of this one request.
struct EncryptedParameters {
  let header: JWEHeader
  /// A JSON object.
  let parameters: JSON

  /// Notes each check; nil if one failed.
  init?(opening response: JSON, with key: PrivateKey, checks: inout CheckList) {
    // A response without encryption gets a code of its own, whether a wallet or somebody in between left it out.
    if let form = JWTForm(of: response), form != .encrypted {
      checks.failed(.envelopeNotEncrypted, form.rawValue)
      return nil
    }
    guard let text = response["response"]?.string else {
      checks.failed(response["vp_token"] == nil ? .envelopeMalformed : .envelopeNotEncrypted)
      return nil
    }
    checks.passed(.envelopeNotEncrypted)
    do throws(JWEError) {
      let jwe = try CompactJWE(parsing: text.utf8)
      for code in Self.parsingCodes { checks.passed(code) }
      // A wallet repeats the `kid` of the key that it chose. The `kid` of our key is its thumbprint.
      let keyID = Base64.encodeURLSafe(JSONWebKey.thumbprint(of: key.publicKey))
      let isOurs = jwe.header.keyID?.hasSameBytes(as: keyID) ?? false
      checks.require(isOurs, .jweKeyUnknown)
      guard isOurs else { return nil }
      let plaintext = try jwe.decrypt(with: key)
      for code in Self.openingCodes { checks.passed(code) }
      checks.passed(.jwePlaintextTooLarge)
      let parameters = try? JSON(parsing: plaintext)
      checks.require(parameters?.object != nil, .envelopePlaintextMalformed)
      guard let parameters, parameters.object != nil else { return nil }
      header = jwe.header
      self.parameters = parameters
    } catch {
      if error.isOfPlaintext { for code in Self.openingCodes { checks.passed(code) } }
      checks.failed(error.code, error == .compressionMalformed ? "not one DEFLATE stream" : nil)
      return nil
    }
  }

  private static let openingCodes: [Code] = [.jweEphemeralKeyInvalid, .envelopeDecryptionFailed]
  private static let parsingCodes: [Code] = [
    .envelopeMalformed, .jweHeaderInvalid, .jweAlgorithmUnsupported, .jweCompressionNotAllowed,
  ]

  /// Every check of this stage, in the order in which they are made.
  static let codes: [Code] =
    [.envelopeNotEncrypted] + parsingCodes + [.jweKeyUnknown] + openingCodes
    + [.jwePlaintextTooLarge, .envelopePlaintextMalformed]
}

/// The form of `response`, told by the number of its parts (RFC 7515, 7.1; RFC 7516, 7.1), as text for people.
enum JWTForm: String {
  case unsecured = "an unsecured JWT"
  case signed = "a signed JWT"
  case encrypted = "an encrypted JWT"

  /// Nil if there is no JWT.
  init?(of response: JSON) {
    guard let text = response["response"]?.string else { return nil }
    switch text.utf8.count(where: { $0 == UInt8(ascii: ".") }) {
    case 2: self = text.utf8.last == UInt8(ascii: ".") ? .unsecured : .signed
    case 4: self = .encrypted
    default: return nil
    }
  }
}

extension JSON {
  /// `error_description` of a wallet's error (OpenID4VP 1.0, 8.5; RFC 6749, 4.1.2.1): its own words, which nothing
  /// vouches for, bounded and without controls. Nil if there are none.
  package var errorDescription: String? {
    let words = self["error_description"]?.string ?? ""
    // With the mark of what is cut off.
    return words.isEmpty ? nil : shown(words, limit: Limits.errorDescriptionBytes - "…".utf8.count)
  }

  /// Whether a response has a parameter that is not named for one (OpenID4VP 1.0, 8; JARM, 2.1): nobody reads it.
  var leavesUnread: Bool {
    let names: Set = ["response", "vp_token", "state", "presentation_submission", "iss", "aud", "exp"]
    return object?.contains { !names.contains($0.name) } ?? false
  }
}

/// `vp_token` (OpenID4VP 1.0, 8.1): for each query that is answered an array of presentations, here of one
/// DeviceResponse in base64url (B.2).
struct VPToken {
  private typealias Presentation = (query: PresentedResponse.Query, bytes: [UInt8])

  /// One part for each document of the request that was answered, in the order of the request.
  let parts: [PresentedResponse.Part]

  /// Notes each check; nil if one failed.
  init?(_ json: JSON?, answering request: PresentationRequest, checks: inout CheckList) {
    guard let presentations = Self.presentations(json, request) else {
      checks.failed(.vpTokenMalformed)
      return nil
    }
    checks.passed(.vpTokenMalformed)
    let needed = request.requiresAllDocuments ? request.documents.count : 1
    let answered = Set(presentations.map(\.query.index)).count
    checks.require(answered >= needed, .vpTokenIncomplete)
    guard answered >= needed else { return nil }
    // Where any one document is enough, a second one is more than was asked for; so is a proof beside its document.
    if presentations.count > (request.requiresAllDocuments ? answered : 1) {
      checks.failed(.documentUnexpected, "\(presentations.count) documents")
    }
    var parts: [PresentedResponse.Part] = []
    for presentation in presentations {
      guard let response = DeviceResponse(parsing: presentation.bytes, into: &checks) else { return nil }
      parts.append(PresentedResponse.Part(response, query: presentation.query))
    }
    self.parts = parts
  }

  /// Nil where an id is not one of the request's, or its value is not one base64url text in an array.
  private static func presentations(_ json: JSON?, _ request: PresentationRequest) -> [Presentation]? {
    guard let members = json?.object else { return nil }
    var found: [Presentation] = []
    for (index, document) in request.documents.enumerated() {
      for kind in DCQLQuery.kinds(of: document) {
        guard let value = json?[DCQLQuery.credentialID(index, kind)] else { continue }
        guard let elements = value.array, elements.count == 1,
          let bytes = elements[0].string.flatMap(Base64.decodeURLSafe), !bytes.isEmpty
        else { return nil }
        found.append((PresentedResponse.Query(index, docType: document.docType, kind: kind), bytes))
      }
    }
    // Names occur once in our JSON. So if as many were found as there are members, each member is known.
    return found.count == members.count ? found : nil
  }
}

extension Code {
  /// The code for a wallet's `error` (OpenID4VP 1.0, 8.5; RFC 6749, 4.1.2.1).
  public init(walletError name: String) {
    self =
      switch name {
      case "access_denied": .walletAccessDenied
      case "invalid_request": .walletInvalidRequest
      case "invalid_client": .walletInvalidClient
      case "vp_formats_not_supported": .walletFormatsNotSupported
      case "invalid_request_uri_method": .walletInvalidRequestURIMethod
      case "invalid_transaction_data": .walletInvalidTransactionData
      case "wallet_unavailable": .walletUnavailable
      default: .walletOtherError
      }
  }
}
