import Cryptography

/// A secret as it was read, with what people call the place that it came from.
final class Secret: Sendable {
  /// A path, or the name of a variable.
  let name: String
  /// Whether it is text of the environment rather than the content of a file.
  let isVariable: Bool
  let bytes: SecretBytes

  init(name: String, isVariable: Bool, bytes: consuming SecretBytes) {
    self.name = name
    self.isVariable = isVariable
    self.bytes = bytes
  }

  /// A passphrase: a line end after it is the editor's and not part of it.
  func withoutLineEnd() -> SecretBytes {
    bytes.withUnsafeBytes { bytes in
      var end = bytes.count
      if end > 0, bytes[end - 1] == UInt8(ascii: "\n") { end -= 1 }
      if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      return SecretBytes(copying: bytes[..<end])
    }
  }
}
