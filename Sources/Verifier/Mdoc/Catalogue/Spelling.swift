/// Compares spellings for error texts.
enum Spelling {
  /// Whether one byte inserted, removed or replaced leads from one name to the other, or they differ in case alone.
  static func isOneSlip(_ left: String, _ right: String) -> Bool {
    let left = Array(left.utf8)
    let right = Array(right.utf8)
    guard left != right, abs(left.count - right.count) <= 1 else { return false }
    if left.count == right.count, left.elementsEqual(right, by: { lowercased($0) == lowercased($1) }) { return true }
    let start = zip(left, right).prefix { $0 == $1 }.count
    let end = zip(left[start...].reversed(), right[start...].reversed()).prefix { $0 == $1 }.count
    return max(left.count, right.count) - start - end <= 1
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
