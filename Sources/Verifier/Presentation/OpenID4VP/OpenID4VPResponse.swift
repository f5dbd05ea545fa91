import Base
import Cryptography
import JOSE
import Mdoc

/// The parameters of an encrypted authorization response (OpenID4VP 1.0, 8.3): `response`, a JWE to the key of this one
/// request.
struct EncryptedParameters {
  let header: JWEHeader
  let parameters: JSON

  /// Records each check. Nil if a check failed.
  init?(opening response: JSON, with key: PrivateKey, checks: inout CheckList) {
    // An unencrypted response has its own code: the wallet did not encrypt it, or an intermediary decrypted it.
    if let form = JWTForm(of: response), form != .encrypted {
      checks.failed(.envelopeNotEncrypted, "response is \(form.rawValue), not an encrypted response (JWE)")
      return nil
    }
    guard let text = response["response"]?.string else {
      if response["vp_token"] == nil {
        checks.failed(.envelopeMalformed, "response is \(response["response"] == nil ? "missing" : "not a string")")
      } else {
        checks.failed(.envelopeNotEncrypted, "vp_token is unencrypted; the request asked for a JWE in response")
      }
      return nil
    }
    checks.passed(.envelopeNotEncrypted)
    do throws(JWEError) {
      let jwe = try CompactJWE(parsing: text.utf8)
      for code in Self.parsingCodes { checks.passed(code) }
      // This verifier uses the key's thumbprint as `kid`.
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
          ? "the plaintext is JSON, but not an object"
          : Recognition.mistake(plaintext, for: "a JSON object") ?? "the plaintext is not JSON")
      guard let parameters, parameters.object != nil else { return nil }
      header = jwe.header
      self.parameters = parameters
    } catch {
      if error.isOfPlaintext { for code in Self.openingCodes { checks.passed(code) } }
      // Only a malformed envelope is examined for another recognisable form.
      let mistake = error.code == .envelopeMalformed ? Recognition.mistake(text, for: Recognition.encryptedJWT) : nil
      checks.failed(error.code, mistake ?? error.detail)
      return nil
    }
  }

  private static let openingCodes: [Code] = [.jweEphemeralKeyInvalid, .envelopeDecryptionFailed]
  private static let parsingCodes: [Code] = [
    .envelopeMalformed, .jweHeaderInvalid, .jweAlgorithmUnsupported, .jweCompressionNotAllowed,
  ]

  static let clauses: [Code: String] = [
    .envelopeMalformed: "RFC 7516, 7.1", .envelopeDecryptionFailed: "RFC 7516, 5.2",
    .envelopePlaintextMalformed: "OpenID4VP 1.0, 8.3",
  ]

  static let codes: [Code] =
    [.envelopeNotEncrypted] + parsingCodes + [.jweKeyUnknown] + openingCodes
    + [.jwePlaintextTooLarge, .envelopePlaintextMalformed]
}

extension JWTForm {
  init?(of response: JSON) {
    guard let text = response["response"]?.string else { return nil }
    self.init(text.utf8)
  }
}

extension JSON {
  /// `error_description` of a wallet's error (OpenID4VP 1.0, 8.5; RFC 6749, 4.1.2.1). It is the wallet's own,
  /// unverified text, bounded and without control characters. Nil if there is no description.
  package var errorDescription: String? {
    let words = self["error_description"]?.string ?? ""
    // The limit includes the mark of truncation.
    return words.isEmpty ? nil : shown(words, limit: Limits.errorDescriptionBytes - "…".utf8.count)
  }

  /// Whether a response has an unknown parameter. Such parameters are ignored (OpenID4VP 1.0, 8; JARM, 2.1).
  var leavesUnread: Bool {
    let names: Set = ["response", "vp_token", "state", "presentation_submission", "iss", "aud", "exp"]
    return object?.contains { !names.contains($0.name) } ?? false
  }
}

/// `vp_token` (OpenID4VP 1.0, 8.1). For each satisfied query it has an array of presentations. Here this is one
/// DeviceResponse in base64url (B.2).
enum VPToken {
  private typealias Presentation = (query: PresentedResponse.Query, bytes: [UInt8])

  /// One part for each satisfied query, in the order of the request. Records each check. Nil if a check failed.
  static func parts(
    of json: JSON?, for request: PresentationRequest, checks: inout CheckList
  ) -> [PresentedResponse.Part]? {
    let presentations: [Presentation]
    do throws(MdocParseError) {
      presentations = try self.presentations(json, request)
      checks.passed(.vpTokenMalformed)
    } catch {
      checks.append([error.check])
      return nil
    }
    let needed = request.requiresAllDocuments ? request.documents.count : 1
    let indices = Set(presentations.map(\.query.index))
    let missing = request.documents.indices.filter { !indices.contains($0) }.map(DCQLQuery.credentialID)
    checks.require(
      indices.count >= needed, .vpTokenIncomplete,
      "vp_token has \(indices.count) of \(needed) presentations; there is none for \(missing.joined(separator: ", "))")
    guard indices.count >= needed else { return nil }
    // If one document suffices, a second document is unrequested. A proof beside its document is also unrequested.
    if presentations.count > (request.requiresAllDocuments ? indices.count : 1) {
      checks.failed(.documentUnexpected, "\(presentations.count) documents")
    }
    var parts: [PresentedResponse.Part] = []
    for presentation in presentations {
      guard let response = DeviceResponse(parsing: presentation.bytes, into: &checks) else { return nil }
      parts.append(PresentedResponse.Part(response, query: presentation.query))
    }
    return parts
  }

  /// - Throws: `vp_token.malformed` if an id is not in the request, or its value is not an array of one base64url text.
  private static func presentations(_ json: JSON?, _ request: PresentationRequest) throws(MdocParseError)
    -> [Presentation]
  {
    func fault(_ detail: String) -> MdocParseError { MdocParseError(.vpTokenMalformed, detail) }
    guard let json else { throw fault("vp_token is missing") }
    guard let members = json.object else {
      let name = json.string.map { Recognition.name(ofText: $0.utf8) ?? "text" }
      throw fault(
        "vp_token is \(name ?? (json.array == nil ? "of another type" : "an array")), not an object by query id")
    }
    var found: [Presentation] = []
    var known = Set<String>()
    for (index, document) in request.documents.enumerated() {
      for kind in DCQLQuery.kinds(of: document) {
        let id = DCQLQuery.credentialID(index, kind)
        known.insert(id)
        guard let value = json[id] else { continue }
        guard let elements = value.array else { throw fault("vp_token.\(id) is not an array") }
        guard elements.count == 1 else {
          throw fault("vp_token.\(id) has \(elements.count) presentations, not 1")
        }
        guard let text = elements[0].string else { throw fault("vp_token.\(id)[0] is not a string") }
        guard let bytes = Base64.decodeURLSafe(text), !bytes.isEmpty else {
          let name = text.isEmpty ? "empty" : Recognition.name(ofText: text.utf8) ?? "text"
          throw fault("vp_token.\(id)[0] is \(name), not a DeviceResponse in base64url without padding")
        }
        found.append((PresentedResponse.Query(index, docType: document.docType, kind: kind), bytes))
      }
    }
    // Member names are unique, so all members are known if the counts are equal.
    guard found.count == members.count else {
      let unknown = members.first { !known.contains($0.name) }?.name ?? ""
      throw fault(
        "vp_token has \"\(shown(unknown))\", which is not a query id: \(known.sorted().joined(separator: ", "))")
    }
    return found
  }
}

extension Code {
  public static let envelopeNotEncrypted = Code(
    "envelope.not_encrypted", "The request asked for an encrypted response, but the response is unencrypted",
    "\(openID), 8.3",
    "Treat the response as forged or as a wallet's fault; request again with a new session.",
    passes: "The response is encrypted")
  public static let jweKeyUnknown = Code(
    "jwe.key_unknown", "The JWE is not encrypted to this session's key", "RFC 7516, 4.1.6", .forged,
    passes: "The JWE is encrypted to this session's key")
  public static let responseModeMismatch = Code(
    "envelope.response_mode_mismatch", "The request asked for unencrypted parameters, but the response is a JWT",
    "\(openID), 8.2",
    "Report it to the wallet's maker, or ask for an encrypted response (`direct_post.jwt`, `dc_api.jwt`).",
    passes: "The response's parameters are unencrypted, as requested")
  public static let stateMismatch = Code(
    "session.state_mismatch", "The response does not have the state of this session's request",
    "RFC 6749, 4.1.1; \(openID), 8.2", .forged, passes: "The response's state, if any, is this session's")
  public static let stateMissing = Code(
    "session.state_missing", "The response lacks the request's state", "RFC 6749, 4.1.2; \(openID), 8.2", .wallet,
    passes: "The response carries the request's state", warns: true)
  public static let vpTokenMalformed = Code(
    "vp_token.malformed", "`vp_token` is not an object with an array of base64url presentations for each query",
    "\(openID), 8.1", .wallet, passes: "The vp_token is well-formed")
  public static let vpTokenIncomplete = Code(
    "vp_token.incomplete", "`vp_token` has no presentation for a required query", "\(openID), 8.1", .wallet,
    passes: "The vp_token has a presentation for each required query")
  public static let walletAccessDenied = Code(
    "wallet.access_denied", "The person declined, or the wallet has no matching document", "\(openID), 8.5",
    "Offer another way, or request again with a new session.")
  public static let walletInvalidRequest = Code(
    "wallet.invalid_request", "The wallet found the request malformed", "\(openID), 8.5", .walletRequest)
  public static let walletInvalidClient = Code(
    "wallet.invalid_client", "The wallet does not know or trust this client", "\(openID), 8.5",
    "Check the reader's certificate, and that its authority is registered with the wallet.")
  public static let walletFormatsNotSupported = Code(
    "wallet.vp_formats_not_supported", "The wallet has no mdoc, or none with these algorithms", "\(openID), 8.5",
    .walletRequest)
  public static let walletInvalidRequestURIMethod = Code(
    "wallet.invalid_request_uri_method", "The wallet does not know the method for `request_uri`", "\(openID), 8.5",
    .walletRequest)
  public static let walletInvalidTransactionData = Code(
    "wallet.invalid_transaction_data", "The wallet does not accept the transaction data", "\(openID), 8.5",
    .walletRequest)
  public static let walletUnavailable = Code(
    "wallet.unavailable", "The wallet is temporarily unable to respond", "\(openID), 8.5",
    "Request again with a new session.")
  public static let walletOtherError = Code(
    "wallet.other_error", "The wallet returned an error that the standard does not list", "\(openID), 8.5",
    .walletRequest)
}

extension Code.Remedy {
  static let walletRequest: Self =
    "Compare the request with what the wallet supports. If the request is right, report it to the wallet's maker."
}

extension CodeGroup {
  public static let envelope = CodeGroup(
    "Envelope: Apple in-app, Annex C, JWE",
    [
      .envelopeMalformed, .envelopeAlgorithmUnsupported, .envelopeModeUnsupported, .envelopeEncapsulatedKeyInvalid,
      .envelopeRecipientKeyUnknown, .envelopeTranscriptMismatch, .envelopeDecryptionFailed, .envelopePlaintextMalformed,
      .envelopeNotEncrypted, .jweHeaderInvalid, .jweAlgorithmUnsupported, .jweCompressionNotAllowed, .jweKeyUnknown,
      .jweEphemeralKeyInvalid, .jwePlaintextTooLarge, .responseModeMismatch,
    ])
  public static let openID4VP = CodeGroup(
    "Parameters of OpenID4VP",
    [.stateMismatch, .stateMissing, .vpTokenMalformed, .vpTokenIncomplete])
  public static let walletRefusals = CodeGroup(
    "A wallet's own refusal",
    [
      .walletAccessDenied, .walletInvalidRequest, .walletInvalidClient, .walletFormatsNotSupported,
      .walletInvalidRequestURIMethod, .walletInvalidTransactionData, .walletUnavailable, .walletOtherError,
    ])
}
