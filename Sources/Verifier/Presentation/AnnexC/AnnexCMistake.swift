import Base
import CBOR
import Mdoc

/// A transcript that wallets are known to make by mistake, to explain in the report why an answer does not open.
/// Nothing is ever read of an answer that opens with one.
struct AnnexCMistake {
  /// A phrase that completes "it opens with …".
  let difference: String
  /// HPKE's `info`.
  let info: [UInt8]

  /// Origins that are tried, of those a relying party has.
  private static let triedOrigins = 16

  private init(_ difference: String, info: [UInt8]) {
    self.difference = difference
    self.info = info
  }

  private init(_ difference: String, _ transcript: SessionTranscript) {
    self.init(difference, info: transcript.encoded)
  }

  static func all(of challenge: borrowing AnnexCChallenge, otherOrigins: [String]) -> [AnnexCMistake] {
    let encryptionInfo = challenge.encryptionInfo
    let origin = challenge.origin
    let origins = self.origins(near: origin) + otherOrigins.filter { $0 != origin }.prefix(triedOrigins)
    var mistakes = origins.map { other in
      AnnexCMistake(
        "the origin \(other)", AnnexCChallenge.transcript(encryptionInfo: .text(encryptionInfo), origin: other))
    }
    mistakes.append(AnnexCMistake("the transcript inside tag 24", info: challenge.transcript.taggedBytes))
    mistakes += encryptionInfos(like: encryptionInfo).map { difference, value in
      AnnexCMistake(difference, AnnexCChallenge.transcript(encryptionInfo: value, origin: origin))
    }
    return mistakes
  }

  /// The same origin in other words.
  private static func origins(near origin: String) -> [String] {
    let parts = origin.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let host = parts.last ?? origin
    return [
      origin + "/", "web-origin:" + origin, host, origin + ":443",
      (parts.first == "http" ? "https://" : "http://") + host,
    ]
  }

  /// The encryption info in other encodings than the one that was sent.
  private static func encryptionInfos(like text: String) -> [(difference: String, value: CBORValue)] {
    guard let bytes = Base64.decodeURLSafe(text) else { return [] }
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    let standard = Base64.encode(bytes)
    let unpadded = String(standard.prefix { $0 != "=" })
    return [
      ("the encryption info padded", .text(text + padding)),
      ("the encryption info in the standard base64 alphabet", .text(standard)),
      ("the encryption info in the standard base64 alphabet, not padded", .text(unpadded)),
      ("the encryption info as bytes", .bytes(bytes)), ("the encryption info as CBOR", .encoded(bytes)),
    ]
  }
}
