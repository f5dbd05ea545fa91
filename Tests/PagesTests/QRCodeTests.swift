import Glibc
import Testing

@testable import Pages

@Suite struct QRCodeTests {
  @Test func `a code has its three finders and its timing patterns`() throws {
    let text = "openid4vp://?client_id=x509_hash%3Aabc&request_uri=https%3A%2F%2Fid.example%2Frequest"
    let code = try #require(QRCode(text))
    // A version adds four modules to 17 (ISO/IEC 18004, 5.3.1).
    #expect((code.size - 17) % 4 == 0)
    let last = code.size - 1
    for (row, column) in [(3, 3), (3, last - 3), (last - 3, 3)] {
      for distance in 0...3 {
        // Dark, dark, light, dark from the middle outwards.
        #expect(code.isDark(row: row, column: column - distance) == (distance != 2))
      }
    }
    for place in 8..<(code.size - 8) {
      #expect(code.isDark(row: 6, column: place) == (place % 2 == 0))
      #expect(code.isDark(row: place, column: 6) == (place % 2 == 0))
    }
  }

  @Test func `the image has the dark modules and no others, four modules from its edge`() throws {
    let code = try #require(QRCode("HELLO"))
    let side = code.size + 8
    #expect(code.svg.contains("viewBox=\"0 0 \(side) \(side)\""))
    var dark = Set<[Int]>()
    for rectangle in code.svg.matches(of: /M(\d+) (\d+)h(\d+)v1h-(\d+)z/) {
      let (column, row, length) = (Int(rectangle.1)!, Int(rectangle.2)!, Int(rectangle.3)!)
      for offset in 0..<length { dark.insert([row - 4, column + offset - 4]) }
    }
    for row in 0..<code.size {
      for column in 0..<code.size {
        #expect(dark.contains([row, column]) == code.isDark(row: row, column: column))
      }
    }
    #expect(dark.allSatisfy { $0.allSatisfy { (0..<code.size).contains($0) } })
  }

  @Test(arguments: ["a", "umlaut ä, 日本, null \u{0}?", String(repeating: "https://id.example/", count: 120)])
  func `texts of any bytes and lengths fit`(text: String) throws {
    #expect(try #require(QRCode(text)).size >= 21)
  }

  @Test(arguments: ["", String(repeating: "x", count: 2_400)])
  func `no text and one that is too long are refused`(text: String) {
    #expect(QRCode(text) == nil)
  }
}
