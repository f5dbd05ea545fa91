import Base
import CBOR

/// Binary content of a file that holds it raw, in hexadecimal or in base64 of either alphabet.
///
/// A DeviceResponse, an envelope and a transcript begin with a byte that is no ASCII character, so text is never
/// mistaken for them. Text that is neither hexadecimal nor base64 is taken as it is: whoever parses it says no.
struct WireBytes: Sendable {
  enum Encoding: String, Sendable { case raw, hex, base64 }

  let bytes: [UInt8]
  let encoding: Encoding

  init(_ file: [UInt8]) {
    guard let text = WireBytes.text(of: file) else {
      self.init(file, .raw)
      return
    }
    let candidates = [
      (Hex.decode(text), Encoding.hex), (Base64.decodeEither(text), .base64), (file, .raw),
    ].compactMap { bytes, encoding in bytes.map { (bytes: $0, encoding: encoding) } }
    // What is well-formed CBOR was meant; the first is a fair guess where nothing is.
    let best = candidates.first { WireBytes.isCBOR($0.bytes) } ?? candidates.first
    self.init(best?.bytes ?? file, best?.encoding ?? .raw)
  }

  private init(_ bytes: [UInt8], _ encoding: Encoding) {
    self.bytes = bytes
    self.encoding = encoding
  }

  /// The text without white space, where the content is ASCII text.
  private static func text(of file: [UInt8]) -> String? {
    let hasMark = file.starts(with: [0xef, 0xbb, 0xbf])
    let characters = file.dropFirst(hasMark ? 3 : 0).filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    guard !characters.isEmpty, characters.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    return String(decoding: characters, as: UTF8.self)
  }

  private static func isCBOR(_ bytes: [UInt8]) -> Bool {
    (try? CBORItem(parsing: bytes, limits: CBORLimits(bytes: FileAccess.limit))) != nil
  }
}

extension WireBytes {
  /// What a wallet sent. Only a path that can't be read is the caller's fault; every content is judged later.
  static func answer(at path: String) throws(Failure) -> [UInt8] {
    WireBytes(try FileAccess.readPrefix(path, purpose: "answer")).bytes
  }
}
