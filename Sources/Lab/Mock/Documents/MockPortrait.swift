import Base

/// An illustrated face, 144 × 180 pixels: a real baseline JPEG of 3 kB that shows nobody.
package enum MockPortrait {
  package static let jpeg: [UInt8] = Base64.decode(portraitBase64) ?? []

  /// The same picture in exactly `size` bytes, filled up with comments (ITU-T T.81, B.2.4.5) behind the start of the
  /// image; unchanged where it is as large already.
  package static func jpeg(padded size: Int) -> [UInt8] {
    var missing = size - jpeg.count
    guard missing > 0 else { return jpeg }
    var filling: [UInt8] = []
    while missing > 0 {
      guard missing >= 4 else {
        // Any marker may be preceded by fill bytes (B.1.1.2).
        filling += [UInt8](repeating: 0xff, count: missing)
        break
      }
      // A segment is its marker, two bytes of length that count themselves, and the comment.
      let length = min(missing - 2, 0xffff)
      filling += [0xff, 0xfe, UInt8(length >> 8), UInt8(length & 0xff)]
      filling += (0..<(length - 2)).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
      missing -= length + 2
    }
    return jpeg[..<2] + filling + jpeg[2...]
  }
}
