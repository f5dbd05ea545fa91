import Base
import CBOR
import Cryptography
import Mock
import Testing

@Suite struct AnswerTests {
  @Test func sameInputsGiveTheSameBytes() throws {
    let first = try Fixture()
    let second = try Fixture()
    #expect(try first.apple().bytes == second.apple().bytes)
    #expect(try first.response().bytes == second.response().bytes)
    #expect(
      try first.authority.anchors(at: first.now).map(\.certificate)
        == second.authority.anchors(at: first.now).map(\.certificate))
  }

  @Test func anotherSeedOrNonceGivesOtherBytes() throws {
    let fixture = try Fixture()
    let other = try Fixture(seed: 8)
    #expect(try fixture.apple().bytes != other.apple().bytes)
    var session = fixture.session
    session.nonce = [UInt8](repeating: 0xac, count: 32)
    let again = try fixture.wallet.answerApple(.standard, session: session, at: fixture.now)
    let encapsulated = try CBORItem(parsing: fixture.apple().bytes)[key: "params"]?[key: "pkEm"]?.bytes
    #expect(try CBORItem(parsing: again.bytes)[key: "params"]?[key: "pkEm"]?.bytes != encapsulated)
  }

  @Test func theEnvelopeOpensUnderTheTranscript() throws {
    let fixture = try Fixture()
    let answer = try fixture.apple()
    let envelope = try CBORItem(parsing: answer.bytes)
    #expect(envelope[key: "algorithm"]?.isText("APPLE-HPKE-v1") == true)
    let hash = envelope[key: "params"]?[key: "infoHash"]?.bytes.map(Array.init)
    #expect(hash == HashAlgorithm.sha256.hash(answer.sessionTranscript))
    let plaintext = try HPKE.p256SHA256AES128GCM.open(
      Array(try #require(envelope[key: "data"]?.bytes)),
      encapsulatedKey: try #require(envelope[key: "params"]?[key: "pkEm"]?.bytes), recipient: fixture.recipient,
      info: answer.sessionTranscript)
    #expect(try CBORItem(parsing: plaintext)[key: "identity"]?.encoded.elementsEqual(answer.deviceResponse) == true)
  }

  @Test(arguments: [HashAlgorithm.sha256, .sha384, .sha512])
  func everyReturnedItemHasItsDigest(_ algorithm: HashAlgorithm) throws {
    let fixture = try Fixture()
    var issuing = MockIssuing()
    issuing.digestAlgorithm = algorithm
    let wallet = MockWallet(authority: fixture.authority, issuing: issuing)
    let answer = try wallet.answer(.standard, transcript: fixture.transcript, at: fixture.now)
    let document = try #require(try CBORItem(parsing: answer.bytes).document(0))
    let digests = try #require(try document.mobileSecurityObject()[key: "valueDigests"])
    var count = 0
    for (namespace, items) in try #require(document[key: "issuerSigned"]?[key: "nameSpaces"]?.entries) {
      for item in try #require(items.elements) {
        let identifier = try #require(item.embedded?[key: "digestID"]?.integer)
        let digest = digests[key: try #require(namespace.text)]?[label: identifier]?.bytes.map(Array.init)
        #expect(digest == algorithm.hash(Array(item.encoded)))
        count += 1
      }
    }
    #expect(count == 8)
  }

  @Test func theDeviceSignatureCoversTheTranscript() throws {
    for curve in [Curve.p256, .p521, .brainpoolP320r1] {
      let fixture = try Fixture(deviceCurve: curve)
      let answer = try fixture.response()
      let document = try #require(try CBORItem(parsing: answer.bytes).document(0))
      let key = try #require(try document.mobileSecurityObject()[key: "deviceKeyInfo"]?[key: "deviceKey"])
      let publicKey = try PublicKey(
        curve: curve, x: try #require(key[label: -2]?.bytes), y: try #require(key[label: -3]?.bytes))
      let signed = try #require(document[key: "deviceSigned"])
      var parts = try #require(signed[key: "deviceAuth"]?[key: "deviceSignature"]?.elements)
      let header = try #require(parts.next()?.bytes)
      let authentication = CBORValue.embedded([
        "DeviceAuthentication", .encoded(fixture.transcript), .text(MockDocType.mDL),
        .encoded(Array(try #require(signed[key: "nameSpaces"]).encoded)),
      ])
      let message = CBORValue.array([
        "Signature1", .bytes(Array(header)), .bytes([]), .bytes(authentication.encoded()),
      ]).encoded()
      let signature = try #require(Array(parts).last?.bytes)
      let hash: HashAlgorithm = curve == .p256 ? .sha256 : curve == .p521 ? .sha512 : .sha384
      #expect(publicKey.verifyECDSA(signature, of: message, hash: hash))
    }
  }

  @Test func aWalletDisclosesWhatWasAskedAndNoMore() throws {
    let fixture = try Fixture()
    let request = MockRequest(documents: [
      .init(
        docType: MockDocType.mDL, elements: [(MockNamespace.mDL, "given_name"), (MockNamespace.aamva, "sex")],
        ageOver: [20])
    ])
    let names = try #require(try CBORItem(parsing: fixture.response(.good, request).bytes).document(0)?.returned)
    #expect(
      Set(names) == ["org.iso.18013.5.1/given_name", "org.iso.18013.5.1/age_over_21", "org.iso.18013.5.1.aamva/sex"])
  }

  @Test func aWalletReturnsEveryRequestedDocumentButAppleOne() throws {
    let fixture = try Fixture()
    #expect(try CBORItem(parsing: fixture.response(.good, .anyOf).bytes)[key: "documents"]?.count == 2)
    #expect(try CBORItem(parsing: fixture.apple(.good, .anyOf).deviceResponse)[key: "documents"]?.count == 1)
  }

  @Test func aWalletWithoutTheDocumentSaysSo() throws {
    let fixture = try Fixture()
    let request = MockRequest(documents: [.init(docType: "org.example.none", elements: [])])
    #expect(throws: MockError.noRequestedDocument(["org.example.none"])) { try fixture.response(.good, request) }
  }
}

extension CBORItem {
  func document(_ index: Int) -> CBORItem? { self[key: "documents"]?.elements.map(Array.init)?[index] }

  func mobileSecurityObject() throws -> CBORItem {
    let parts = try #require(self[key: "issuerSigned"]?[key: "issuerAuth"]?.elements.map(Array.init))
    let payload = try #require(parts[2].bytes)
    return try #require(CBORItem(parsing: Array(payload)).embedded)
  }

  /// `namespace/identifier` of the items.
  var returned: [String] {
    var names: [String] = []
    guard let namespaces = self[key: "issuerSigned"]?[key: "nameSpaces"]?.entries else { return [] }
    for (namespace, items) in namespaces {
      for item in items.elements.map(Array.init) ?? [] {
        names.append("\(namespace.text ?? "")/\(item.embedded?[key: "elementIdentifier"]?.text ?? "")")
      }
    }
    return names
  }
}
