/// `LabeledExtract` and `LabeledExpand` with HKDF-SHA256 (RFC 9180, 4).
///
/// One HMAC context serves all derivations of a message, and the parts of its inputs go to it one by one: joining them
/// first would cost as much as hashing them.
struct LabeledHKDF: ~Copyable {
  private let suiteID: [UInt8]
  private let mac: HMAC.Context

  private static let hashLength = 32

  init(suiteID: [UInt8]) throws(CryptoError) {
    guard let mac = HMAC.Context(hash: .sha256) else { throw .libraryFailure }
    self.suiteID = suiteID
    self.mac = mac
  }

  /// HMAC(salt, "HPKE-v1" ‖ suite_id ‖ label ‖ ikm).
  borrowing func extract(
    salt: UnsafeRawBufferPointer, label: StaticString, secret: UnsafeRawBufferPointer
  ) throws(CryptoError) -> SecretBytes {
    try SecretBytes(count: Self.hashLength) { output throws(CryptoError) in
      guard mac.begin(key: salt), updatePrefix(label), mac.update(secret), mac.finish(into: output) else {
        throw .libraryFailure
      }
    }
  }

  /// The first block of HKDF-Expand, which is all that any key, nonce or secret of the suite needs:
  /// HMAC(prk, length ‖ "HPKE-v1" ‖ suite_id ‖ label ‖ info ‖ 0x01). The info is given in two parts.
  borrowing func expand(
    _ key: borrowing SecretBytes, label: StaticString, info: [UInt8], _ rest: [UInt8] = [], length: Int
  ) throws(CryptoError) -> SecretBytes {
    precondition((1...Self.hashLength).contains(length), "one block is enough")
    return try key.withUnsafeBytes { key throws(CryptoError) in
      try SecretBytes(count: length) { output throws(CryptoError) in
        guard expand(key, label, info, rest, into: output) else { throw .libraryFailure }
      }
    }
  }

  private borrowing func expand(
    _ key: UnsafeRawBufferPointer, _ label: StaticString, _ info: [UInt8], _ rest: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Self.hashLength, alignment: 1) { block in
      defer { cleanse(block) }
      let isDone =
        mac.begin(key: key)
        && withUnsafeBytes(of: UInt16(output.count).bigEndian) { mac.update($0) }
        && updatePrefix(label)
        && info.withUnsafeBytes { mac.update($0) }
        && rest.withUnsafeBytes { mac.update($0) }
        && withUnsafeBytes(of: 0x01 as UInt8) { mac.update($0) }
        && mac.finish(into: block)
      output.copyBytes(from: block[..<output.count])
      return isDone
    }
  }

  private borrowing func updatePrefix(_ label: StaticString) -> Bool {
    update("HPKE-v1") && suiteID.withUnsafeBytes { mac.update($0) } && update(label)
  }

  private borrowing func update(_ text: StaticString) -> Bool {
    mac.update(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
