import Base
import Compression
import Cryptography
import TestSupport
import Testing

@testable import JOSE

/// A JWE is opened only as OpenID4VP 1.0, 8.3 allows, or refused with the code of its fault.
@Suite struct CompactJWETests {
  let recipient: PrivateKey
  let draft: JWEDraft

  init() throws {
    recipient = try PrivateKey(generatingOn: .p256)
    draft = try JWEDraft(to: recipient.publicKey, keyID: "1")
  }

  @Test(arguments: ["A128GCM", "A256GCM"], [Curve.p256, .p384, .p521, .x25519, .brainpoolP256r1])
  func opensWhatWasEncryptedToItsKey(encryption: String, curve: Curve) throws {
    let recipient = try PrivateKey(generatingOn: curve)
    var draft = try JWEDraft(to: recipient.publicKey, keyID: "7", encryption: encryption)
    draft["apu"] = .string(Base64.encodeURLSafe("wallet nonce".utf8))
    draft["apv"] = .string(Base64.encodeURLSafe("our nonce".utf8))
    let jwe = try CompactJWE(parsing: draft.encrypt(Array("hello".utf8)).utf8)
    #expect(jwe.header.keyID == "7" && jwe.header.contentEncryption.rawValue == encryption)
    #expect(jwe.header.partyUInfo == Array("wallet nonce".utf8))
    #expect(try jwe.decrypt(with: recipient) == Array("hello".utf8))
    #expect(throws: JWEError.decryptionFailed) { try jwe.decrypt(with: PrivateKey(generatingOn: curve)) }
  }

  /// RFC 7516, 7.1; RFC 7518, 4.6: each message has an ephemeral key and a nonce of its own.
  @Test(arguments: JWEHeader.ContentEncryption.allCases, [Curve.p256, .p384, .p521])
  func whatIsEncryptedHereIsOpened(encryption: JWEHeader.ContentEncryption, curve: Curve) throws {
    let recipient = try PrivateKey(generatingOn: curve)
    let plaintext = Array("a request object".utf8)
    func encrypt() throws -> String {
      try CompactJWE.encrypt(
        plaintext, to: recipient.publicKey, by: encryption, parameters: [.init("kid", "7"), .init("cty", "JWT")])
    }
    let texts = [try encrypt(), try encrypt()]
    let headers = try texts.map { text -> JSON in
      let jwe = try CompactJWE(parsing: text.utf8)
      #expect(try jwe.decrypt(with: recipient) == plaintext)
      #expect(jwe.header.keyID == "7" && jwe.header.contentEncryption == encryption)
      #expect(throws: JWEError.decryptionFailed) { try jwe.decrypt(with: PrivateKey(generatingOn: curve)) }
      return try JSON(parsing: #require(Base64.decodeURLSafe(String(text.prefix { $0 != "." }))))
    }
    #expect(headers[0].object?.map(\.name) == ["alg", "enc", "epk", "kid", "cty"])
    #expect(headers[0]["epk"]?.object?.map(\.name) == ["crv", "kty", "x", "y"])
    #expect(headers[0]["epk"] != headers[1]["epk"])
    let vectors = texts.map { $0.split(separator: ".", omittingEmptySubsequences: false)[2] }
    #expect(vectors[0] != vectors[1])
  }

  @Test func anEmptyPlaintextIsOne() throws {
    #expect(try CompactJWE(parsing: draft.encrypt([]).utf8).decrypt(with: recipient) == [])
  }

  @Test(arguments: [
    ("alg", "RSA-OAEP"), ("alg", "dir"), ("alg", "none"), ("alg", "ECDH-ES+A128KW"), ("alg", "ecdh-es"), ("alg", ""),
    ("enc", "A128CBC-HS256"), ("enc", "A192GCM"), ("enc", "a128gcm"),
  ])
  func otherAlgorithmsAreUnsupported(name: String, value: String) throws {
    var draft = draft
    // The members of other algorithms, so that the algorithm itself is refused.
    draft.encryptedKey = [1, 2, 3]
    draft.changeParts = { parts in parts[4] = Base64.encodeURLSafe([UInt8](repeating: 0, count: 8)) }
    draft[name] = .string(value)
    let fault = try #require(try self.fault(of: draft))
    #expect(fault.code == .jweAlgorithmUnsupported)
    #expect(fault.detail.hasPrefix("\(name) is \"\(value)\", not \""))
  }

  /// RFC 7516, 4.1.3: unknown values are refused.
  @Test(arguments: ["def", "GZIP", "", 1, .null, ["DEF"]] as [JSON])
  func otherCompressionIsNotAllowed(zip: JSON) throws {
    var draft = draft
    draft["zip"] = zip
    #expect(try fault(of: draft)?.code == .jweCompressionNotAllowed)
  }

  @Test func aCompressedPlaintextIsInflatedUpToTheBound() throws {
    var draft = draft
    draft["zip"] = "DEF"
    let limit = Limits.jwePlaintextBytes
    for (count, expected) in [(0, nil), (5, nil), (limit, nil), (limit + 1, JWEError.plaintextTooLarge)] {
      let content = [UInt8](repeating: 7, count: count)
      let jwe = try CompactJWE(parsing: draft.encrypt(deflated(content)).utf8)
      do throws(JWEError) {
        let plaintext = try jwe.decrypt(with: recipient)
        #expect(expected == nil && plaintext == content)
      } catch {
        #expect(error == expected)
      }
    }
  }

  @Test func aPlaintextHasTheSameBoundWithoutCompression() throws {
    let content = [UInt8](repeating: 7, count: Limits.jwePlaintextBytes)
    let largest = try CompactJWE(parsing: draft.encrypt(content).utf8)
    #expect(try largest.decrypt(with: recipient).count == content.count)
    let larger = try CompactJWE(parsing: draft.encrypt(content + [7]).utf8)
    #expect(throws: JWEError.plaintextTooLarge) { try larger.decrypt(with: recipient) }
  }

  @Test func onlyOneWholeStreamIsInflated() throws {
    var draft = draft
    draft["zip"] = "DEF"
    let content = [UInt8](0...255)
    let right = try deflated(content)
    let wrong = [
      [], Array(right.dropLast()), right + [0], right + right, try Deflation.deflate(content), [7], content,
    ]
    for plaintext in wrong {
      #expect(throws: JWEError.compressionMalformed) {
        try CompactJWE(parsing: draft.encrypt(plaintext).utf8).decrypt(with: recipient)
      }
    }
  }

  /// Only authentic plaintexts are inflated, so the limit on the plaintext is not reached.
  @Test func aCompressedPlaintextIsAuthenticFirst() throws {
    var draft = draft
    draft["zip"] = "DEF"
    draft.changeParts = { $0[4] = Base64.encodeURLSafe([UInt8](repeating: 0, count: 16)) }
    let bomb = try deflated([UInt8](repeating: 0, count: Limits.jwePlaintextBytes + 1))
    let jwe = try CompactJWE(parsing: draft.encrypt(bomb).utf8)
    #expect(throws: JWEError.decryptionFailed) { try jwe.decrypt(with: recipient) }
  }

  /// RFC 7516, 7.2: only the compact form is accepted, in which every parameter is protected.
  @Test func anUnprotectedHeaderIsNoCompactJWE() throws {
    let parts = try draft.encrypt(deflated([1, 2, 3])).split(separator: ".", omittingEmptySubsequences: false)
    let flattened: JSON = [
      "protected": .string(String(parts[0])), "unprotected": ["zip": "DEF"], "iv": .string(String(parts[2])),
      "ciphertext": .string(String(parts[3])), "tag": .string(String(parts[4])),
    ]
    #expect {
      try CompactJWE(parsing: flattened.serialized())
    } throws: { error in
      (error as? JWEError)?.code == .envelopeMalformed
    }
  }

  private func deflated(_ content: [UInt8]) throws -> [UInt8] {
    Array(try Deflation.deflate(content).dropFirst(2).dropLast(4))
  }

  @Test(
    arguments: [
      ("alg", nil), ("alg", 1), ("enc", nil), ("enc", []), ("kid", 1), ("apu", 1), ("apu", "AA=="), ("apv", "+/+/"),
      ("crit", ["exp"]), ("crit", []), ("crit", nil as JSON? ?? .null),
    ] as [(String, JSON?)])
  func headersOfOtherTypesOrWithCriticalParametersAreInvalid(name: String, value: JSON?) throws {
    var draft = draft
    draft[name] = value
    #expect(try fault(of: draft)?.code == .jweHeaderInvalid)
  }

  /// The nonces in it are hashed for each transcript that is tried.
  @Test(arguments: ["apu", "apv"])
  func partyInformationHasABound(name: String) throws {
    var draft = draft
    for (length, expected) in [(Limits.partyInfoBytes, nil), (Limits.partyInfoBytes + 1, Code.jweHeaderInvalid)] {
      draft[name] = .string(Base64.encodeURLSafe([UInt8](repeating: 7, count: length)))
      #expect(try fault(of: draft)?.code == expected)
    }
  }

  @Test func aHeaderThatNamesAParameterTwiceIsInvalid() throws {
    var draft = draft
    draft.header.append(JSON.Member("enc", "A128GCM"))
    #expect(try fault(of: draft)?.code == .jweHeaderInvalid)
  }

  @Test func ephemeralKeysThatAreNoPointOfTheRecipientsCurveAreInvalid() throws {
    let good = try #require(draft["epk"])
    let other = JWEDraft.webKey(try PrivateKey(generatingOn: .p384).publicKey)
    let agreed = JWEDraft.webKey(try PrivateKey(generatingOn: .x25519).publicKey)
    let zero = JSON.string(Base64.encodeURLSafe([UInt8](repeating: 0, count: 32)))
    let wrong: [JSON?] = [
      nil, "", other, agreed, replacing("y", by: good["x"], in: good), replacing("y", by: nil, in: good),
      replacing("x", by: zero, in: replacing("y", by: zero, in: good)), replacing("crv", by: "P-384", in: good),
      replacing("d", by: zero, in: good), replacing("kty", by: "OKP", in: good),
    ]
    for key in wrong {
      var draft = draft
      draft["epk"] = key
      #expect(try fault(of: draft)?.code == .jweEphemeralKeyInvalid, "\(String(describing: key))")
    }
  }

  @Test func anythingButFivePartsOfTheRightLengthsIsMalformed() throws {
    let wrong: [@Sendable (inout [String]) -> Void] = [
      { $0.removeLast() }, { $0.append("") }, { $0[1] = "AAAA" }, { $0[2] = "AAAA" }, { $0[4] = "AAAA" },
      { $0[2] += "=" }, { $0[3] += " " }, { $0[3] = "+/+/" }, { $0[4] += "\n" }, { $0[0] = " " + $0[0] },
      { $0[3] = "é" }, { $0[4] = "" }, { $0 = [$0[0]] }, { $0 = [""] },
    ]
    for change in wrong {
      var draft = draft
      draft.changeParts = change
      #expect(try fault(of: draft)?.code == .envelopeMalformed)
    }
  }

  @Test func everyCharacterIsCovered() throws {
    let text = Array(try draft.encrypt(Array("hello".utf8)).utf8)
    for index in text.indices {
      var changed = text
      changed[index] = text[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(throws: JWEError.self, "\(index)") { try CompactJWE(parsing: changed).decrypt(with: recipient) }
    }
  }

  /// A fault names its member, the found and the expected value.
  @Test func `each fault has its code and names its member`() throws {
    func fault(_ change: (inout JWEDraft) throws -> Void) throws -> String {
      var draft = draft
      try change(&draft)
      let error = try #require(try self.fault(of: draft))
      return "\(error.code.rawValue): \(error.detail)"
    }
    let key = JWEDraft.webKey(try PrivateKey(generatingOn: .p384).publicKey)
    let own = try #require(draft["epk"])
    let expected: [(String, (inout JWEDraft) throws -> Void)] = [
      ("envelope.malformed: the JWE has 4 parts, not 5", { $0.changeParts = { $0.removeLast() } }),
      ("envelope.malformed: the JWE has more than 5 parts, not 5", { $0.changeParts = { $0 += ["", ""] } }),
      ("envelope.malformed: the JWE's ciphertext is not base64url", { $0.changeParts = { $0[3] = "+/+/" } }),
      ("envelope.malformed: the JWE's encrypted key has 3 bytes, not 0", { $0.changeParts = { $0[1] = "AAAA" } }),
      ("envelope.malformed: the JWE's authentication tag has 3 bytes, not 16", { $0.changeParts = { $0[4] = "AAAA" } }),
      ("jwe.header_invalid: the header has no alg", { $0["alg"] = nil }),
      ("jwe.header_invalid: kid is not a string", { $0["kid"] = 1 }),
      ("jwe.header_invalid: apu is not base64url", { $0["apu"] = "AA==" }),
      ("jwe.header_invalid: the header has crit, but no extension is supported", { $0["crit"] = ["exp"] }),
      ("jwe.compression_not_allowed: zip is \"GZIP\", not \"DEF\"", { $0["zip"] = "GZIP" }),
      ("jwe.ephemeral_key_invalid: epk is missing", { $0["epk"] = nil }),
      ("jwe.ephemeral_key_invalid: epk is on P-384, not on P-256", { $0["epk"] = key }),
      ("jwe.ephemeral_key_invalid: epk has its private part, d", { $0["epk"] = replacing("d", by: "AA", in: own) }),
      (
        "jwe.ephemeral_key_invalid: epk is for another use, by its alg, use or key_ops",
        { $0["epk"] = replacing("use", by: "sig", in: own) }
      ),
    ]
    for (words, change) in expected { #expect(try fault(change) == words) }
    #expect(JWEError.plaintextTooLarge.code == .jwePlaintextTooLarge)
    #expect(JWEError.compressionMalformed.code == .envelopePlaintextMalformed)
    #expect(JWEError.decryptionFailed.code == .envelopeDecryptionFailed)
  }

  private func fault(of draft: JWEDraft) throws -> JWEError? {
    let text = try draft.encrypt(Array("hello".utf8))
    do throws(JWEError) {
      _ = try CompactJWE(parsing: text.utf8).decrypt(with: recipient)
      return nil
    } catch {
      return error
    }
  }
}
