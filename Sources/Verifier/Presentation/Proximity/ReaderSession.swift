import Base
import CBOR
import COSE
import Cryptography
import Mdoc

/// A reader's session with a device: the parts of its transcript, and the reader's ephemeral private key if it is
/// known.
public struct ReaderSession: Sendable {
  public let transcript: SessionTranscript
  /// EReaderKey in the form that was sent.
  public let readerKey: PublicKey
  /// The private half of `readerKey`, for device MACs and encrypted session data. `Proximity` checks that it matches.
  public let privateKey: PrivateKey?
  /// EDeviceKey; nil if the engagement has no readable key.
  let deviceKey: PublicKey?
  let alternatives: [AlternativeTranscript]

  /// - Parameters:
  ///   - deviceEngagement: the encoded DeviceEngagement, with or without its tag 24.
  ///   - readerKey: the encoded COSE_Key of the reader's ephemeral key, with or without its tag 24.
  public init(
    deviceEngagement: [UInt8], readerKey: [UInt8], handover: Proximity.Handover, privateKey: PrivateKey?
  ) throws(ReaderSessionError) {
    try self.init(deviceEngagement, readerKey, handover, privateKey, in: nil)
  }

  /// Makes a session from its encoded SessionTranscript, with or without tag 24, as Apple's ProximityReader returns it.
  /// The transcripts of other protocols are rejected: a response to a page was not presented in person.
  public init(transcript encoded: [UInt8], privateKey: PrivateKey?) throws(ReaderSessionError) {
    let bytes = Self.untagged(encoded)
    let parts = (try? CBORItem(parsing: bytes))?.elements.map { Array($0) } ?? []
    guard parts.count == 3, let engagement = parts[0].content(ofTag: 24)?.bytes,
      let key = parts[1].content(ofTag: 24)?.bytes, let handover = Proximity.Handover(parts[2]),
      let transcript = try? SessionTranscript(encoded: bytes)
    else { throw .transcriptMalformed }
    try self.init(Array(engagement), Array(key), handover, privateKey, in: transcript)
  }

  /// - Parameter transcript: the encoded transcript of these parts; nil to build it from them.
  private init(
    _ deviceEngagement: [UInt8], _ readerKey: [UInt8], _ handover: Proximity.Handover, _ privateKey: PrivateKey?,
    in transcript: SessionTranscript?
  ) throws(ReaderSessionError) {
    let engagement = Self.untagged(deviceEngagement)
    let key = Self.untagged(readerKey)
    guard let map = try? CBORItem(parsing: engagement), map.kind == .map else { throw .deviceEngagementMalformed }
    guard let item = try? CBORItem(parsing: key), let publicKey = COSEKey.agreementKey(from: item) else {
      throw .readerKeyMalformed
    }
    self.transcript =
      transcript ?? Proximity.transcript(deviceEngagement: engagement, readerKey: key, handover: handover)
    self.readerKey = publicKey
    self.privateKey = privateKey
    // Security = [cipher suite identifier, EDeviceKeyBytes] (ISO/IEC 18013-5:2021, 8.2.1.1)
    let security = map[label: 1]?.elements.map { Array($0) } ?? []
    deviceKey = security.count > 1 ? security[1].embedded.flatMap(COSEKey.agreementKey) : nil
    alternatives = handover.mistakes.map { difference, handover in
      AlternativeTranscript(
        difference, Proximity.transcript(deviceEngagement: engagement, readerKey: key, handover: handover))
    }
  }

  /// The bytes inside tag 24, as in a transcript and in a SessionEstablishment; other bytes unchanged.
  private static func untagged(_ bytes: [UInt8]) -> [UInt8] {
    (try? CBORItem(parsing: bytes))?.content(ofTag: 24)?.bytes.map { Array($0) } ?? bytes
  }
}

public enum ReaderSessionError: Error, Sendable, Hashable {
  /// The engagement is not a CBOR map.
  case deviceEngagementMalformed
  /// The reader's key is for another use, or is not a COSE_Key with a point on one of mdoc's curves.
  case readerKeyMalformed
  /// The transcript does not belong to an in-person presentation.
  case transcriptMalformed
}

extension Proximity.Handover {
  /// Nil for any item except null and the messages of NFC.
  fileprivate init?(_ item: CBORItem) {
    let messages = item.elements.map { Array($0) } ?? []
    if item.isNull {
      self = .qr
    } else if messages.count == 2, let select = messages[0].bytes, messages[1].isNull || messages[1].bytes != nil {
      self = .nfc(select: Array(select), request: messages[1].bytes.map { Array($0) })
    } else {
      return nil
    }
  }

  /// The handovers that the device may have used instead.
  fileprivate var mistakes: [(difference: String, handover: Proximity.Handover)] {
    switch self {
    case .qr: []
    case .nfc(_, nil): [("the handover of a QR code", .qr)]
    case .nfc(let select, _?):
      [("the handover of a QR code", .qr), ("static handover by NFC", .nfc(select: select, request: nil))]
    }
  }
}

/// Session encryption (ISO/IEC 18013-5:2021, 9.1.1.5): AES-256-GCM with one key for each direction, derived from the
/// ephemeral keys and the transcript. The nonce contains a message counter.
public struct SessionEncryption: ~Copyable, Sendable {
  /// The side that encrypts.
  public enum Role: Sendable { case reader, device }

  private let role: Role
  private let outgoingKey: SecretBytes
  private let incomingKey: SecretBytes
  private var sent: UInt32 = 0
  private var received: UInt32 = 0

  /// - Throws: `keyAgreementFailed` if the keys are on different curves.
  public init(
    as role: Role, privateKey: PrivateKey, peerKey: PublicKey, transcript: SessionTranscript
  ) throws(CryptoError) {
    let secret = try privateKey.sharedSecret(with: peerKey)
    let salt = HashAlgorithm.sha256.hash(transcript.taggedBytes)
    func key(_ name: String) throws(CryptoError) -> SecretBytes {
      try HKDF.deriveKey(from: secret, salt: salt, info: Array(name.utf8), length: 32)
    }
    let outgoing = try key(role == .reader ? "SKReader" : "SKDevice")
    let incoming = try key(role == .reader ? "SKDevice" : "SKReader")
    self.role = role
    outgoingKey = outgoing
    incomingKey = incoming
  }

  /// Encrypts the next message to the other side. Returns ciphertext and tag: the `data` of the SessionData.
  public mutating func encrypt(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard sent < .max else { throw .invalidLength }
    sent += 1
    return try AESGCM.seal(
      message, key: outgoingKey, nonce: Self.nonce(sent, isReader: role == .reader), additionalData: [UInt8]())
  }

  /// Decrypts the next message from the other side. A message that does not open is not counted.
  public mutating func decrypt(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard received < .max else { throw .invalidLength }
    let message = try AESGCM.open(
      data, key: incomingKey, nonce: Self.nonce(received + 1, isReader: role != .reader), additionalData: [UInt8]())
    received += 1
    return message
  }

  /// Eight bytes that identify the sender, then four bytes of a counter that starts at 1.
  private static func nonce(_ counter: UInt32, isReader: Bool) -> [UInt8] {
    [0, 0, 0, 0, 0, 0, 0, isReader ? 0 : 1] + (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * $0)) }
  }
}

/// SessionEstablishment or SessionData (ISO/IEC 18013-5:2021, 9.1.1.4), the messages between device and reader.
public struct SessionMessage: Sendable {
  /// EReaderKeyBytes without tag 24; only the reader's first message has it.
  public let readerKey: [UInt8]?
  /// The encrypted request or response.
  public let data: [UInt8]?
  public let status: Status?

  /// The status codes of Table 20.
  public struct Status: Sendable, Hashable {
    public let number: UInt64

    public static let sessionTermination = Status(number: 20)

    var name: String {
      let names: [UInt64: String] = [
        10: ", session encryption error", 11: ", CBOR decoding error", 20: ", session termination",
      ]
      return "\(number)" + (names[number] ?? "")
    }
  }

  /// - Parameter bytes: a map with `data`, `status` or both; other members are ignored.
  /// - Throws: a `cbor.*` code, or `proximity.session_data_malformed`.
  public init(parsing bytes: [UInt8]) throws(MdocParseError) {
    let item = try CBORItem(parsing: bytes, for: Recognition.sessionData)
    let reader = StructureParser(code: .sessionDataMalformed)
    let readerKey = item[key: "eReaderKey"]
    // A DeviceResponse also has a status.
    if readerKey == nil, item[key: "data"] == nil { try reader.expect(Recognition.sessionData, item) }
    _ = try reader.entries(item, "the SessionData")
    data = item[key: "data"] == nil ? nil : Array(try reader.bytes("data", of: item))
    status = item[key: "status"] == nil ? nil : Status(number: try reader.unsigned("status", of: item))
    guard data != nil || status != nil else { throw reader.fault("data", "missing, and so is status") }
    guard readerKey == nil || readerKey?.embedded != nil else {
      throw reader.fault("eReaderKey", "not a byte string with tag 24")
    }
    self.readerKey = readerKey?.content(ofTag: 24)?.bytes.map { Array($0) }
  }
}
