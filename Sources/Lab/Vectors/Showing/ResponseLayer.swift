import Base
import CBOR
import Cryptography
import JOSE
import Presentation

/// One layer of a vector's input: the input itself, or the content that the session's key decrypts.
package struct ResponseLayer: Sendable {
  package enum Content: Sendable {
    /// CBOR, or bytes that should be CBOR.
    case cbor([UInt8])
    case json(JSON)
    case bytes([UInt8])
  }

  package let title: String
  package let content: Content
  /// True if the next layer is the content of this one.
  package var isOpened = false
}

extension TestVector {
  /// The layers from the outside in. If an envelope cannot be decrypted, it is the only layer.
  package var layers: [ResponseLayer] {
    let bytes = input.bytes
    switch session {
    case .proximity: return [.init(title: "DeviceResponse", content: .cbor(bytes))]
    case .appleInApp(let session): return Self.layers("Envelope", bytes, Self.open(bytes, session))
    case .annexC(let session): return Self.layers("EncryptedResponse", bytes, Self.open(bytes, session))
    case .openID4VP(let session): return Self.layers(ofParameters: bytes, session.encryptionKey)
    case .list(let list):
      switch list.format {
      case .vical: return [.init(title: "VICAL", content: .cbor(bytes))]
      case .trustedEntities: return Self.layers(ofToken: bytes)
      }
    }
  }

  private static func layers(_ title: String, _ bytes: [UInt8], _ plaintext: [UInt8]?) -> [ResponseLayer] {
    [.init(title: title, content: .cbor(bytes), isOpened: plaintext != nil)]
      + (plaintext.map { [.init(title: "Decrypted content", content: .cbor($0))] } ?? [])
  }

  /// `{"algorithm", "data", "params": {"mode", "pkEm", "pkRHash", "infoHash"}}`.
  private static func open(_ bytes: [UInt8], _ session: VectorSession.AppleInApp) -> [UInt8]? {
    guard let item = try? CBORItem(parsing: bytes), let data = item[key: "data"]?.bytes,
      let point = item[key: "params"]?[key: "pkEm"]?.bytes,
      let key = try? PrivateKey(curve: .p256, scalar: session.recipientKey),
      let challenge = try? AppleChallenge(
        nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID)
    else { return nil }
    let transcript = AppleInspection(of: challenge, recipient: key.publicKey).transcript
    return try? HPKE.p256SHA256AES128GCM.open(
      data, encapsulatedKey: point, recipient: key, info: transcript.encoded)
  }

  /// `["dcapi", {"enc", "cipherText"}]`.
  private static func open(_ bytes: [UInt8], _ session: VectorSession.AnnexC) -> [UInt8]? {
    guard let parts = (try? CBORItem(parsing: bytes))?.elements.map({ Array($0) }), parts.count == 2,
      let data = parts[1][key: "cipherText"]?.bytes, let point = parts[1][key: "enc"]?.bytes,
      let key = try? PrivateKey(curve: .p256, scalar: session.recipientKey)
    else { return nil }
    let transcript = AnnexCChallenge.transcript(encryptionInfo: session.encryptionInfo, origin: session.origin)
    return try? HPKE.p256SHA256AES128GCM.open(
      data, encapsulatedKey: point, recipient: key, info: transcript.encoded)
  }

  private static func layers(ofParameters bytes: [UInt8], _ key: [UInt8]?) -> [ResponseLayer] {
    guard let parameters = try? JSON(parsing: bytes) else {
      return [.init(title: "Response parameters", content: .bytes(bytes))]
    }
    guard let token = parameters["response"]?.string, let header = json(ofPart: 0, of: token) else {
      return layers("Response parameters", parameters)
    }
    let scalar = key.flatMap { try? PrivateKey(curve: .p256, scalar: $0) }
    let plaintext = scalar.flatMap { try? CompactJWE(parsing: token.utf8).decrypt(with: $0) }
    let shown = parameters.replacing("response", with: "(a JWE, below)")
    let outer = [
      ResponseLayer(title: "Response parameters", content: .json(shown)),
      ResponseLayer(title: "Header of the JWE", content: .json(header)),
    ]
    guard let plaintext else { return outer }
    guard let inner = try? JSON(parsing: plaintext) else {
      return outer + [.init(title: "Decrypted content", content: .bytes(plaintext))]
    }
    return outer + layers("Decrypted content", inner)
  }

  /// Parameters, and the DeviceResponses in their `vp_token`.
  private static func layers(_ title: String, _ parameters: JSON) -> [ResponseLayer] {
    var responses: [ResponseLayer] = []
    func withoutResponses(_ json: JSON, _ name: String) -> JSON {
      if let text = json.string, text.utf8.count > 100 {
        // In a form, a JSON value is a string: parse it.
        if let inner = try? JSON(parsing: Array(text.utf8)) { return withoutResponses(inner, name) }
        guard let bytes = Base64.decodeURLSafe(text) else { return json }
        responses.append(.init(title: "DeviceResponse of \(name)", content: .cbor(bytes)))
        return "(a DeviceResponse, below)"
      }
      if let elements = json.array { return .array(elements.map { withoutResponses($0, name) }) }
      guard let members = json.object else { return json }
      return .object(members.map { .init($0.name, withoutResponses($0.value, $0.name)) })
    }
    let shown = parameters["vp_token"].map { parameters.replacing("vp_token", with: withoutResponses($0, "vp_token")) }
    return [.init(title: title, content: .json(shown ?? parameters))] + responses
  }

  /// A list of trusted entities, signed as a compact JWS or unsigned.
  private static func layers(ofToken bytes: [UInt8]) -> [ResponseLayer] {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let header = json(ofPart: 0, of: text), let payload = json(ofPart: 1, of: text) else {
      return [.init(title: "List", content: (try? JSON(parsing: bytes)).map { .json($0) } ?? .bytes(bytes))]
    }
    return [.init(title: "Header", content: .json(header)), .init(title: "Payload", content: .json(payload))]
  }

  private static func json(ofPart index: Int, of token: String) -> JSON? {
    let parts = token.split(separator: ".", maxSplits: 5, omittingEmptySubsequences: false)
    guard parts.count > 2 else { return nil }
    return Base64.decodeURLSafe(String(parts[index])).flatMap { try? JSON(parsing: $0) }
  }
}

extension JSON {
  fileprivate func replacing(_ name: String, with value: JSON) -> JSON {
    .object((object ?? []).map { $0.name == name ? .init(name, value) : $0 })
  }
}
