import Base

/// The textual encoding of certificates (RFC 7468).
public enum PEM {
  /// The DER of every `CERTIFICATE` block, in order; nil where a block is not opened, not closed or not base64.
  public static func certificates(in text: String) -> [[UInt8]]? {
    var certificates: [[UInt8]] = []
    var base64: String?
    for line in text.split(whereSeparator: \.isNewline) {
      let line = line.filter { !$0.isWhitespace || $0 == " " }
      switch (line.trimmingSuffix(" "), base64) {
      case ("-----BEGIN CERTIFICATE-----", nil): base64 = ""
      case ("-----END CERTIFICATE-----", let block?):
        guard let der = Base64.decode(block) else { return nil }
        certificates.append(der)
        base64 = nil
      case (let content, let block?): base64 = block + content
      // Its beginning was not recognised (a byte order mark, a typing mistake): it must not be left out quietly.
      case ("-----END CERTIFICATE-----", nil): return nil
      case (_, nil): continue
      }
    }
    return base64 == nil ? certificates : nil
  }

  public static func encode(certificate der: [UInt8]) -> String {
    let base64 = Array(Base64.encode(der).utf8)
    var text = "-----BEGIN CERTIFICATE-----\n"
    for start in stride(from: 0, to: base64.count, by: 64) {
      text += String(decoding: base64[start..<min(start + 64, base64.count)], as: UTF8.self) + "\n"
    }
    return text + "-----END CERTIFICATE-----\n"
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    var text = Substring(self)
    while text.last == character { text.removeLast() }
    return String(text)
  }
}
