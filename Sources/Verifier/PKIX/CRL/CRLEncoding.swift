import COpenSSL

/// A revocation list's bytes: exactly one list, and in the one encoding that DER has for it.
enum CRLEncoding {
  /// The bytes themselves where they begin as DER does; else those of the only PEM block, where that is a list.
  static func der(of bytes: [UInt8]) -> [UInt8]? {
    if bytes.first == 0x30 { return bytes }
    return bytes.withUnsafeBufferPointer { buffer in
      guard let bio = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else { return nil }
      defer { BIO_free(bio) }
      guard let block = nextBlock(bio), block.label == "X509 CRL", nextBlock(bio) == nil else { return nil }
      return block.content
    }
  }

  /// OpenSSL's form, the caller's to free. No trailing bytes, no BER.
  static func parse(_ der: [UInt8]) -> OpaquePointer? {
    let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
      var crl = X509_CRL_new_ex(ParsingContext.library, nil)
      var position = buffer.baseAddress
      // On failure it has freed what it was given.
      guard crl != nil, d2i_X509_CRL(&crl, &position, buffer.count) != nil else { return nil }
      guard position == buffer.baseAddress.map({ $0 + buffer.count }) else {
        X509_CRL_free(crl)
        return nil
      }
      return crl
    }
    guard let parsed else { return nil }
    guard isDER(parsed, der) else {
      X509_CRL_free(parsed)
      return nil
    }
    return parsed
  }

  private static func isDER(_ crl: OpaquePointer, _ bytes: [UInt8]) -> Bool {
    var output: UnsafeMutablePointer<UInt8>?
    let length = i2d_X509_CRL(crl, &output)
    guard length >= 0, let output else { return false }
    defer { CRYPTO_free(output, nil, 0) }
    return UnsafeBufferPointer(start: output, count: Int(length)).elementsEqual(bytes)
  }

  /// The next PEM block without headers (RFC 7468).
  private static func nextBlock(_ bio: OpaquePointer) -> (label: String, content: [UInt8])? {
    var label: UnsafeMutablePointer<CChar>?
    var header: UnsafeMutablePointer<CChar>?
    var content: UnsafeMutablePointer<UInt8>?
    var length = 0
    guard PEM_read_bio(bio, &label, &header, &content, &length) == 1, let label, let header, let content else {
      return nil
    }
    defer {
      CRYPTO_free(label, nil, 0)
      CRYPTO_free(header, nil, 0)
      CRYPTO_free(content, nil, 0)
    }
    guard header.pointee == 0 else { return nil }
    return (String(cString: label), Array(UnsafeBufferPointer(start: content, count: length)))
  }
}
