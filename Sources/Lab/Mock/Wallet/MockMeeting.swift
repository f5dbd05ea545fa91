import Base
import CBOR
import Cryptography

/// A mock reader meets the mock wallet in person: what the reader has afterwards, and hands in (ISO/IEC 18013-5:2021,
/// 8.2.1.1 and 9.1.1).
///
/// The device shows its engagement as a QR code. The reader answers with its key and the encrypted request; the wallet
/// opens it, and sends the encrypted response. The encryption is made here without the verifier's code, so that a
/// mistake there shows.
package struct MockMeeting: Sendable {
  /// DeviceEngagement, without tag 24.
  package let deviceEngagement: [UInt8]
  /// EReaderKey, a COSE_Key without tag 24.
  package let readerKey: [UInt8]
  /// Its private half: the reader's ephemeral key, on P-256.
  package let readerPrivateKey: PrivateKey
  /// The reader's first message: its key and the encrypted request.
  package let sessionEstablishment: [UInt8]
  /// The device's answer, with the status that ends the session. `bytes` is the SessionData.
  package let answer: MockAnswer
}

extension MockWallet {
  /// - Parameters:
  ///   - deviceRequest: the encoded DeviceRequest that the reader sends.
  ///   - request: what the person agrees to; nil for all that is requested.
  ///   - occasion: tells one meeting from another. Each has keys of its own.
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
    let asked = try AskedDocuments(deviceRequest: Base64.encodeURLSafe(opened)).restricted(to: request)
    let chosen = try asked.chosen(by: self, at: now)
    let documents = MockRequest(documents: chosen.map(\.document))
    let response = try variant.applied(
      over: MockProtocol.proximity, hasProofs: proves(documents), seen: \.self
    ) { mutation in
      try deviceResponse(
        documents, of: asked.request, transcript: transcript, authentication: .signature, readerKey: reader.publicKey,
        mutation: mutation, documentLimit: chosen.count, seed: try answerSeed(transcript), at: now)
    }
    let sessionTermination: CBORValue = 20
    let sessionData = CBORValue.map([
      ("data", .bytes(try ofDevice.seal(response, by: .device))), ("status", sessionTermination),
    ]).encoded()
    return MockMeeting(
      deviceEngagement: engagement, readerKey: readerKey, readerPrivateKey: reader,
      sessionEstablishment: establishment,
      answer: MockAnswer(
        bytes: sessionData, deviceResponse: response, sessionTranscript: transcript, variant: variant))
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

  /// Eight bytes that name the sender, then the counter of its messages, which begins with 1.
  private func nonce(of side: Side) -> [UInt8] { [0, 0, 0, 0, 0, 0, 0, side.rawValue, 0, 0, 0, 1] }
}
