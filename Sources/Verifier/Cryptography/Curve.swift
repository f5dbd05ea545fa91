import COpenSSL

/// The curves of ISO/IEC 18013-5, Table 22 (cipher suite 1), with their sizes.
public enum Curve: String, Sendable, Hashable, CaseIterable {
  case p256 = "P-256"
  case p384 = "P-384"
  case p521 = "P-521"
  case brainpoolP256r1, brainpoolP320r1, brainpoolP384r1, brainpoolP512r1
  case ed25519 = "Ed25519"
  case ed448 = "Ed448"
  case x25519 = "X25519"
  case x448 = "X448"

  public enum Family: Sendable { case weierstrass, edwards, montgomery }

  public var family: Family {
    switch self {
    case .ed25519, .ed448: .edwards
    case .x25519, .x448: .montgomery
    default: .weierstrass
    }
  }

  /// Bytes of one coordinate, of the raw key on Edwards and Montgomery curves, and of a shared secret.
  public var coordinateLength: Int {
    switch self {
    case .p256, .brainpoolP256r1, .ed25519, .x25519: 32
    case .brainpoolP320r1: 40
    case .p384, .brainpoolP384r1: 48
    case .brainpoolP512r1: 64
    case .p521: 66
    case .ed448: 57
    case .x448: 56
    }
  }

  /// Bytes of a raw signature (r‖s, or as RFC 8032 has it), or nil for curves that do not sign.
  public var signatureLength: Int? { family == .montgomery ? nil : 2 * coordinateLength }

  var nid: Int32 {
    switch self {
    case .p256: NID_X9_62_prime256v1
    case .p384: NID_secp384r1
    case .p521: NID_secp521r1
    case .brainpoolP256r1: NID_brainpoolP256r1
    case .brainpoolP320r1: NID_brainpoolP320r1
    case .brainpoolP384r1: NID_brainpoolP384r1
    case .brainpoolP512r1: NID_brainpoolP512r1
    case .ed25519: NID_ED25519
    case .ed448: NID_ED448
    case .x25519: NID_X25519
    case .x448: NID_X448
    }
  }

  /// OpenSSL's name of the group.
  var groupName: String { String(cString: OBJ_nid2sn(nid)) }

  /// The curve of OpenSSL's number.
  package init?(nid: Int32) {
    guard let curve = Curve.allCases.first(where: { $0.nid == nid }) else { return nil }
    self = curve
  }

  init?(groupName: String) {
    guard let curve = Curve.allCases.first(where: { $0.groupName == groupName }) else { return nil }
    self = curve
  }
}
