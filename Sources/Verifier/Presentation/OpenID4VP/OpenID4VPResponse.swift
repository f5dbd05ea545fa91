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
      checks.failed(.envelopeNotEncrypted, "response is \(form.rawValue), not an encrypted one (JWE)")
      return nil
    }
    guard let text = response["response"]?.string else {
      if response["vp_token"] == nil {
        checks.failed(.envelopeMalformed, "response is \(response["response"] == nil ? "missing" : "no string")")
      } else {
        checks.failed(.envelopeNotEncrypted, "vp_token came in clear; response, a JWE, was asked for")
      }
      return nil
    }
    checks.passed(.envelopeNotEncrypted)
    do throws(JWEError) {
      let jwe = try CompactJWE(parsing: text.utf8)
      for code in Self.parsingCodes { checks.passed(code) }
      // A wallet repeats the `kid` of the key that it chose. The `kid` of our key is its thumbprint.
      let keyID = Base64.encodeURLSafe(JSONWebKey.thumbprint(of: key.publicKey))
      let isOurs = jwe.header.keyID?.hasSameBytes(as: keyID) ?? false
      checks.require(
        isOurs, .jweKeyUnknown,
        "kid is \(jwe.header.keyID.map { "\"\(shown($0))\"" } ?? "missing"); the request's key is \"\(keyID)\"")
      guard isOurs else { return nil }
      let plaintext = try jwe.decrypt(with: key)
      for code in Self.openingCodes { checks.passed(code) }
      checks.passed(.jwePlaintextTooLarge)
      let parameters = try? JSON(parsing: plaintext)
      checks.require(
        parameters?.object != nil, .envelopePlaintextMalformed,
        parameters != nil
          ? "the plaintext is JSON, but no object"
          : Recognition.mistake(plaintext, for: "a JSON object") ?? "the plaintext is not JSON")
      guard let parameters, parameters.object != nil else { return nil }
      header = jwe.header
      self.parameters = parameters
    } catch {
      if error.isOfPlaintext { for code in Self.openingCodes { checks.passed(code) } }
      // Something else altogether has no parts to speak of.
      let mistake = error.code == .envelopeMalformed ? Recognition.mistake(text, for: Recognition.encryptedJWT) : nil
      checks.failed(error.code, mistake ?? error.detail)
      return nil
    }
  }

  private static let openingCodes: [Code] = [.jweEphemeralKeyInvalid, .envelopeDecryptionFailed]
  private static let parsingCodes: [Code] = [
    .envelopeMalformed, .jweHeaderInvalid, .jweAlgorithmUnsupported, .jweCompressionNotAllowed,
  ]

  /// The clauses of a JWE.
  static let clauses: [Code: String] = [
    .envelopeMalformed: "RFC 7516, 7.1", .envelopeDecryptionFailed: "RFC 7516, 5.2",
    .envelopePlaintextMalformed: "OpenID4VP 1.0, 8.3",
  ]

  /// Every check of this stage, in the order in which they are made.
  static let codes: [Code] =
    [.envelopeNotEncrypted] + parsingCodes + [.jweKeyUnknown] + openingCodes
    + [.jwePlaintextTooLarge, .envelopePlaintextMalformed]
}

extension JWTForm {
  /// That of `response`; nil if there is none.
  init?(of response: JSON) {
    guard let text = response["response"]?.string else { return nil }
    self.init(text.utf8)
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
    let presentations: [Presentation]
    do throws(MdocParseError) {
      presentations = try Self.presentations(json, request)
      checks.passed(.vpTokenMalformed)
    } catch {
      checks.append([error.check])
      return nil
    }
    let needed = request.requiresAllDocuments ? request.documents.count : 1
    let indices = Set(presentations.map(\.query.index))
    let answered = indices.count
    let missing = request.documents.indices.filter { !indices.contains($0) }.map(DCQLQuery.credentialID)
    checks.require(
      answered >= needed, .vpTokenIncomplete,
      "vp_token has \(answered) of \(needed) presentations; there is none for \(missing.joined(separator: ", "))")
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

  /// - Throws: `vp_token.malformed` where an id is not one of the request's, or its value is not one base64url text in an
  ///   array.
  private static func presentations(_ json: JSON?, _ request: PresentationRequest) throws(MdocParseError)
    -> [Presentation]
  {
    func fault(_ detail: String) -> MdocParseError { MdocParseError(.vpTokenMalformed, detail) }
    guard let json else { throw fault("vp_token is missing") }
    guard let members = json.object else {
      let name = json.string.map { Recognition.name(ofText: $0.utf8) ?? "text" }
      throw fault("vp_token is \(name ?? (json.array == nil ? "no object" : "an array")), not an object by query id")
    }
    var found: [Presentation] = []
    var known = Set<String>()
    for (index, document) in request.documents.enumerated() {
      for kind in DCQLQuery.kinds(of: document) {
        let id = DCQLQuery.credentialID(index, kind)
        known.insert(id)
        guard let value = json[id] else { continue }
        guard let elements = value.array else { throw fault("vp_token.\(id) is no array") }
        guard elements.count == 1 else {
          throw fault("vp_token.\(id) has \(elements.count) presentations, not 1")
        }
        guard let text = elements[0].string else { throw fault("vp_token.\(id)[0] is no string") }
        guard let bytes = Base64.decodeURLSafe(text), !bytes.isEmpty else {
          let name = text.isEmpty ? "empty" : Recognition.name(ofText: text.utf8) ?? "text"
          throw fault("vp_token.\(id)[0] is \(name), not a DeviceResponse in base64url without padding")
        }
        found.append((PresentedResponse.Query(index, docType: document.docType, kind: kind), bytes))
      }
    }
    // Names occur once in our JSON. So if as many were found as there are members, each member is known.
    guard found.count == members.count else {
      let unknown = members.first { !known.contains($0.name) }?.name ?? ""
      throw fault(
        "vp_token has \"\(shown(unknown))\", which is no id of the query: \(known.sorted().joined(separator: ", "))")
    }
    return found
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
