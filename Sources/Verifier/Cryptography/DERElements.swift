import COpenSSL

/// Reads DER element by element (X.690), without OpenSSL's decoders: they choose the algorithm by what they read, and do
/// its work before anybody could ask which it is.
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

  /// The content of the next element, which then is behind; nil, and nothing moves, where it has another tag or is cut.
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

  /// The elements of the next one.
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
