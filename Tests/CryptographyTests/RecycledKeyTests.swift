import Cryptography
import Testing

/// Imported keys and their contexts are reused for other points: no use may see another's point.
@Suite struct RecycledKeyTests {
  private static let message = Array("message".utf8)

  private struct Signer {
    let key: PrivateKey
    let signature: [UInt8]

    init() throws {
      key = try PrivateKey(generatingOn: .p256)
      signature = try key.signECDSA(message, hash: .sha256)
    }
  }

  @Test func aKeyVerifiesItsOwnSignaturesAloneWhateverWasImportedBefore() throws {
    let signers = try (0..<8).map { _ in try Signer() }
    for round in 0..<40 {
      let signer = signers[round % 8]
      let other = signers[(round + 3) % 8]
      // Both imports are gone when the next round begins, and their keys are used again.
      let imported = try PublicKey(curve: .p256, encoded: signer.key.publicKey.encoded)
      #expect(imported.verifyECDSA(signer.signature, of: Self.message, hash: .sha256))
      #expect(!imported.verifyECDSA(other.signature, of: Self.message, hash: .sha256))
      #expect(!imported.verifyECDSA(signer.signature, of: Self.message, hash: .sha512))
      #expect(imported.verifyECDSA(signer.signature, of: Self.message, hash: .sha256))
    }
  }

  @Test func threadsThatShareOneKeyAllGetItsVerdict() async throws {
    let signer = try Signer()
    let other = try Signer()
    let shared = signer.key.publicKey
    let verdicts = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<64 {
        group.addTask {
          let isOwn = index % 2 == 0
          let signature = isOwn ? signer.signature : other.signature
          return (0..<8).allSatisfy { _ in
            shared.verifyECDSA(signature, of: Self.message, hash: .sha256) == isOwn
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(verdicts.allSatisfy { $0 })
  }

  @Test func agreementsOfOneKeyWithManyPeersAtOnceAreThoseOfEachPeer() async throws {
    let recipient = try PrivateKey(generatingOn: .p256)
    let peers = try (0..<16).map { _ in try PrivateKey(generatingOn: .p256) }
    let secrets = try peers.map { try $0.sharedSecret(with: recipient.publicKey).exposed() }
    let isRight = await withTaskGroup(of: Bool.self) { group in
      for (peer, secret) in zip(peers, secrets) {
        group.addTask {
          (0..<16).allSatisfy { _ in
            // Imported each time, so that keys pass from task to task.
            guard let point = try? PublicKey(curve: .p256, encoded: peer.publicKey.encoded),
              let agreed = try? recipient.sharedSecret(with: point)
            else { return false }
            return agreed.exposed() == secret
          }
        }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    #expect(isRight)
  }

  @Test func aPointThatIsRefusedSpoilsNoLaterImport() throws {
    let signer = try Signer()
    var offCurve = signer.key.publicKey.encoded
    offCurve[64] ^= 1
    for _ in 0..<8 {
      #expect(throws: CryptoError.invalidPublicKey) { try PublicKey(curve: .p256, encoded: offCurve) }
      let imported = try PublicKey(curve: .p256, encoded: signer.key.publicKey.encoded)
      #expect(imported.verifyECDSA(signer.signature, of: Self.message, hash: .sha256))
    }
  }
}
