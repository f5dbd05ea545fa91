import CQrencode

/// A QR code (ISO/IEC 18004) of a text, by libqrencode.
package struct QRCode: Sendable, Hashable {
  /// Modules on a side, without the quiet zone.
  package let size: Int
  private let darkModules: [Bool]

  /// Width in modules of the white margin that readers need on each side.
  private static let quietZone = 4

  /// Uses error correction M, which restores 15 % of the code. Nil if the text is empty or too long: about 2 300 bytes
  /// fit.
  package init?(_ text: String) {
    // Encode as bytes: the other modes are for kana and capitals.
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, let code = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_M) else { return nil }
    defer { QRcode_free(code) }
    size = Int(code.pointee.width)
    // The lowest bit of a module's byte is the module's colour.
    darkModules = UnsafeBufferPointer(start: code.pointee.data, count: size * size).map { $0 & 1 == 1 }
  }

  package func isDark(row: Int, column: Int) -> Bool { darkModules[row * size + column] }

  /// An image with one unit for each module, including the quiet zone. Always black on white.
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
