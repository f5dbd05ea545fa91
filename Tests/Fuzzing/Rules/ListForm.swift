import Base
import CBOR
import Cryptography

@testable import Mock

/// The forms of signed lists that the verifier fetches.
enum ListForm: Int, CaseIterable {
  case vical, trustedEntities, statusList, identifierList, revocationList

  /// The mock's publications in this form, right and wrong, except those with filler.
  func published(by authority: MockAuthority, at now: Timestamp) throws -> [[UInt8]] {
    let lists = try MockList.all(kind).map { try $0.published(by: authority, now: now) }
    return lists.filter { $0.count <= 16 << 10 }
  }

  /// The signed part of a list, without the header; nil if there is none.
  func payload(of list: [UInt8]) -> [UInt8]? {
    switch self {
    case .trustedEntities: Self.payload(ofCompact: list)
    case .statusList where list.first == UInt8(ascii: "e"): Self.payload(ofCompact: list)
    case .vical, .statusList, .identifierList: Self.payload(ofCOSE: list)
    case .revocationList: Self.signedPart(ofDER: list)
    }
  }

  /// A list with this payload, correctly signed.
  func signed(_ payload: [UInt8], by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    guard self == .revocationList else {
      var draft = try ListDraft(kind, authority: authority, at: now)
      try draft.make(MockMutation(Stages.signed) { $0.payload = payload })
      return draft.bytes
    }
    let key = try authority.certificateIssuer(.good).key
    let algorithm = CertificateAlgorithm(curve: key.curve)
    return DER.sequence(payload, algorithm.der, DER.bitString(try algorithm.sign(payload, with: key)))
  }

  private var kind: MockList.Kind {
    switch self {
    case .vical: .vical
    case .trustedEntities: .trustedEntities
    case .statusList: .status
    case .identifierList: .identifiers
    case .revocationList: .crl
    }
  }

  private static func payload(ofCompact list: [UInt8]) -> [UInt8]? {
    let parts = list.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3 else { return nil }
    return Base64.decodeURLSafe(String(decoding: parts[1], as: UTF8.self))
  }

  private static func payload(ofCOSE list: [UInt8]) -> [UInt8]? {
    guard let item = try? CBORItem(parsing: list) else { return nil }
    let parts = (item.content(ofTag: 18) ?? item).elementList
    guard parts.count == 4 else { return nil }
    return parts[2].bytes.map { Array($0) }
  }

  /// The first element of a sequence, whole.
  private static func signedPart(ofDER list: [UInt8]) -> [UInt8]? {
    guard let content = header(of: list[...]).map({ list.dropFirst($0.header) }), let part = header(of: content),
      part.header + part.length <= content.count
    else { return nil }
    return Array(content.prefix(part.header + part.length))
  }

  private static func header(of der: ArraySlice<UInt8>) -> (header: Int, length: Int)? {
    guard let first = der.dropFirst().first else { return nil }
    guard first > 0x80 else { return (2, Int(first)) }
    let octets = der.dropFirst(2).prefix(Int(first & 0x7f))
    guard octets.count == Int(first & 0x7f), octets.count <= 3 else { return nil }
    return (2 + octets.count, octets.reduce(0) { $0 << 8 | Int($1) })
  }
}
