import Base
import CP11Kit
import Cryptography

/// The objects that a session sees.
struct TokenObjects {
  private let module: TokenModule
  private let session: CK_SESSION_HANDLE

  init(_ module: TokenModule, _ session: CK_SESSION_HANDLE) {
    self.module = module
    self.session = session
  }

  /// The objects of a class, restricted by label and identifier if these are given.
  func find(_ kind: CK_OBJECT_CLASS, label: [UInt8]?, id: [UInt8]?) throws(TokenModule.Failure) -> [CK_OBJECT_HANDLE] {
    let wanted: [(CK_ATTRIBUTE_TYPE, Template.Value)?] = [
      (CKA_CLASS, .number(kind)), label.map { (CKA_LABEL, .bytes($0)) }, id.map { (CKA_ID, .bytes($0)) },
    ]
    try Template(wanted.compactMap(\.self)).use { attributes, count throws(TokenModule.Failure) in
      try module.call { $0.C_FindObjectsInit?(session, attributes, count) }
    }
    defer { try? module.call { $0.C_FindObjectsFinal?(session) } }
    var all: [CK_OBJECT_HANDLE] = []
    while all.count < Limits.tokenObjects {
      var (handles, count) = ([CK_OBJECT_HANDLE](repeating: 0, count: 64), CK_ULONG(0))
      try module.call { $0.C_FindObjects?(session, &handles, CK_ULONG(handles.count), &count) }
      guard count > 0 else { break }
      all += handles.prefix(Int(count))
    }
    return all
  }

  /// The only object of this class and name.
  func only(_ kind: CK_OBJECT_CLASS, of uri: TokenURI, hasPIN: Bool) throws(TokenError) -> CK_OBJECT_HANDLE {
    let what = kind == CKO_PRIVATE_KEY ? "private" : "secret"
    if let type = uri.attribute(CKA_CLASS), type != withUnsafeBytes(of: kind, Array.init) {
      throw .refused("\(uri.path) has a type that is not a \(what) key's; omit type")
    }
    let found = try module.reporting(uri) { () throws(TokenModule.Failure) in
      try find(kind, label: uri.label, id: uri.id)
    }
    if found.count == 1 { return found[0] }
    guard found.isEmpty else { throw .refused("\(uri.path) names \(found.count) \(what) keys; add id=") }
    throw .refused(
      "\(uri.path): the token has no such \(what) key"
        + (hasPIN ? "" : ", or shows it only with a PIN; add pin-source=file:/path"))
  }

  /// An attribute's value; nil if the object lacks it or hides it.
  func bytes(_ type: CK_ATTRIBUTE_TYPE, of object: CK_OBJECT_HANDLE) -> [UInt8]? {
    var attribute = CK_ATTRIBUTE(type: type, pValue: nil, ulValueLen: 0)
    guard (try? module.call { $0.C_GetAttributeValue?(session, object, &attribute, 1) }) != nil,
      attribute.ulValueLen <= Limits.tokenAttributeBytes
    else { return nil }
    var value = [UInt8](repeating: 0, count: Int(attribute.ulValueLen))
    let isRead = value.withUnsafeMutableBytes { buffer in
      attribute.pValue = buffer.baseAddress
      return (try? module.call { $0.C_GetAttributeValue?(session, object, &attribute, 1) }) != nil
    }
    return isRead && attribute.ulValueLen == value.count ? value : nil
  }

  func flag(_ type: CK_ATTRIBUTE_TYPE, of object: CK_OBJECT_HANDLE) -> Bool { bytes(type, of: object) == [1] }

  func number(_ type: CK_ATTRIBUTE_TYPE, of object: CK_OBJECT_HANDLE) -> CK_ULONG? {
    bytes(type, of: object).flatMap { bytes in
      bytes.count == MemoryLayout<CK_ULONG>.size ? bytes.withUnsafeBytes { $0.loadUnaligned(as: CK_ULONG.self) } : nil
    }
  }

  func curve(of key: CK_OBJECT_HANDLE) -> Curve? {
    let parameters = bytes(CKA_EC_PARAMS, of: key)
    return Curve.allCases.first { $0.family == .weierstrass && $0.parameters == parameters }
  }

  /// The public key of a private key: found by its identifier or, without one, its label; or in the private key itself.
  func publicKey(of key: CK_OBJECT_HANDLE) -> PublicKey? {
    guard let curve = curve(of: key) else { return nil }
    let id = bytes(CKA_ID, of: key) ?? []
    let label = bytes(CKA_LABEL, of: key)
    let beside = try? find(CKO_PUBLIC_KEY, label: id.isEmpty ? label : nil, id: id.isEmpty ? nil : id)
    return ((beside ?? []) + [key]).lazy.compactMap { point(of: $0, on: curve) }.first
  }

  /// CKA_EC_POINT: an OCTET STRING in DER, or, from some tokens, only the point.
  func point(of key: CK_OBJECT_HANDLE, on curve: Curve) -> PublicKey? {
    guard let value = bytes(CKA_EC_POINT, of: key) else { return nil }
    let length = 1 + 2 * curve.coordinateLength
    let head: [UInt8] = length < 0x80 ? [0x04, UInt8(length)] : [0x04, 0x81, UInt8(length)]
    guard value.count == length || value.starts(with: head) && value.count == head.count + length else { return nil }
    return try? PublicKey(curve: curve, encoded: value.suffix(length))
  }
}

/// Attributes for a call.
struct Template {
  enum Value {
    case flag(Bool)
    case number(CK_ULONG)
    case bytes([UInt8])

    fileprivate var bytes: [UInt8] {
      switch self {
      case .flag(let flag): [flag ? 1 : 0]
      case .number(let number): withUnsafeBytes(of: number) { Array($0) }
      case .bytes(let bytes): bytes
      }
    }
  }

  private let values: [(CK_ATTRIBUTE_TYPE, Value)]

  init(_ values: [(CK_ATTRIBUTE_TYPE, Value)]) { self.values = values }

  func use<E: Error>(_ body: (UnsafeMutablePointer<CK_ATTRIBUTE>, CK_ULONG) throws(E) -> Void) throws(E) {
    let all = values.map { (type: $0, bytes: $1.bytes) }
    // The module reads numbers in place, so each value is aligned for a number.
    let size = all.reduce(0) { $0 + ($1.bytes.count + 7) / 8 * 8 }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 8), alignment: 8)
    defer { memory.deallocate() }
    var start = 0
    var attributes = all.map { type, bytes in
      let part = UnsafeMutableRawBufferPointer(rebasing: memory[start..<(start + bytes.count)])
      part.copyBytes(from: bytes)
      start += (bytes.count + 7) / 8 * 8
      return CK_ATTRIBUTE(type: type, pValue: part.baseAddress, ulValueLen: CK_ULONG(bytes.count))
    }
    try body(&attributes, CK_ULONG(attributes.count))
  }
}

extension TokenModule {
  /// Text of fixed width, padded with spaces.
  static func text<Padded>(of padded: Padded) -> String {
    withUnsafeBytes(of: padded) { bytes in
      let end = bytes.lastIndex { $0 != 0x20 && $0 != 0 }.map { $0 + 1 } ?? 0
      return String(decoding: bytes[..<end], as: UTF8.self)
    }
  }
}
