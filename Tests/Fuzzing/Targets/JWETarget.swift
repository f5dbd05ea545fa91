import Base
import Compression
import Cryptography
import FuzzDriver
import JOSE

@testable import Mock

/// The plaintext of a JWE, compressed or not, which the harness encrypts. Mutations of a JWE never get past the
/// decryption.
///
/// Option: whether the header has `zip`.
struct JWETarget: FuzzTarget {
  static let name = "jwe"
  static let dictionary = ["vp_token", "state", "error", "error_description", "\u{3}\u{0}", "x\u{da}"]

  private let seed: MockSeed
  private let key: PrivateKey
  private let plaintexts: [[UInt8]]

  init(_ material: Material) throws {
    seed = material.authority.seed
    key = try seed.key("fuzzing", on: .p256)
    plaintexts = [#"{"error":"access_denied"}"#, String(repeating: "{}", count: 200)].map { Array($0.utf8) }
  }

  var seeds: [[UInt8]] {
    get throws {
      try plaintexts.flatMap { [[0] + $0, [1] + (try compressed($0)), [1] + (try compressed(compressed($0)))] }
    }
  }

  func run(_ input: [UInt8]) {
    var choices = Choices(input)
    let isCompressed = choices.byte() & 1 != 0
    let content = choices.bytes
    guard
      var draft = try? JWEDraft(
        content, to: key.publicKey, keyID: nil, encryption: "A128GCM", agreementInfo: [], seed: seed)
    else { return }
    if isCompressed { draft.header.append(.init("zip", "DEF")) }
    guard let parts = try? draft.parts(), let jwe = try? CompactJWE(parsing: parts.joined(separator: ".").utf8) else {
      fatalError("the harness makes a JWE of the profile")
    }
    do throws(JWEError) {
      let plaintext = try jwe.decrypt(with: key)
      require(isCompressed || plaintext == content, "what is not compressed comes out as it went in")
      require(!isCompressed || plaintext.count <= Limits.jwePlaintextBytes, "what is inflated is bounded")
    } catch {
      require(isCompressed && error.isOfPlaintext, "only what is compressed may be no plaintext")
    }
  }

  /// A raw DEFLATE stream: zlib's without its header and checksum.
  private func compressed(_ content: [UInt8]) throws -> [UInt8] {
    Array(try Deflation.deflate(content).dropFirst(2).dropLast(4))
  }
}
