import Base
import CBOR
import Cryptography

/// All that is decided about one document before anything is signed.
struct AnswerSetup: Sendable {
  typealias Element = (namespace: String, identifier: String)

  let authority: MockAuthority
  let now: Timestamp
  /// The answer's own seed.
  let seed: MockSeed
  let requested: MockRequest.Document
  /// All documents that the wallet holds.
  let held: [MockDocumentData]

  var data: MockDocumentData
  var signer: MockSigner
  var deviceKey: PrivateKey
  var digestAlgorithm = HashAlgorithm.sha256
  var digestAlgorithmName = "SHA-256"
  var validity: ValidityInfo
  var keyAuthorizations: CBORValue?
  var status: CBORValue?
  /// Elements that are returned although they were not requested, and elements that are withheld although they were.
  var added: [Element] = []
  var withheld: [Element] = []
  /// Elements that the device itself signs.
  var deviceSigned: [(namespace: String, elements: [(identifier: String, value: CBORValue)])] = []
  var style = EncodingStyle.shortest

  /// The namespace of the document's main elements: the one that has the birth date, else the first.
  var mainNamespace: String {
    data.namespaces.first { $0["birth_date"] != nil }?.name ?? data.namespaces.first?.name ?? "org.example.empty"
  }

  /// A requested element that the document has. Variants change this one.
  var anyRequested: Element {
    requested.elements.first { data[$0.namespace, $0.identifier] != nil && ageThreshold(of: $0.identifier) == nil }
      ?? (mainNamespace, data.namespaces.first { $0.name == mainNamespace }?.elements.first?.identifier ?? "none")
  }

  /// The elements that are returned: those that were requested and that the document has (ISO/IEC 18013-5, 8.3.2.1.2.2
  /// and 7.2.5), with those that a variant adds and without those that it withholds.
  func disclosed(of data: MockDocumentData) -> [Element] {
    var chosen: [Element] = []
    func choose(_ element: Element) {
      let isWithheld = withheld.contains { $0 == element }
      if !isWithheld, !chosen.contains(where: { $0 == element }) { chosen.append(element) }
    }
    for element in requested.elements {
      if let threshold = ageThreshold(of: element.identifier) {
        if let nearest = nearest(threshold, in: element.namespace, of: data) { choose(nearest) }
      } else if data[element.namespace, element.identifier] != nil {
        choose(element)
      }
    }
    for threshold in requested.ageOver {
      if let nearest = nearest(threshold, in: mainNamespace, of: data) { choose(nearest) }
    }
    for element in added { choose(element) }
    return chosen
  }

  private func nearest(_ threshold: Int, in namespace: String, of data: MockDocumentData) -> Element? {
    guard let elements = data.namespaces.first(where: { $0.name == namespace })?.elements else { return nil }
    let candidates = elements.filter { element in
      !withheld.contains { $0 == (namespace, element.identifier) }
    }
    return nearestAgeAttestation(to: threshold, in: candidates).map { (namespace, $0) }
  }
}

/// DeviceSigned that is still to be made (ISO/IEC 18013-5, 9.1.3): what the device signs or authenticates by a MAC, and
/// how.
struct DeviceAuthDraft: Sendable {
  /// The answer's own seed.
  let seed: MockSeed
  var transcript: [UInt8]
  var docType: String
  /// DeviceNameSpacesBytes, tag 24 included.
  var nameSpaces: [UInt8]
  var key: PrivateKey
  var hasSignature: Bool
  var hasMAC: Bool
  /// The reader's key, with which the MAC key is agreed; nil for a key that nobody has.
  var readerKey: PublicKey?
  /// The `info` of the MAC key's derivation.
  var macKeyInfo = "EMacKey"
  /// How many bytes of the MAC are sent.
  var truncatedMAC = 32
  var style = EncodingStyle.shortest
  var changeSignature: @Sendable (inout COSESign1Draft) throws -> Void = { _ in }
  var changeMAC: @Sendable (inout COSEMac0Draft) throws -> Void = { _ in }

  /// `#6.24(bstr .cbor ["DeviceAuthentication", SessionTranscript, DocType, DeviceNameSpacesBytes])`.
  var deviceAuthenticationBytes: [UInt8] {
    CBORValue.embedded([
      "DeviceAuthentication", .encoded(transcript), .text(docType), .encoded(nameSpaces),
    ]).encoded()
  }

  /// The parts of the device signature, which a variant may still change.
  func signatureParts() throws -> [CBORValue] {
    var draft = COSESign1Draft(payload: deviceAuthenticationBytes, isDetached: true, key: key)
    draft.style = style
    try changeSignature(&draft)
    return try draft.parts()
  }

  func macParts() throws -> [CBORValue] {
    var draft = COSEMac0Draft(payload: deviceAuthenticationBytes, key: try macKey())
    try changeMAC(&draft)
    var parts = draft.parts()
    parts.signature = Array(parts.signature.prefix(truncatedMAC))
    return parts
  }

  /// EMacKey (ISO/IEC 18013-5, 9.1.3.5). The salt of its derivation is SHA-256(SessionTranscriptBytes).
  private func macKey() throws -> [UInt8] {
    let curve = key.curve.family == .edwards ? Curve.p256 : key.curve
    let peer = try readerKey ?? seed.key("absent reader", on: curve).publicKey
    let agreeing = peer.curve == key.curve ? key : try seed.key("absent device", on: peer.curve)
    let salt = HashAlgorithm.sha256.hash(CBORValue.tagged(24, .bytes(transcript)).encoded())
    return try HKDF.deriveKey(
      from: try agreeing.sharedSecret(with: peer), salt: salt, info: Array(macKeyInfo.utf8), length: 32
    ).exposed()
  }
}
