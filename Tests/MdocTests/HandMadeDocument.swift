import Base
import CBOR
import Cryptography
import PKIX
import Trust

@testable import Mdoc
@testable import Mock

/// One handwritten document: only its signer's certificate comes from the mock wallet. Each part can be changed before
/// it is hashed or signed, and after.
struct HandMadeDocument {
  struct Item {
    var digestID: UInt64
    var identifier: String
    var value: CBORValue = "value"
    var random = [UInt8](repeating: 9, count: 16)

    /// `#6.24(bstr .cbor IssuerSignedItem)`.
    var encoded: [UInt8] {
      CBORValue.embedded([
        "digestID": .unsigned(digestID), "random": .bytes(random), "elementIdentifier": .text(identifier),
        "elementValue": value,
      ]).encoded()
    }
  }

  static let now = Timestamp(secondsSince1970: 1_795_000_000)
  static let docType = DocType.mDL
  static let namespace = Namespace.mDL

  /// The returned bytes.
  var items = [Item(digestID: 0, identifier: "given_name"), Item(digestID: 1, identifier: "family_name")]
  /// The hashed bytes, if they differ.
  var hashedItems: [Item]?
  var deviceKey: PublicKey?
  var deviceNamespaces: CBORValue = [:]
  var keyAuthorizations: CBORValue?
  /// The value in place of the digests.
  var otherDigests: CBORValue?

  var valueDigests: CBORValue {
    if let otherDigests { return otherDigests }
    let digests = (hashedItems ?? items).map { item in
      (key: CBORValue.unsigned(item.digestID), value: CBORValue.bytes(HashAlgorithm.sha256.hash(item.encoded)))
    }
    return [.text(Self.namespace): .map(digests)]
  }

  /// MobileSecurityObjectBytes, which the issuer signs.
  var mobileSecurityObject: [UInt8] {
    var deviceKeyInfo: [(key: CBORValue, value: CBORValue)] = []
    if let deviceKey { deviceKeyInfo.append(("deviceKey", Self.coseKey(deviceKey))) }
    if let keyAuthorizations { deviceKeyInfo.append(("keyAuthorizations", keyAuthorizations)) }
    func time(_ time: Timestamp) -> CBORValue { .tagged(0, .text("\(time)")) }
    return CBORValue.embedded([
      "version": "1.0", "digestAlgorithm": "SHA-256", "docType": .text(Self.docType), "valueDigests": valueDigests,
      "deviceKeyInfo": .map(deviceKeyInfo),
      "validityInfo": [
        "signed": time(Self.now), "validFrom": time(Self.now), "validUntil": time(Self.now + 86_400),
      ],
    ]).encoded()
  }

  func mso() throws -> MobileSecurityObject {
    try MobileSecurityObject(parsing: CBORItem(parsing: CBORValue.bytes(mobileSecurityObject).encoded()))
  }

  func document(deviceAuth: CBORValue = [:]) throws -> Document {
    let document: CBORValue = [
      "docType": .text(Self.docType),
      "issuerSigned": ["nameSpaces": [.text(Self.namespace): .array(items.map { .encoded($0.encoded) })]],
      "deviceSigned": ["nameSpaces": .embedded(deviceNamespaces), "deviceAuth": deviceAuth],
    ]
    return try Document(parsing: CBORItem(parsing: document.encoded()))
  }

  /// Of a key on P-256.
  static func coseKey(_ key: PublicKey) -> CBORValue {
    let point = key.encoded.dropFirst()
    return [1: 2, -1: 1, -2: .bytes(Array(point.prefix(32))), -3: .bytes(Array(point.suffix(32)))]
  }
}

/// A COSE_Sign1 or COSE_Mac0 of four fields, to be changed before and after it is signed.
struct HandMadeMessage {
  /// ES256, or HMAC 256/256.
  var algorithm: Int64
  var protected: [(key: CBORValue, value: CBORValue)] = []
  var unprotected: [(key: CBORValue, value: CBORValue)] = []
  /// The payload in the message; nil: it is detached.
  var payload: [UInt8]?

  private var protectedBytes: [UInt8] {
    CBORValue.map([(key: 1, value: .integer(algorithm))] + protected).encoded()
  }

  /// - Parameter context: `Signature1` or `MAC0` (RFC 9052, 4.4 and 6.3).
  func encoded(
    _ context: String, over signed: [UInt8], by sign: ([UInt8]) throws -> [UInt8]
  ) rethrows -> CBORValue {
    let structure: CBORValue = [.text(context), .bytes(protectedBytes), .bytes([]), .bytes(signed)]
    return [
      .bytes(protectedBytes), .map(unprotected), payload.map(CBORValue.bytes) ?? nil,
      .bytes(try sign(structure.encoded())),
    ]
  }
}

extension CheckList {
  func codes(_ outcome: Check.Outcome) -> [Code] { checks.filter { $0.outcome == outcome }.map(\.code) }
}
