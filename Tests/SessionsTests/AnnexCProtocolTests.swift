import Base
import CBOR
import COSE
import Cryptography
import Mock
import PKIX
import Presentation
import Testing

@testable import Mdoc
@testable import Sessions

@Suite("The protocol org-iso-mdoc")
struct AnnexCProtocolTests {
  private static let name = "org-iso-mdoc"

  /// A wallet's response to a request, for the origin that its browser names.
  private func answer(
    _ fixture: WebFixture, _ session: WebFixture.Session, origin: String = WebFixture.origin
  ) throws -> String {
    let sent = try #require(session.data["encryptionInfo"]?.string)
    let info = try CBORItem(parsing: try #require(Base64.decodeURLSafe(sent)))
    let parts = try #require(info.elements.map { Array($0) })
    let recipient = try COSEKey(try #require(parts[1][key: "recipientPublicKey"])).key
    let transcript = MockSessionTranscript.digitalCredentialsAPI(encryptionInfo: sent, origin: origin)
    let response = try fixture.wallet.answer(.standard, transcript: transcript, at: fixture.clock.now)
    let sealed = try HPKE.p256SHA256AES128GCM.seal(response.deviceResponse, to: recipient, info: transcript)
    let envelope: CBORValue = [
      "dcapi", ["enc": .bytes(sealed.encapsulatedKey), "cipherText": .bytes(sealed.ciphertext)],
    ]
    return Base64.encodeURLSafe(envelope.encoded())
  }

  @Test("a response is verified under either spelling of its member, with any other members")
  func verified() async throws {
    let fixture = try WebFixture([AnnexCProtocol()])
    for member in ["response", "Response"] {
      let session = try await fixture.create(Self.name)
      #expect(session.data.object?.map(\.name) == ["deviceRequest", "encryptionInfo"])
      let data = JSON.object([.init(member, .string(try answer(fixture, session))), .init("extra", 1)])
      let body = try await fixture.submit(data, Self.name, to: session)
      #expect(body.status == "verified")
      #expect(body["last_error"]?.isNull == true)
    }
  }

  @Test("the page's client secret may hand it in")
  func byThePage() async throws {
    let fixture = try WebFixture([AnnexCProtocol()])
    let session = try await fixture.create(Self.name)
    let data: JSON = ["response": .string(try answer(fixture, session))]
    #expect(try await fixture.submit(data, Self.name, to: session, as: session.holder).status == "verified")
  }

  @Test("a response that is not one base64url text is refused, and nothing is consumed")
  func unreadable() async throws {
    let fixture = try WebFixture([AnnexCProtocol()])
    let session = try await fixture.create(Self.name)
    let good = JSON.string(try answer(fixture, session))
    let unpadded = JSON.string("AAAA=")
    for data in [
      ["response": good, "Response": good], [:], [], ["response": unpadded], ["response": "A A"], ["response": 1],
      ["response": "+/+/"], ["RESPONSE": good],
    ] as [JSON] {
      #expect(await code { _ = try await fixture.submit(data, Self.name, to: session) } == .apiInvalidRequest)
    }
    #expect(try await fixture.status(session) == "requires_input")
    #expect(try await fixture.submit(["response": good], Self.name, to: session).status == "verified")
  }

  @Test("a response for another origin of the relying party fails, and the report says which (D01)")
  func otherOrigin() async throws {
    let fixture = try WebFixture([AnnexCProtocol()])
    for origin in [WebFixture.otherOrigin, WebFixture.origin + "/"] {
      let session = try await fixture.create(Self.name)
      let data: JSON = ["response": .string(try answer(fixture, session, origin: origin))]
      let page = try await fixture.submit(data, Self.name, to: session, as: session.holder)
      #expect(page.status == "failed" && !page.text().contains("it decrypts with"))
      let body = try await fixture.service.session(session.id, as: fixture.full).body
      #expect(body["last_error"]?["code"] == "envelope.decryption_failed")
      #expect(body["report"]?.text().contains("it decrypts with the origin \(origin)") == true)
    }
  }

  @Test("a response to another session fails (D07)")
  func otherSession() async throws {
    let fixture = try WebFixture([AnnexCProtocol()])
    let first = try await fixture.create(Self.name)
    let second = try await fixture.create(Self.name)
    #expect(first.data["encryptionInfo"] != second.data["encryptionInfo"])
    let data: JSON = ["response": .string(try answer(fixture, first))]
    let body = try await fixture.submit(data, Self.name, to: second)
    #expect(body["last_error"]?["code"] == "envelope.decryption_failed")
    #expect(!body.text().contains("it decrypts with"))
  }

  @Test("a relying party's reader signs its requests, until its certificate expires")
  func reader() async throws {
    let fixture = try WebFixture([AnnexCProtocol()], readers: [try Self.reader(until: FakeClock().now + 60)])
    let session = try await fixture.create(Self.name)
    let encoded = try #require(session.data["deviceRequest"]?.string.flatMap(Base64.decodeURLSafe))
    let request = try CBORItem(parsing: encoded)
    #expect(request[key: "version"]?.text == "1.1")
    #expect(request[key: "readerAuthAll"]?.count == 1)
    let data: JSON = ["response": .string(try answer(fixture, session))]
    #expect(try await fixture.submit(data, Self.name, to: session).status == "verified")
    fixture.clock.advance(61)
    #expect(await code { _ = try await fixture.create(Self.name) } == .readerCertificateExpired)
  }

  @Test("while a reader is replaced by another, the one that is valid signs")
  func replacedReader() async throws {
    let start = FakeClock().now
    let readers = [try Self.reader(until: start + 60), try Self.reader(until: start + 3_600)]
    let fixture = try WebFixture([AnnexCProtocol()], readers: readers)
    fixture.clock.advance(61)
    let session = try await fixture.create(Self.name)
    let encoded = try #require(session.data["deviceRequest"]?.string.flatMap(Base64.decodeURLSafe))
    let signature = try CBORItem(parsing: encoded)[key: "readerAuthAll"]?.elements.map { Array($0) }?.first
    #expect(signature?.elements.map { Array($0) }?[1][label: 33]?.bytes.map { Array($0) } == readers[1].leaf.der)
  }

  private static func reader(until: Timestamp) throws -> ReaderIdentity {
    let key = try PrivateKey(generatingOn: .p256)
    return try ReaderIdentity(
      key: key, certificates: [try Certificate(der: ReaderCertificate.make(for: key, until: until))])
  }
}
