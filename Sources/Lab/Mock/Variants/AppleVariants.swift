import Base
import CBOR
import Cryptography

extension MockVariant {
  /// Wrong envelopes of Apple's in-app route.
  @MockVariantList static var appleEnvelope: [MockVariant] {
    apple("apple-algorithm", "The envelope names another algorithm.", "A01", .envelopeAlgorithmUnsupported) {
      $0["algorithm"] = "APPLE-HPKE-v2"
    }
    apple("apple-mode", "The envelope names HPKE's PSK mode.", "A02", .envelopeModeUnsupported) {
      $0.nested("params") { $0["mode"] = 1 }
    }
    apple("apple-info-hash-flipped", "The transcript's hash is not right.", "A04", .envelopeTranscriptMismatch) {
      $0.nested("params") { $0["infoHash"] = .bytes($0.bytes("infoHash").flipped) }
    }
    apple("apple-info-hash-absent", "The transcript's hash is missing.", "A05", .envelopeMalformed) {
      $0.nested("params") { $0["infoHash"] = nil }
    }
    apple("apple-recipient-hash-absent", "The recipient key's hash is missing.", "", .envelopeMalformed) {
      $0.nested("params") { $0["pkRHash"] = nil }
    }
    apple("apple-algorithm-absent", "The algorithm is missing.", "", .envelopeMalformed) { $0["algorithm"] = nil }
    apple("apple-data-text", "The ciphertext is a text string.", "", .envelopeMalformed) { $0["data"] = "cipher" }
    encapsulatedKey("apple-key-64-bytes", "The encapsulated key lacks its first byte.") { Array($0.dropFirst()) }
    encapsulatedKey("apple-key-compressed", "The encapsulated key is a compressed point of 33 bytes.") { key in
      [(key.last ?? 0) & 1 == 1 ? 0x03 : 0x02] + key[1..<33]
    }
    encapsulatedKey("apple-key-prefix", "The encapsulated key has 65 bytes and begins with 02.") {
      [0x02] + $0.dropFirst()
    }
    encapsulatedKey("apple-key-off-curve", "The encapsulated key is not on the curve.") { $0.flippedAtEnd }
    encapsulatedKey("apple-key-infinity", "The encapsulated key is the point at infinity.") { _ in [0x00] }
    encapsulatedKey("apple-key-zero", "The encapsulated key has zero coordinates.") { _ in [0x04] + .zeros(64) }
    apple("apple-data-flipped", "A bit of the ciphertext is turned over.", "A07", .envelopeDecryptionFailed) {
      $0["data"] = .bytes($0.bytes("data").flipped)
    }
    apple("apple-data-short", "The ciphertext is shorter than its tag.", "A07", .envelopeDecryptionFailed) {
      $0["data"] = .bytes(Array($0.bytes("data").prefix(15)))
    }
    apple("apple-data-empty", "The ciphertext is empty.", "A07", .envelopeDecryptionFailed) { $0["data"] = .bytes([]) }
    session(
      "apple-other-key", "The answer is for another merchant's key.", "A03", .envelopeRecipientKeyUnknown
    ) {
      $0.recipientKey = try MockSeed($0.nonce).key("another merchant", on: .p256).publicKey
    }
    session("apple-other-nonce", "The answer is for another session's nonce.", "A08 S06", .envelopeTranscriptMismatch) {
      $0.nonce = $0.nonce.flipped
    }
    session("apple-other-merchant", "The answer is for another merchant.", "A09", .envelopeTranscriptMismatch) {
      $0.merchantID += ".other"
    }
    session("apple-other-team", "The answer is for another team's app.", "A09", .envelopeTranscriptMismatch) {
      $0.teamID = "ZZZZZ99999"
    }
    session("apple-swapped", "Merchant and team have changed places.", "A09", .envelopeTranscriptMismatch) {
      ($0.merchantID, $0.teamID) = ($0.teamID, $0.merchantID)
    }
    session(
      "apple-other-transcript", "The transcript has a form that one public server invented.", "A12",
      .envelopeTranscriptMismatch
    ) {
      let members: CBORValue = [
        .text($0.merchantID), .text($0.teamID), .bytes($0.nonce), .bytes($0.recipientHash),
      ]
      $0.otherTranscript = ["InAppPresentment", members]
    }
    MockVariant(
      "apple-attacker-hash", "An answer for another nonce carries the hash of this session's transcript.",
      cases: "A10", codes: [.envelopeDecryptionFailed], applicability: .appleInApp,
      .init(
        session: {
          $0.nonce = $0.nonce.flipped
          $0.claimedInfoHash = HashAlgorithm.sha256.hash(MockSessionTranscript.apple($0.session))
        }))
    plaintext("apple-plaintext-empty", "The plaintext lacks `identity`.") { _ in [:] }
    plaintext("apple-plaintext-bytes", "`identity` is a byte string.") { ["identity": .bytes($0)] }
    plaintext("apple-plaintext-bare", "The plaintext is the DeviceResponse itself.") { .encoded($0) }
    plaintext("apple-plaintext-extra", "The plaintext has a second member.") {
      ["identity": .encoded($0), "extra": true]
    }
    MockVariant(
      "apple-trailing-bytes", "A byte follows the envelope.", cases: "C03", codes: [.cborTrailingBytes],
      applicability: .appleInApp, .envelopeBytes { $0.append(0x00) })
    MockVariant(
      "apple-truncated", "The envelope's last byte is missing.", cases: "C05", codes: [.cborTruncated],
      applicability: .appleInApp, .envelopeBytes { $0.removeLast() })
    apple("apple-duplicate-key", "The envelope has `data` twice.", "C04", .cborDuplicateKey) { $0.duplicate("data") }
  }

  private static func apple(
    _ name: String, _ summary: String, _ cases: String, _ code: Code, _ change: @escaping MockChange<MapDraft>
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: [code], applicability: .appleInApp, .envelope(change))
  }

  private static func encapsulatedKey(
    _ name: String, _ summary: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]
  ) -> MockVariant {
    apple(name, summary, "A06", .envelopeEncapsulatedKeyInvalid) {
      $0.nested("params") { $0["pkEm"] = .bytes(change($0.bytes("pkEm"))) }
    }
  }

  private static func session(
    _ name: String, _ summary: String, _ cases: String, _ code: Code,
    _ change: @escaping MockChange<AppleEnvelopeDraft>
  ) -> MockVariant {
    MockVariant(name, summary, cases: cases, codes: [code], applicability: .appleInApp, .session(change))
  }

  private static func plaintext(
    _ name: String, _ summary: String, _ value: @escaping @Sendable ([UInt8]) -> CBORValue
  ) -> MockVariant {
    MockVariant(
      name, summary, cases: "A11", codes: [.envelopePlaintextMalformed], applicability: .appleInApp,
      .plaintext { $0.value = value($0.response) })
  }
}

extension MockVariant {
  /// Answers of the form that Apple's own mocks have: the simulator's and the developer profile's.
  @MockVariantList static var appleMocks: [MockVariant] {
    MockVariant(
      "apple-simulator", "As from Apple's simulator, encrypted to this session's key: no x5chain, zero signatures.",
      cases: "A14", codes: [.appleSimulatorAnswer], applicability: .appleInApp, simulated)
    MockVariant(
      "apple-simulator-key",
      "As from Apple's simulator: its published key and team, no x5chain, zero signatures.",
      cases: "A14", codes: [.appleSimulatorAnswer], applicability: .appleInApp,
      {
        var mutation = simulated
        mutation.session = usePublishedKey
        return mutation
      }())
    MockVariant(
      "apple-simulator-key-signed", "A wholly signed answer, encrypted to the simulator's published key.",
      cases: "A15", codes: [.appleSimulatorAnswer], applicability: .appleInApp, .init(session: usePublishedKey))
    MockVariant(
      "apple-profile",
      "As from a device with Apple's developer profile: no x5chain, zero issuer signature, real device signature.",
      cases: "A14", codes: [.appleProfileAnswer], applicability: .appleInApp,
      .init(
        issuerAuth: { $0.unprotected[33] = nil },
        issuerAuthParts: { $0.signature = .zeros($0.signature.count) }))
    MockVariant(
      "apple-profile-empty-signature",
      "As from a device with Apple's developer profile, the issuer signature empty.",
      cases: "A14", codes: [.appleProfileAnswer], applicability: .appleInApp,
      .init(issuerAuth: { $0.unprotected[33] = nil }, issuerAuthParts: { $0.signature = [] }))
  }

  private static var simulated: MockMutation {
    .init(
      issuerAuth: { $0.unprotected[33] = nil },
      issuerAuthParts: { $0.signature = .zeros($0.signature.count) },
      deviceSignatureParts: { $0.signature = .zeros($0.signature.count) })
  }

  @Sendable private static func usePublishedKey(_ draft: inout AppleEnvelopeDraft) throws {
    draft.recipientKey = try PublicKey(curve: .p256, encoded: Hex.decode(AppleSimulator.recipientPoint) ?? [])
    draft.teamID = AppleSimulator.teamID
  }
}
