import COpenSSL

/// A private key's DER, read up to its curve and its scalar: `PrivateKeyInfo` (RFC 5958, 2; RFC 8410, 7) or SEC 1's
/// `ECPrivateKey` (RFC 5915, 3).
///
/// The curve is read first. A key of another kind is refused at once: its numbers have no bound, and OpenSSL checks
/// them when it decodes them, which takes minutes for some thousand bits of RSA.
struct PrivateKeyInfo {
  let curve: Curve
  /// A view into the bytes that were read, as long as the file wrote it.
  private let scalar: UnsafeRawBufferPointer
  /// The public half, if the file has it beside the scalar; otherwise nil.
  private let point: UnsafeRawBufferPointer?

  /// - Throws: `unsupportedKey` for a key that is not on one of our named curves.
  init(_ der: UnsafeRawBufferPointer) throws(CryptoError) {
    var outer = DERElements(der)
    guard var info = outer.nested(.sequence), info.next(.integer) != nil,
      var algorithm = info.nested(.sequence), let content = info.next(.octetString)
    else { throw .invalidPrivateKey }
    let curve = try Self.curve(&algorithm)
    var inner = DERElements(content)
    guard curve.family == .weierstrass else {
      guard let scalar = inner.next(.octetString) else { throw .invalidPrivateKey }
      self.init(curve: curve, scalar: scalar, point: nil)
      return
    }
    try self.init(ecPrivateKey: content, on: curve)
  }

  /// - Parameter expected: The curve that is already known; nil if the key itself must name it.
  init(ecPrivateKey der: UnsafeRawBufferPointer, on expected: Curve? = nil) throws(CryptoError) {
    var outer = DERElements(der)
    guard var key = outer.nested(.sequence), key.number() == 1, let scalar = key.next(.octetString) else {
      throw .invalidPrivateKey
    }
    var curve = expected
    if var parameters = key.nested(.first) {
      guard let named = parameters.next(.object).flatMap(Self.namedCurve) else { throw .unsupportedKey }
      guard expected == nil || expected == named else { throw .invalidPrivateKey }
      curve = named
    }
    guard let curve else { throw .unsupportedKey }
    var publicHalf = key.nested(.second)
    self.init(curve: curve, scalar: scalar, point: publicHalf?.next(.bitString))
  }

  private init(curve: Curve, scalar: UnsafeRawBufferPointer, point: UnsafeRawBufferPointer?) {
    self.curve = curve
    self.scalar = scalar
    self.point = point
  }

  /// The key. Its public half is computed, and must equal the file's if the file has one.
  func key() throws(CryptoError) -> KeyPair {
    guard curve.family == .weierstrass else { return try KeyPair(curve, scalar: scalar) }
    // The scalar is a number: some programs leave out its leading zeros, others add one.
    let digits = scalar.drop { $0 == 0 }
    let length = curve.coordinateLength
    guard digits.count <= length else { throw .invalidPrivateKey }
    let padded = try SecretBytes(count: length) { buffer throws(CryptoError) in
      buffer.initializeMemory(as: UInt8.self, repeating: 0)
      UnsafeMutableRawBufferPointer(rebasing: buffer[(length - digits.count)...])
        .copyBytes(from: digits)
    }
    let pair = try padded.withUnsafeBytes { bytes throws(CryptoError) in try KeyPair(curve, scalar: bytes) }
    guard point.map({ isEncoding($0, of: pair.point) }) ?? true else {
      EVP_PKEY_free(pair.pkey)
      throw .invalidPrivateKey
    }
    return pair
  }

  /// Whether the bit string's whole bytes are the point, compressed or not.
  private func isEncoding(_ bits: UnsafeRawBufferPointer, of point: [UInt8]) -> Bool {
    guard bits.first == 0 else { return false }
    let encoding = bits.dropFirst()
    let sign: UInt8 = point.last.map { $0 & 1 } ?? 0
    return encoding.elementsEqual(point)
      || encoding.elementsEqual([0x02 | sign] + point[1...curve.coordinateLength])
  }

  /// `id-ecPublicKey` with a named curve, or an Edwards or Montgomery curve.
  private static func curve(_ algorithm: inout DERElements) throws(CryptoError) -> Curve {
    guard let identifier = algorithm.next(.object) else { throw .invalidPrivateKey }
    if DERElements.isObject(identifier, NID_X9_62_id_ecPublicKey) {
      guard let curve = algorithm.next(.object).flatMap(namedCurve) else { throw .unsupportedKey }
      return curve
    }
    guard let curve = curve(identifier), curve.family != .weierstrass else { throw .unsupportedKey }
    return curve
  }

  private static func namedCurve(_ identifier: UnsafeRawBufferPointer) -> Curve? {
    curve(identifier).flatMap { $0.family == .weierstrass ? $0 : nil }
  }

  private static func curve(_ identifier: UnsafeRawBufferPointer) -> Curve? {
    Curve.allCases.first { DERElements.isObject(identifier, $0.nid) }
  }
}

/// Reads DER element by element (X.690), without OpenSSL's decoders. Those choose the algorithm by what they read, and
/// do its work before anybody can ask which one it is.
struct DERElements {
  enum Tag: UInt8 {
    case integer = 0x02
    case bitString = 0x03
    case octetString = 0x04
    case object = 0x06
    case sequence = 0x30
    case first = 0xa0
    case second = 0xa1
  }

  private var rest: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

  /// The content of the next element, which is then consumed. Nil, with nothing consumed, if it has another tag or
  /// is cut off.
  mutating func next(_ tag: Tag) -> UnsafeRawBufferPointer? {
    guard rest.count >= 2, rest[0] == tag.rawValue else { return nil }
    var start = 2
    var length = Int(rest[1])
    if length >= 0x80 {
      start += length & 0x7f
      // Three octets of length are 16 MiB.
      guard (3...5).contains(start), rest.count >= start else { return nil }
      length = rest[2..<start].reduce(0) { $0 << 8 | Int($1) }
    }
    guard length <= rest.count - start else { return nil }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest[(start + length)...]) }
    return UnsafeRawBufferPointer(rebasing: rest[start..<(start + length)])
  }

  /// The elements inside the next element.
  mutating func nested(_ tag: Tag) -> DERElements? { next(tag).map(DERElements.init) }

  /// A whole number that is not negative, or nil for one of more than 62 bits.
  mutating func number() -> Int? {
    guard let content = next(.integer), let first = content.first, first < 0x80 else { return nil }
    let digits = content.drop { $0 == 0 }
    guard digits.count < 8 else { return nil }
    return digits.reduce(0) { $0 << 8 | Int($1) }
  }

  /// OpenSSL's number of an object identifier's content.
  static func isObject(_ content: UnsafeRawBufferPointer, _ nid: Int32) -> Bool {
    guard let object = OBJ_nid2obj(nid) else { return false }
    return UnsafeRawBufferPointer(start: OBJ_get0_data(object), count: OBJ_length(object)).elementsEqual(content)
  }
}
