import Base
import CBOR

/// The place where a document's status is published (ISO/IEC 18013-5, second edition, 12.3.6): a member of the mobile
/// security object's `status`, which the issuer signed.
public struct StatusReference: Sendable, Hashable {
  public let place: Place
  /// The address of the list, which is also the list's subject.
  public let uri: String
  /// DER of the certificate that must have issued the top certificate of the list signer's chain; nil means the
  /// document's own anchor.
  public let certificate: [UInt8]?

  public enum Place: Sendable, Hashable {
    /// An entry of a status list (Token Status List, 6.1).
    case statusList(index: UInt64)
    /// A name that is on an identifier list if the document is revoked.
    case identifierList(identifier: [UInt8])
  }

  public init(_ place: Place, uri: String, certificate: [UInt8]? = nil) {
    self.place = place
    self.uri = uri
    self.certificate = certificate
  }

  /// Addresses are the same by their bytes only: text that is canonically equivalent is another address.
  public static func == (left: Self, right: Self) -> Bool {
    left.place == right.place && left.uri.hasSameBytes(as: right.uri) && left.certificate == right.certificate
  }
}

/// The places where a document's status is published, as its mobile security object declares them (ISO/IEC 18013-5,
/// second edition, 12.3.6). A declaration that can't be used is kept with the reason, so that none is ignored.
public struct DeclaredStatus: Sendable, Hashable {
  /// One declaration for each mechanism of the standard. If only other mechanisms are declared, one `unusable` says so.
  public let declarations: [Declaration]

  public enum Declaration: Sendable, Hashable {
    case reference(StatusReference)
    case unusable(RevocationUncertainty, detail: String)
  }

  /// The document declares no status at all.
  public static let none = DeclaredStatus(declarations: [])

  public var isNone: Bool { declarations.isEmpty }
  public var references: [StatusReference] {
    declarations.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
  }

  /// - Parameter item: `status` of the mobile security object.
  init(parsing item: CBORItem) throws(MdocParseError) {
    _ = try StructureParser(code: .msoMalformed).entries(item, "status")
    var declarations: [Declaration] = []
    if let info = item[key: "status_list"] { declarations.append(Self.statusList(info)) }
    if let info = item[key: "identifier_list"] { declarations.append(Self.identifierList(info)) }
    if declarations.isEmpty {
      declarations.append(.unusable(.mechanismUnsupported, detail: "neither status_list nor identifier_list"))
    }
    self.declarations = declarations
  }

  private init(declarations: [Declaration]) { self.declarations = declarations }

  /// StatusListInfo.
  private static func statusList(_ info: CBORItem) -> Declaration {
    guard let index = info[key: "idx"] else { return unusable("status_list has no idx") }
    guard let index = index.unsigned, index <= UInt64(Int64.max) else {
      return .unusable(.statusIndexOutOfRange, detail: "idx is no unsigned integer below 2^63")
    }
    return reference(.statusList(index: index), in: info)
  }

  /// IdentifierListInfo. Its identifier must be a byte string, as in a list; the same text is another identifier.
  private static func identifierList(_ info: CBORItem) -> Declaration {
    guard let identifier = info[key: "id"]?.bytes, !identifier.isEmpty else {
      return unusable("identifier_list has no id that is a byte string")
    }
    return reference(.identifierList(identifier: Array(identifier)), in: info)
  }

  private static func reference(_ place: StatusReference.Place, in info: CBORItem) -> Declaration {
    guard let uri = info[key: "uri"]?.text, !uri.isEmpty, uri.utf8.count <= Limits.listAddressBytes else {
      return unusable("uri is missing, no text, or longer than \(Limits.listAddressBytes) bytes")
    }
    guard let certificate = info[key: "certificate"] else { return .reference(StatusReference(place, uri: uri)) }
    guard let certificate = certificate.bytes, (1...Limits.certificateBytes).contains(certificate.count) else {
      return unusable("certificate is no byte string, or longer than \(Limits.certificateBytes) bytes")
    }
    return .reference(StatusReference(place, uri: uri, certificate: Array(certificate)))
  }

  private static func unusable(_ detail: String) -> Declaration { .unusable(.statusListInvalid, detail: detail) }
}
