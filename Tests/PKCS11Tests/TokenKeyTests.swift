import Base
import CP11Kit
import Cryptography
import Testing

@testable import PKCS11

@Suite(.serialized, .enabled(if: SoftToken.isInstalled, "SoftHSM is not installed"))
struct TokenKeyTests {
  let token: SoftToken

  init() async throws { token = try await SoftToken.shared.value }

  @Test(arguments: [(Curve.p256, HashAlgorithm.sha256), (.p384, .sha384), (.p521, .sha512)])
  func signs(curve: Curve, hash: HashAlgorithm) throws {
    let entry = try token.make(.signing(curve), "signs-\(curve.rawValue)")
    let key = PrivateKey(try token.key("signs-\(curve.rawValue)"))
    #expect(key.curve == curve && key.publicKey == entry.publicKey)
    let signature = try key.signECDSA(Array("message".utf8), hash: hash)
    #expect(key.publicKey.verifyECDSA(signature, of: Array("message".utf8), hash: hash))
    #expect(!key.publicKey.verifyECDSA(signature, of: Array("other".utf8), hash: hash))
  }

  @Test func opensWhatIsEncryptedToIt() throws {
    try token.make(.agreement, "agrees")
    let key = PrivateKey(try token.key("agrees", for: .agreement))
    let sealed = try HPKE.p256SHA256AES128GCM.seal(Array("secret".utf8), to: key.publicKey, info: [UInt8](0..<9))
    let opened = try HPKE.p256SHA256AES128GCM.open(
      sealed.ciphertext, encapsulatedKey: sealed.encapsulatedKey, recipient: key, info: [UInt8](0..<9))
    #expect(opened == Array("secret".utf8))
  }

  @Test func showsNoPrivateHalf() throws {
    try token.make(.signing(.p256), "hidden")
    let key = PrivateKey(try token.key("hidden"))
    #expect(throws: CryptoError.self) { _ = try key.pem() }
    #expect(throws: CryptoError.self) { _ = try key.scalar().count }
    #expect(throws: CryptoError.self) { _ = try key.sharedSecret(with: PrivateKey(generatingOn: .p384).publicKey) }
  }

  /// A changed derivation would make all data at rest unreadable.
  @Test(arguments: [
    (CKK_GENERIC_SECRET, "generic", "528524eb217efbfa3bec05099eaf160b3d338cc069b8d0a7c06775d1d09643d7"),
    (CKK_AES, "aes", "e0f642157a56302c7042f8866845276abc4b0b73e3e42b15f562b3c478ad77c7"),
  ])
  func derivesTheSameSecretForever(type: CK_KEY_TYPE, name: String, expected: String) throws {
    let value = [UInt8](0..<32)
    try token.write(
      "derives-\(name)",
      [
        (CKA_CLASS, .number(CKO_SECRET_KEY)), (CKA_KEY_TYPE, .number(type)), (CKA_VALUE, .bytes(value)),
        (CKA_SIGN, .flag(true)), (CKA_PRIVATE, .flag(true)),
      ])
    let derived = try TokenSecret.derive(by: SoftToken.uri("derives-\(name)"), in: token.module, pin: token.pin)
    #expect(Hex.encode(derived.bytes.exposed()) == expected)
  }

  @Test func derivesOfItsOwnKeyOnly() throws {
    for name in ["secret-1", "secret-2"] { try token.make(.secret, name) }
    let secrets = try ["secret-1", "secret-2", "secret-1"].map {
      try TokenSecret.derive(by: SoftToken.uri($0), in: token.module, pin: token.pin).bytes.exposed()
    }
    #expect(secrets[0] == secrets[2] && secrets[0] != secrets[1] && secrets[0].count == 32)
  }

  @Test func listsWhatThePINShows() throws {
    let made = try token.make(.signing(.p384), "listed", ";id=%aa%bb")
    #expect(made.uses == ["sign"] && !made.isExtractable && made.type == "P-384")
    let shown = try token.module.list(SoftToken.uri("listed"), pin: token.pin)
    #expect(shown.map(\.uri) == [made.uri] && made.uri.contains("id=%AA%BB;object=listed"))
    let again = try TokenKey(TokenURI(made.uri), in: token.module, pin: token.pin, for: .signing)
    #expect(again.publicKey == made.publicKey)
    #expect(try token.make(.secret, "listed-secret").type == "generic, 32 bytes")
    // A merchant's key signs the request of its certificate.
    #expect(try token.make(.agreement, "listed-merchant").uses == ["sign", "derive"])
  }

  @Test func refusesWhatItCannotUse() throws {
    try token.make(.signing(.p256), "refused")
    let other = try PrivateKey(generatingOn: .p256)
    try write(other, beside: other.publicKey, as: "refused-agreement", signs: false)
    try token.make(.secret, "refused-secret")
    func expect(_ reason: String, _ object: String, _ use: TokenKey.Use = .signing) throws {
      let error = #expect(throws: TokenError.self) { try token.key(object, for: use) }
      #expect(error?.detail.contains(reason) == true && error?.isTemporary == false, "\(error?.detail ?? "none")")
    }
    try expect("may not derive", "refused", .agreement)
    try expect("may not sign", "refused-agreement")
    try expect("no such private key", "refused-secret")
    try expect("no such private key", "absent")
    #expect(throws: TokenError.self) {
      try TokenKey(TokenURI("pkcs11:token=mdoc"), in: token.module, pin: token.pin, for: .signing)
    }
    let again = #expect(throws: TokenError.self) { try token.make(.secret, "refused") }
    #expect(again?.detail.contains("exists") == true)
    let absent = #expect(throws: TokenError.self) {
      try TokenKey(TokenURI("pkcs11:token=absent;object=a"), in: token.module, pin: token.pin, for: .signing)
    }
    #expect(absent?.isTemporary == true)
  }

  @Test func refusesAKeyThatIsNotTheOnlyOne() throws {
    try token.make(.signing(.p256), "twin", ";id=%01")
    let twin = try PrivateKey(generatingOn: .p256)
    try token.write(
      "twin",
      [
        (CKA_CLASS, .number(CKO_PRIVATE_KEY)), (CKA_KEY_TYPE, .number(CKK_EC)), (CKA_ID, .bytes([2])),
        (CKA_EC_PARAMS, .bytes(Curve.p256.parameters)), (CKA_VALUE, .bytes(try twin.scalar().exposed())),
        (CKA_SIGN, .flag(true)), (CKA_PRIVATE, .flag(true)), (CKA_EXTRACTABLE, .flag(true)),
      ])
    let error = #expect(throws: TokenError.self) { try token.key("twin") }
    #expect(error?.detail.contains("names 2 private keys") == true)
    // Each by its id; the second has no public key in the token.
    _ = try TokenKey(SoftToken.uri("twin", ";id=%01"), in: token.module, pin: token.pin, for: .signing)
    let bare = #expect(throws: TokenError.self) {
      try TokenKey(SoftToken.uri("twin", ";id=%02"), in: token.module, pin: token.pin, for: .signing)
    }
    #expect(bare?.detail.contains("no public key") == true)
  }

  /// The name has two halves that do not belong together.
  @Test func refusesAnotherKeysPublicHalf() throws {
    let (own, other) = (try PrivateKey(generatingOn: .p256), try PrivateKey(generatingOn: .p256))
    try write(own, beside: other.publicKey, as: "mixed")
    let error = #expect(throws: TokenError.self) { try token.key("mixed") }
    #expect(error?.detail.contains("does not belong to its private key") == true)
  }

  private func write(
    _ key: PrivateKey, beside publicKey: PublicKey, as object: String, signs: Bool = true
  ) throws {
    try token.write(
      object,
      [
        (CKA_CLASS, .number(CKO_PRIVATE_KEY)), (CKA_KEY_TYPE, .number(CKK_EC)), (CKA_SIGN, .flag(signs)),
        (CKA_EC_PARAMS, .bytes(Curve.p256.parameters)), (CKA_VALUE, .bytes(try key.scalar().exposed())),
        (CKA_PRIVATE, .flag(true)), (CKA_EXTRACTABLE, .flag(true)), (CKA_SENSITIVE, .flag(false)),
      ])
    try token.write(
      object,
      [
        (CKA_CLASS, .number(CKO_PUBLIC_KEY)), (CKA_KEY_TYPE, .number(CKK_EC)),
        (CKA_EC_PARAMS, .bytes(Curve.p256.parameters)), (CKA_EC_POINT, .bytes([0x04, 0x41] + publicKey.encoded)),
      ])
  }

  @Test func triesAWrongPINOnce() throws {
    try token.make(.signing(.p256), "guarded")
    // Without a session that is logged in, which would see the key.
    token.module.finalizeBehindItsBack()
    let first = #expect(throws: TokenError.self) { try token.key("guarded", pin: SoftToken.secret("0000")) }
    #expect(first?.detail.contains("refuses the PIN") == true && first?.isTemporary == false)
    let second = #expect(throws: TokenError.self) { try token.key("guarded", pin: SoftToken.secret("0000")) }
    #expect(second?.detail.contains("not tried again") == true)
    _ = try token.key("guarded")
  }

  // MARK: Faults

  @Test func comesBackAfterAReset() throws {
    try token.make(.signing(.p256), "reset")
    let key = PrivateKey(try token.key("reset"))
    for _ in 0..<3 {
      token.module.finalizeBehindItsBack()
      #expect(try key.signECDSA([1], hash: .sha256).count == 64)
    }
    token.module.closeSessionsBehindItsBack()
    #expect(try key.signECDSA([1], hash: .sha256).count == 64)
    try #require(key.held).check()
  }

  @Test func isUnavailableWithoutItsKeyAndRefusesAnother() throws {
    let own = try PrivateKey(generatingOn: .p256)
    try write(own, beside: own.publicKey, as: "swapped")
    let held = try token.key("swapped")
    #expect(held.isExtractable)
    let key = PrivateKey(held)
    try token.destroy("swapped")
    #expect(throws: CryptoError.keyUnavailable) { try key.signECDSA([1], hash: .sha256) }
    #expect(throws: CryptoError.keyUnavailable) { try held.check() }
    let other = try PrivateKey(generatingOn: .p256)
    try write(other, beside: other.publicKey, as: "swapped")
    #expect(throws: CryptoError.keyUnavailable) { try key.signECDSA([1], hash: .sha256) }
    try token.destroy("swapped")
    try write(own, beside: own.publicKey, as: "swapped")
    #expect(try key.signECDSA([1], hash: .sha256).count == 64)
  }

  @Test func manyThreadsSignAcrossResets() async throws {
    try token.make(.signing(.p256), "shared")
    let key = PrivateKey(try token.key("shared"))
    let held = try #require(key.held)
    let good = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<64 {
        group.addTask {
          // Between calls: SoftHSM crashes where sessions are closed while another thread uses them.
          if number % 16 == 15 {
            try? token.module.enter(SoftToken.uri("shared"), pin: token.pin) { _, _ throws(TokenError) in
              token.module.closeSessionsBehindItsBack()
            }
          }
          let signature = await held.result(of: { try? key.signECDSA([UInt8(number)], hash: .sha256) })
          return (signature ?? nil).map { key.publicKey.verifyECDSA($0, of: [UInt8(number)], hash: .sha256) } ?? false
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    // A call that a reset meets twice is unavailable; none is wrong, and most succeed.
    #expect(good > 32)
    #expect(try key.signECDSA([1], hash: .sha256).count == 64)
  }
}

@Suite struct TokenThreadsTests {
  @Test func leavesWorkThatHangs() async {
    let threads = TokenThreads()
    let mayEnd = Locked(false)
    async let hanging = threads.run { while !mayEnd.withLock({ $0 }) { Deadline(in: .milliseconds(5)).sleep() } }
    #expect(await threads.run {})
    #expect(await hanging == false)
    mayEnd.withLock { $0 = true }
    #expect(await threads.run {})
    #expect(threads.wait {})
  }

  @Test func boundsWhatWaits() async {
    let threads = TokenThreads()
    let mayEnd = Locked(false)
    let most = Limits.tokenThreads + Limits.tokenQueue
    let ended = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<(most + 10) {
        group.addTask {
          await threads.run { while !mayEnd.withLock({ $0 }) { Deadline(in: .milliseconds(5)).sleep() } }
        }
      }
      var refused = 0
      while refused < 10, let isDone = await group.next() { refused += isDone ? 0 : 1 }
      mayEnd.withLock { $0 = true }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(ended <= most)
    #expect(await threads.run {})
  }
}

extension TokenModule {
  fileprivate func finalizeBehindItsBack() { try? call { $0.C_Finalize?(nil) } }

  fileprivate func closeSessionsBehindItsBack() {
    var (slots, count) = ([CK_SLOT_ID](repeating: 0, count: 8), CK_ULONG(8))
    try? call { $0.C_GetSlotList?(1, &slots, &count) }
    for slot in slots.prefix(Int(count)) { try? call { $0.C_CloseAllSessions?(slot) } }
  }
}
