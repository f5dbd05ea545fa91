import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import Mock
import TestSupport
import Testing
import Trust

@testable import Presentation

/// `org-iso-mdoc` with a wallet that is written here: its plaintext, and its transcript.
@Suite struct AnnexCTests {
  private static let origin = "https://shop.example"
  private let setup: MockSetup

  init() throws { setup = try MockSetup() }

  /// The wallet's deviation.
  private struct Wallet {
    var origin = AnnexCTests.origin
    /// The encryption info in the form that the transcript contains.
    var encryptionInfo: (String) -> CBORValue = { .text($0) }
    var info: (SessionTranscript) -> [UInt8] = { $0.encoded }
    var label: CBORValue = "dcapi"
    var envelope: (CBORValue) -> CBORValue = { $0 }
    var encapsulatedKey: ([UInt8]) -> [UInt8] = { $0 }
    var ciphertext: ([UInt8]) -> [UInt8] = { $0 }
    var recipient: PublicKey?
    /// The transcript that the device signs, if it differs from the encryption's.
    var signedOrigin: String?
    var readerKey: PublicKey?
    var plaintext: [UInt8]?
  }

  private func answer(_ challenge: borrowing AnnexCChallenge, _ wallet: Wallet) throws -> [UInt8] {
    let sent = challenge.encryptionInfo
    let transcript = AnnexCChallenge.transcript(encryptionInfo: wallet.encryptionInfo(sent), origin: wallet.origin)
    let signed = wallet.signedOrigin.map {
      AnnexCChallenge.transcript(encryptionInfo: .text(sent), origin: $0)
    }
    let response = try setup.wallet.answer(
      .standard, transcript: (signed ?? transcript).encoded,
      authentication: wallet.readerKey.map { .mac(readerKey: $0) } ?? .signature, at: setup.now)
    let key = try challenge.recipientKey()
    let sealed = try HPKE.p256SHA256AES128GCM.seal(
      wallet.plaintext ?? response.deviceResponse, to: wallet.recipient ?? key, info: wallet.info(transcript))
    let parameters: CBORValue = [
      "enc": .bytes(wallet.encapsulatedKey(sealed.encapsulatedKey)),
      "cipherText": .bytes(wallet.ciphertext(sealed.ciphertext)),
    ]
    return wallet.envelope([wallet.label, parameters]).encoded()
  }

  private func verify(_ wallet: Wallet, otherOrigins: [String] = []) throws -> Verdict {
    let challenge = try AnnexCChallenge(freshFor: Self.origin)
    let answer = try answer(challenge, wallet)
    return AnnexC(verifier: MdocVerifier(trust: setup.trust)).authenticate(
      answer, answering: challenge, request: PresentationRequest(.standard), otherOrigins: otherOrigins, at: setup.now
    ).conclude()
  }

  @Test func theRightAnswerIsAccepted() throws {
    guard case .accepted(let presentation) = try verify(Wallet()).outcome else {
      Issue.record("refused")
      return
    }
    #expect(presentation.documents.first?.deviceAuthentication == .signature)
  }

  @Test func theEncryptionInfoIsAnUntaggedKeyAndAFreshNonce() throws {
    let first = try AnnexCChallenge(freshFor: Self.origin)
    let second = try AnnexCChallenge(freshFor: Self.origin)
    #expect(first.encryptionInfo != second.encryptionInfo)
    let info = try CBORItem(parsing: try #require(Base64.decodeURLSafe(first.encryptionInfo)))
    let parts = try #require(info.elements.map { Array($0) })
    #expect(parts.count == 2 && parts[0].isText("dcapi"))
    #expect(parts[1].memberNames == ["nonce", "recipientPublicKey"])
    #expect(parts[1][key: "nonce"]?.bytes?.count == 32)
    let labels = parts[1][key: "recipientPublicKey"]?.entries.map { $0.map(\.key.integer) }
    #expect(labels == [1, -1, -2, -3])
  }

  @Test func whatIsKeptOfAChallengeIsItsScalarAndJSONOfTheRest() throws {
    let challenge = try AnnexCChallenge(freshFor: Self.origin)
    let bytes = try challenge.serialized().exposed()
    let rest: JSON = ["encryption_info": .string(challenge.encryptionInfo), "origin": .string(Self.origin)]
    #expect(Array(bytes.dropFirst(32)) == rest.serialized())
    guard let kept = AnnexCChallenge(serialized: SecretBytes(copying: bytes)) else {
      Issue.record("it is not read")
      return
    }
    #expect(kept.transcript == challenge.transcript)
    #expect(try kept.recipientKey() == challenge.recipientKey())
    for count in [0, 31, 32, bytes.count - 1] {
      if AnnexCChallenge(serialized: SecretBytes(copying: Array(bytes.prefix(count)))) != nil {
        Issue.record("\(count) bytes are read")
      }
    }
  }

  @Test func whatIsNoEncryptedResponseIsMalformed() throws {
    let wrong: [(inout Wallet) -> Void] = [
      { $0.label = "dcApi" }, { $0.label = .bytes(Array("dcapi".utf8)) },
      { $0.envelope = { [.text("dcapi"), $0, nil] } }, { $0.envelope = { _ in ["dcapi"] } },
      { $0.envelope = { _ in ["dcapi", ["enc": .bytes([4])]] } },
      { $0.envelope = { .tagged(24, .bytes($0.encoded())) } },
      { $0.envelope = { _ in ["dcapi", ["enc": "text", "cipherText": .bytes([])]] } }, { $0.envelope = { _ in [:] } },
    ]
    for change in wrong {
      var wallet = Wallet()
      change(&wallet)
      #expect(try verify(wallet).codes == [.envelopeMalformed])
    }
    var truncated = Wallet()
    truncated.envelope = { .encoded(Array($0.encoded().dropLast())) }
    #expect(try verify(truncated).codes == [.cborTruncated])
  }

  @Test func noDamagedAnswerIsAccepted() throws {
    let challenge = try AnnexCChallenge(freshFor: Self.origin)
    let scalar = Array(try challenge.serialized().exposed().prefix(32))
    let good = try answer(challenge, Wallet())
    func isAccepted(_ answer: [UInt8]) throws -> Bool {
      let kept = try AnnexCChallenge(
        privateScalar: scalar, encryptionInfo: challenge.encryptionInfo, origin: challenge.origin)
      let verdict = AnnexC(verifier: MdocVerifier(trust: setup.trust)).authenticate(
        answer, answering: kept, request: PresentationRequest(.standard), at: setup.now
      ).conclude()
      if case .accepted = verdict.outcome { return true }
      return false
    }
    #expect(try isAccepted(good))
    for length in stride(from: 0, to: good.count, by: 13) {
      #expect(try !isAccepted(Array(good.prefix(length))))
    }
    // All of the head, the keys and the encapsulated key; samples of the ciphertext.
    for bit in Array(0..<800) + Array(stride(from: 800, to: good.count * 8, by: 411)) {
      var damaged = good
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(try !isAccepted(damaged), "bit \(bit)")
    }
  }

  @Test func anEncapsulatedKeyIsAnUncompressedPointOfP256() throws {
    let p384 = try PrivateKey(generatingOn: .p384).publicKey.encoded
    let changes: [([UInt8]) -> [UInt8]] = [
      { Array($0.dropFirst()) }, { [2] + $0[1...32] }, { $0.dropLast() + [$0[64] ^ 1] }, { _ in p384 }, { _ in [] },
      { _ in [0] }, { _ in [UInt8](repeating: 7, count: 1_216) },
    ]
    for change in changes {
      var wallet = Wallet()
      wallet.encapsulatedKey = change
      #expect(try verify(wallet).codes == [.envelopeEncapsulatedKeyInvalid])
    }
  }

  @Test func anotherMessageKeyOrSessionDoesNotOpen() throws {
    var changes: [(inout Wallet) -> Void] = [
      { $0.ciphertext = { [$0[0] ^ 1] + $0.dropFirst() } }, { $0.ciphertext = { Array($0.dropLast()) } },
      { $0.ciphertext = { _ in [] } },
    ]
    let other = try PrivateKey(generatingOn: .p256).publicKey
    changes.append { $0.recipient = other }
    changes.append { $0.encryptionInfo = { .text(String($0.reversed())) } }
    for change in changes {
      var wallet = Wallet()
      change(&wallet)
      let verdict = try verify(wallet)
      #expect(verdict.codes == [.envelopeDecryptionFailed])
      #expect(
        verdict.detail(of: .envelopeDecryptionFailed)
          == "cipherText does not decrypt with this session's key, encryptionInfo and origin")
    }
  }

  /// The report names the mistake, and the response remains rejected.
  @Test func aKnownMistakeIsNamed() throws {
    let mistakes: [(String, (inout Wallet) -> Void)] = [
      ("the origin https://shop.example/", { $0.origin = "https://shop.example/" }),
      ("the origin https://other.example", { $0.origin = "https://other.example" }),
      ("the origin web-origin:https://shop.example", { $0.origin = "web-origin:https://shop.example" }),
      ("the origin http://shop.example", { $0.origin = "http://shop.example" }),
      ("the origin shop.example", { $0.origin = "shop.example" }),
      ("the origin https://shop.example:443", { $0.origin = "https://shop.example:443" }),
      ("the transcript inside tag 24", { $0.info = { $0.taggedBytes } }),
      ("the encryption info padded", { $0.encryptionInfo = { .text($0 + "==") } }),
      (
        "the encryption info as bytes",
        { $0.encryptionInfo = { .bytes(Base64.decodeURLSafe($0) ?? []) } }
      ),
    ]
    for (phrase, change) in mistakes {
      var wallet = Wallet()
      change(&wallet)
      let verdict = try verify(wallet, otherOrigins: [Self.origin, "https://other.example"])
      #expect(verdict.codes == [.envelopeDecryptionFailed])
      #expect(verdict.detail(of: .envelopeDecryptionFailed) == "it decrypts with \(phrase)")
    }
  }

  @Test func aDeviceThatSignedForAnotherOriginIsRefused() throws {
    var wallet = Wallet()
    wallet.signedOrigin = "https://shop.example/"
    #expect(try verify(wallet).codes == [.deviceSignatureInvalid])
  }

  @Test func aDeviceMacIsNotAllowed() throws {
    var wallet = Wallet()
    wallet.readerKey = try PrivateKey(generatingOn: .p256).publicKey
    #expect(try verify(wallet).codes == [.deviceMacNotAllowed])
  }

  @Test func aPlaintextThatIsNoDeviceResponseIsRefused() throws {
    var wallet = Wallet()
    wallet.plaintext = [0xa0]
    #expect(try verify(wallet).codes == [.responseMalformed])
  }
}

extension AnnexCChallenge {
  /// The recipient's key from the encryption info, as a wallet reads it.
  fileprivate borrowing func recipientKey() throws -> PublicKey {
    let info = try CBORItem(parsing: try #require(Base64.decodeURLSafe(encryptionInfo)))
    let parts = try #require(info.elements.map { Array($0) })
    return try COSEKey(try #require(parts[1][key: "recipientPublicKey"])).key
  }
}

extension Verdict {
  func detail(of code: Code) -> String? { report.checks.first { $0.code == code }?.detail }
}
