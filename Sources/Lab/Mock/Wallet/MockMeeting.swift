import Base
import CBOR
import Cryptography

/// A mock reader's session with the mock wallet, started by QR code (ISO/IEC 18013-5:2021, 8.2.1.1 and 9.1.1). It
/// contains everything that the reader submits.
///
/// The session encryption does not share the verifier's code, so that tests reveal mistakes in that code.
package struct MockMeeting: Sendable {
  /// DeviceEngagement, without tag 24.
  package let deviceEngagement: [UInt8]
  /// EReaderKey, a COSE_Key without tag 24.
  package let readerKey: [UInt8]
  /// The private half of the reader's ephemeral key, on P-256.
  package let readerPrivateKey: PrivateKey
  /// The reader's first message: its key and the encrypted request.
  package let sessionEstablishment: [UInt8]
  /// The device's response, with the status that ends the session. `bytes` is the SessionData.
  package let response: MockWalletResponse
}

extension MockWallet {
  /// - Parameters:
  ///   - deviceRequest: the encoded DeviceRequest that the reader sends.
  ///   - request: the elements that the person agrees to disclose; nil for all.
  ///   - occasion: a text that differs for each meeting. Each meeting therefore has its own keys.
  /// - Throws: `MockError` if the request cannot be read, or the wallet has none of the documents.
  package func meet(
    readerAsking deviceRequest: [UInt8], request: MockRequest? = nil, occasion: [UInt8],
    variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockMeeting {
    let context: CBORValue = [
      .bytes(occasion), .bytes(deviceRequest), .text(variant.name), .integer(now.secondsSince1970),
    ]
    let keys = try authority.seed.child("meeting", context: context.encoded())
    let reader = try keys.key("reader", on: .p256)
    let device = try keys.key("device", on: .p256)
    let readerKey = MockSessionTranscript.readerKeyBytes(of: reader.publicKey)
    let engagement = MockSessionTranscript.deviceEngagement(with: device.publicKey)
    let transcript = MockSessionTranscript.qr(deviceEngagement: engagement, readerKey: readerKey)

    let ofReader = try MockSessionKeys(reader, device.publicKey, transcript)
    let establishment = CBORValue.map([
      ("eReaderKey", .tagged(24, .bytes(readerKey))), ("data", .bytes(try ofReader.seal(deviceRequest, by: .reader))),
    ]).encoded()

    let ofDevice = try MockSessionKeys(device, reader.publicKey, transcript)
    guard let received = try CBORItem(parsing: establishment)[key: "data"]?.bytes else {
      throw MockError.unreadableRequest("the reader's message has no data")
    }
    let opened = try ofDevice.open(Array(received), by: .reader)
    let requested = try RequestedDocuments(deviceRequest: Base64.encodeURLSafe(opened)).restricted(to: request)
    let chosen = try requested.chosen(by: self, at: now)
    let documents = MockRequest(documents: chosen.map(\.document))
    let response = try variant.applied(
      over: MockProtocol.proximity, hasProofs: proves(documents), seen: \.self
    ) { mutation in
      try deviceResponse(
        documents, of: requested.request, transcript: transcript, authentication: .signature,
        readerKey: reader.publicKey,
        mutation: mutation, documentLimit: chosen.count, seed: try responseSeed(transcript), at: now)
    }
    // Status 20 ends the session.
    let sessionData = CBORValue.map([("data", .bytes(try ofDevice.seal(response, by: .device))), ("status", 20)])
    return MockMeeting(
      deviceEngagement: engagement, readerKey: readerKey, readerPrivateKey: reader,
      sessionEstablishment: establishment,
      response: MockWalletResponse(
        bytes: sessionData.encoded(), deviceResponse: response, sessionTranscript: transcript, variant: variant))
  }
}

/// SKReader and SKDevice (ISO/IEC 18013-5:2021, 9.1.1.5), for the first message of each side.
private struct MockSessionKeys {
  enum Side: UInt8 { case reader = 0, device = 1 }

  private let secret: [UInt8]
  private let salt: [UInt8]

  init(_ own: PrivateKey, _ peer: PublicKey, _ transcript: [UInt8]) throws {
    secret = try own.sharedSecret(with: peer).exposed()
    salt = HashAlgorithm.sha256.hash(CBORValue.tagged(24, .bytes(transcript)).encoded())
  }

  func seal(_ message: [UInt8], by side: Side) throws -> [UInt8] {
    try AESGCM.seal(message, key: key(of: side), nonce: nonce(of: side), additionalData: [UInt8]())
  }

  func open(_ data: [UInt8], by side: Side) throws -> [UInt8] {
    try AESGCM.open(data, key: key(of: side), nonce: nonce(of: side), additionalData: [UInt8]())
  }

  private func key(of side: Side) throws -> SecretBytes {
    let info = side == .reader ? "SKReader" : "SKDevice"
    return try HKDF.deriveKey(from: SecretBytes(copying: secret), salt: salt, info: Array(info.utf8), length: 32)
  }

  /// Eight bytes that identify the sender, then the sender's message counter, which starts at 1.
  private func nonce(of side: Side) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, side.rawValue, 0, 0, 0, 1] }
}
