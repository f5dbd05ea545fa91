import CQrencode

/// A QR code (ISO/IEC 18004) of a text, by libqrencode.
package struct QRCode: Sendable, Hashable {
  /// Modules on a side, without the quiet zone.
  package let size: Int
  private let darkModules: [Bool]

  /// Modules of white that readers need on each side.
  private static let quietZone = 4

  /// With error correction M, which restores 15 % of the code.
  ///
  /// - Throws: `QRCodeError` if the text is empty or does not fit: some 2 300 bytes do.
  package init(_ text: String) throws(QRCodeError) {
    // As bytes: the other modes are for kana and capitals.
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty,
      let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M)
    else { throw QRCodeError() }
    defer { QRcode_free(code) }
    size = Int(code.pointee.width)
    // The lowest bit of each module's byte is its colour.
    darkModules = UnsafeBufferPointer(start: code.pointee.data, count: size * size).map { $0 & 1 == 1 }
  }

  package func isDark(row: Int, column: Int) -> Bool { darkModules[row * size + column] }

  /// An image of one unit a module, with its quiet zone, black on white whatever surrounds it.
  package var svg: String {
    var path = ""
    for row in 0..<size {
      var column = 0
      while column < size {
        let start = column
        while column < size, isDark(row: row, column: column) { column += 1 }
        // A run of dark modules in a row is one rectangle.
        let length = column - start
        if length > 0 { path += "M\(start + Self.quietZone) \(row + Self.quietZone)h\(length)v1h-\(length)z" }
        column += 1
      }
    }
    let side = size + 2 * Self.quietZone
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
      <rect width="\(side)" height="\(side)" fill="#fff"/><path d="\(path)"/></svg>
      """
  }
}

/// The text cannot be a QR code.
package struct QRCodeError: Error, Sendable, Hashable, CustomStringConvertible {
  package var description: String { "the text is empty, or too long for a QR code" }
}
