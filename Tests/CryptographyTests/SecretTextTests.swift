import Base
import Cryptography
import Testing

@Suite struct SecretTextTests {
  private static func base64(_ text: String) -> [UInt8]? {
    Array(text.utf8).withUnsafeBytes { exposed(SecretBytes.decoding(base64: $0)) }
  }

  private static func urlSafe(_ text: String) -> [UInt8]? {
    Array(text.utf8).withUnsafeBytes { exposed(SecretBytes.decoding(base64URLSafe: $0)) }
  }

  private static func hex(_ text: String) -> [UInt8]? {
    Array(text.utf8).withUnsafeBytes { exposed(SecretBytes.decoding(hex: $0)) }
  }

  private static func exposed(_ secret: consuming SecretBytes?) -> [UInt8]? {
    guard let secret else { return nil }
    return secret.exposed()
  }

  @Test(arguments: 1...70) func `secrets are decoded as other text is`(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 197 + 251) }
    #expect(Self.base64(Base64.encode(bytes)) == bytes)
    #expect(Self.urlSafe(Base64.encodeURLSafe(bytes)) == bytes)
    #expect(Self.hex(Hex.encode(bytes)) == bytes)
  }

  @Test(arguments: [
    "", "A", "AA", "AAA", "AA==\n", " AA==", "AB==", "AAB=", "A===", "====", "AA=A", "A A=", "AAAA=", "AA-_", "AA+/",
    "é===", "AAA\0", "AAAAA",
  ])
  func `what is not the one text of some bytes is refused, in each alphabet`(text: String) {
    let isEmpty = text.isEmpty
    #expect(Self.base64(text) == (isEmpty ? nil : Base64.decode(text)))
    #expect(Self.urlSafe(text) == (isEmpty ? nil : Base64.decodeURLSafe(text)))
  }

  @Test(arguments: ["0", "0g", "0 ", "zz", "+1"]) func `other digits are no hexadecimal ones`(text: String) {
    #expect(Self.hex(text) == nil)
  }
}
