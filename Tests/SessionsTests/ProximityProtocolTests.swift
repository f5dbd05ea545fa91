import Base
import CBOR
import COSE
import Cryptography
import Mock
import Presentation
import Testing

@testable import Mdoc
@testable import Sessions

@Suite("The protocol iso-18013-5-proximity")
struct ProximityProtocolTests {
  private static let name = "iso-18013-5-proximity"

  private let fixture: WebFixture
  private let reader: PrivateKey
  private let device: PrivateKey
  private let engagement: [UInt8]

  init() throws {
    fixture = try WebFixture([ProximityProtocol()])
    reader = try PrivateKey(generatingOn: .p256)
    device = try PrivateKey(generatingOn: .p256)
    engagement = CBORValue.map([
      (key: 0, value: "1.0"), (key: 1, value: [1, .embedded(COSEKey.encode(device.publicKey))]),
    ]).encoded()
  }

  private var readerKey: [UInt8] { COSEKey.encode(reader.publicKey).encoded() }

  private func transcript(_ handover: Proximity.Handover) -> SessionTranscript {
    Proximity.transcript(deviceEngagement: engagement, readerKey: readerKey, handover: handover)
  }

  private func response(_ handover: Proximity.Handover = .qr, isMac: Bool = false) throws -> [UInt8] {
    try fixture.wallet.answer(
      .standard, transcript: transcript(handover).encoded,
      authentication: isMac ? .mac(readerKey: reader.publicKey) : .signature, at: fixture.clock.now
    ).deviceResponse
  }

  private func text(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURLSafe(bytes)) }

  /// A submit's `data` with some members replaced; null leaves one out.
  private func data(_ changes: KeyValuePairs<String, JSON>) throws -> JSON {
    try data(changes.map { ($0.key, $0.value) })
  }

  private func data(_ changes: [(String, JSON)]) throws -> JSON {
    var members: [JSON.Member] = [
      .init("device_engagement", text(engagement)), .init("e_reader_key", text(readerKey)), .init("handover", "qr"),
      .init("device_response", text(try response())),
    ]
    for (name, value) in changes {
      members.removeAll { $0.name == name }
      if !value.isNull { members.append(.init(name, value)) }
    }
    return .object(members)
  }

  private func submit(_ changes: KeyValuePairs<String, JSON>) async throws -> JSON {
    let session = try await fixture.create(Self.name, origin: nil)
    return try await fixture.submit(data(changes), Self.name, to: session)
  }

  @Test("the request is a DeviceRequest that nobody signed")
  func request() async throws {
    let session = try await fixture.create(Self.name, origin: nil)
    #expect(session.data.object?.map(\.name) == ["device_request"])
    let encoded = try #require(session.data["device_request"]?.string.flatMap(Base64.decodeURLSafe))
    #expect(try CBORItem(parsing: encoded)[key: "version"]?.text == "1.0")
  }

  @Test("what a reader received in clear is verified, by QR code and by NFC")
  func inClear() async throws {
    #expect(try await submit([:]).status == "verified")
    for request in [[0x91, 0x02], nil] as [[UInt8]?] {
      let handover = Proximity.Handover.nfc(select: [0x91, 0x01], request: request)
      let messages: JSON = ["select": text([0x91, 0x01]), "request": request.map(text) ?? .null]
      let body = try await submit(["handover": ["nfc": messages], "device_response": text(response(handover))])
      #expect(body.status == "verified")
    }
  }

  /// `MobileDriversLicenseRawDataRequest.Response`: `sessionTranscript` and `responseData`.
  @Test("what Apple's ProximityReader returns is verified over its one encoded transcript")
  func wholeTranscript() async throws {
    let nfc = Proximity.Handover.nfc(select: [0x91, 0x01], request: [0x91, 0x02])
    for handover in [Proximity.Handover.qr, nfc] {
      for encoded in [transcript(handover).encoded, transcript(handover).taggedBytes] {
        let body = try await submit(whole(encoded, response(handover)))
        #expect(body.status == "verified", "\(body)")
      }
    }
    let withMAC = try whole(transcript(.qr).encoded, response(isMac: true))
    #expect(try await submit(withMAC + [("reader_private_key", text(reader.scalar().exposed()))]).status == "verified")
    // The received bytes are signed over, in any encoding.
    let loose = [0x9f] + transcript(.qr).encoded.dropFirst() + [0xff]
    let signed = try fixture.wallet.answer(.standard, transcript: loose, at: fixture.clock.now).deviceResponse
    #expect(try await submit(whole(loose, signed)).status == "verified")
    #expect(
      try await submit(whole(transcript(nfc).encoded, response()))["last_error"]?["code"]
        == "mdoc.device_auth.signature_invalid")
  }

  @Test("the transcript of a page, or of anything else, is none of a reader, and nothing is consumed")
  func otherTranscripts() async throws {
    let page = OpenID4VPRecipient.origin("https://shop.example").transcript(nonce: "n", thumbprint: nil)
    let bytes = CBORValue.bytes([1])
    let parts: [CBORValue] = [.tagged(24, .bytes(engagement)), .tagged(24, .bytes(readerKey))]
    let others: [[UInt8]] = [
      page.encoded, [0x80], [0x00], CBORValue.array(parts).encoded(), CBORValue.array(parts + ["qr"]).encoded(),
      CBORValue.array(parts + [[bytes]]).encoded(), CBORValue.array(parts + [["dcapi", bytes]]).encoded(),
      CBORValue.array([nil, parts[1], nil]).encoded(), CBORValue.array(parts + [[bytes, "x"]]).encoded(),
    ]
    for encoded in others {
      #expect(try await pointers(whole(encoded, response())) == ["/data/session_transcript"])
    }
    let both = try whole(transcript(.qr).encoded, response()) + [("handover", "qr")]
    #expect(try await pointers(both) == ["/data/handover"])
  }

  private func whole(_ transcript: [UInt8], _ response: [UInt8]) -> [(String, JSON)] {
    [
      ("device_engagement", .null), ("e_reader_key", .null), ("handover", .null),
      ("session_transcript", text(transcript)), ("device_response", text(response)),
    ]
  }

  private func submit(_ changes: [(String, JSON)]) async throws -> JSON {
    let session = try await fixture.create(Self.name, origin: nil)
    return try await fixture.submit(data(changes), Self.name, to: session)
  }

  private func pointers(_ changes: [(String, JSON)]) async throws -> [String]? {
    let session = try await fixture.create(Self.name, origin: nil)
    let data = try data(changes)
    let error = await #expect(throws: ServiceError.self) { try await fixture.submit(data, Self.name, to: session) }
    #expect(try await fixture.status(session) == "requires_input")
    return error?.pointers.map(\.pointer)
  }

  @Test("encrypted session data and device MACs are verified with the reader's private key, in each of its forms")
  func withTheKey() async throws {
    let keys = [
      JSON.string(String(decoding: try reader.pem(), as: UTF8.self)), text(try reader.scalar().exposed()),
    ]
    for key in keys {
      var encryption = try SessionEncryption(
        as: .device, privateKey: device, peerKey: reader.publicKey, transcript: transcript(.qr))
      let message = CBORValue.map([(key: "data", value: .bytes(try encryption.encrypt(response(isMac: true))))])
      let body = try await submit([
        "device_response": .null, "session_data": text(message.encoded()), "reader_private_key": key,
      ])
      #expect(body.status == "verified")
    }
    #expect(
      try await submit(["device_response": text(response(isMac: true))])["last_error"]?["code"]
        == "mdoc.device_auth.mac_not_allowed")
  }

  @Test("another private key than the session's fails")
  func otherKey() async throws {
    let key = try text(PrivateKey(generatingOn: .p256).scalar().exposed())
    #expect(try await submit(["reader_private_key": key])["last_error"]?["code"] == "proximity.reader_key_mismatch")
  }

  @Test("a client secret may not hand it in, and nothing is consumed")
  func byThePage() async throws {
    let session = try await fixture.create(Self.name, origin: nil)
    let data = try data([:])
    #expect(
      await code { _ = try await fixture.submit(data, Self.name, to: session, as: session.holder) } == .apiForbidden)
    #expect(try await fixture.status(session) == "requires_input")
    #expect(try await fixture.submit(data, Self.name, to: session).status == "verified")
  }

  @Test(
    "what is wrong is refused by its pointer, and nothing is consumed",
    arguments: [
      ("device_engagement", .null, "/data/device_engagement"), ("device_engagement", "AA==", "/data/device_engagement"),
      ("device_engagement", "gA", "/data/device_engagement"), ("e_reader_key", .null, "/data/e_reader_key"),
      ("e_reader_key", "oA", "/data/e_reader_key"), ("handover", .null, "/data/handover"),
      ("handover", "nfc", "/data/handover"), ("handover", [:], "/data/handover/nfc"),
      ("handover", ["nfc": [:]], "/data/handover/nfc/select"),
      ("handover", ["nfc": ["select": "kQE", "request": "="]], "/data/handover/nfc/request"),
      ("device_response", .null, "/data/device_response"), ("device_response", "=", "/data/device_response"),
      ("session_data", "kQE", "/data/device_response"), ("reader_private_key", "AA", "/data/reader_private_key"),
      ("reader_private_key", "-----BEGIN PRIVATE KEY-----", "/data/reader_private_key"),
      ("reader_private_key", 1, "/data/reader_private_key"), ("transcript", "AA", "/data/transcript"),
    ] as [(String, JSON, String)])
  func refused(_ member: String, _ value: JSON, _ pointer: String) async throws {
    let session = try await fixture.create(Self.name, origin: nil)
    let data = try data([member: value])
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.submit(data, Self.name, to: session)
    }
    #expect(error?.code == (member == "transcript" ? .apiUnknownMember : .apiInvalidRequest))
    #expect(error?.pointers.map(\.pointer) == [pointer])
    #expect(try await fixture.status(session) == "requires_input")
  }

  /// Decoding them before checking their curve would take seconds or minutes.
  @Test("a private key of another kind or size is refused before it costs anything", .timeLimit(.minutes(10)))
  func costlyKey() async throws {
    let line = String(repeating: "M", count: 64) + "\n"
    let large = "-----BEGIN PRIVATE KEY-----\n" + String(repeating: line, count: 64) + "-----END PRIVATE KEY-----\n"
    for (key, detail) in [
      (large, "must be a string of 1 to 4096 characters"), (try rsaKey(), "must be an unencrypted private key"),
    ] {
      let session = try await fixture.create(Self.name, origin: nil)
      let data = try data(["reader_private_key": .string(key)])
      let error = await #expect(throws: ServiceError.self) {
        try await fixture.submit(data, Self.name, to: session)
      }
      #expect(error?.pointers.map(\.pointer) == ["/data/reader_private_key"])
      #expect(error?.pointers.first?.detail.hasPrefix(detail) == true)
      #expect(try await fixture.status(session) == "requires_input")
    }
  }

  /// `RSAPrivateKey` (RFC 8017, A.1.2) of 5 600 bits, with invalid primes.
  private func rsaKey() throws -> String {
    func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
      [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xff)] + content
    }
    func number(_ bytes: Int) -> [UInt8] { element(0x02, [0x00] + [UInt8](repeating: 0xc7, count: bytes)) }
    let small: [UInt8] = [0x02, 0x01, 0x00]
    let key =
      small + number(700) + [0x02, 0x03, 0x01, 0x00, 0x01] + number(700) + number(350) + number(350) + small
    let text = Base64.encode(element(0x30, key + small + small))
    return "-----BEGIN RSA PRIVATE KEY-----\n\(text)\n-----END RSA PRIVATE KEY-----\n"
  }

  @Test("session data without the key that opens them are refused by its pointer")
  func keyMissing() async throws {
    let session = try await fixture.create(Self.name, origin: nil)
    let data = try data(["device_response": .null, "session_data": "kQE"])
    let error = await #expect(throws: ServiceError.self) { try await fixture.submit(data, Self.name, to: session) }
    #expect(error?.pointers.map(\.pointer) == ["/data/reader_private_key"])
  }
}
