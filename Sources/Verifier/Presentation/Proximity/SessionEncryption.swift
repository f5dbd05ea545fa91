import Base
import CBOR
import Cryptography
import Mdoc

/// Session encryption (ISO/IEC 18013-5:2021, 9.1.1.5): AES-256-GCM with one key for each direction. The keys derive
/// from the ephemeral keys and the transcript, and the nonce holds a counter of messages.
public struct SessionEncryption: ~Copyable, Sendable {
  /// The side that uses the session encryption.
  public enum Role: Sendable { case reader, device }

  private let outgoing: Direction
  private let incoming: Direction
  private var sent: UInt32
  private var received: UInt32

  /// - Throws: `keyAgreementFailed` for keys on two curves.
  public init(
    as role: Role, privateKey: PrivateKey, peerKey: PublicKey, transcript: SessionTranscript
  ) throws(CryptoError) {
    let secret = try privateKey.sharedSecret(with: peerKey)
    let salt = HashAlgorithm.sha256.hash(transcript.taggedBytes)
    let outgoing = try Direction(from: role, secret, salt: salt)
    let incoming = try Direction(from: role == .reader ? .device : .reader, secret, salt: salt)
    self.outgoing = outgoing
    self.incoming = incoming
    sent = 0
    received = 0
  }

  /// The next message to the other side: ciphertext and tag, the `data` of its SessionData.
  public mutating func encrypt(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard sent < .max else { throw .invalidLength }
    sent += 1
    return try AESGCM.seal(
      message, key: outgoing.key, nonce: outgoing.nonce(sent), additionalData: [UInt8]())
  }

  /// Decrypts the next message from the other side. A message that does not open is not counted.
  public mutating func decrypt(_ data: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard received < .max else { throw .invalidLength }
    let message = try AESGCM.open(
      data, key: incoming.key, nonce: incoming.nonce(received + 1), additionalData: [UInt8]())
    received += 1
    return message
  }

  /// The key of one direction, and its sender.
  private struct Direction: ~Copyable, Sendable {
    let key: SecretBytes
    let sender: Role

    init(from sender: Role, _ secret: borrowing SecretBytes, salt: [UInt8]) throws(CryptoError) {
      let info = sender == .reader ? "SKReader" : "SKDevice"
      key = try HKDF.deriveKey(from: secret, salt: salt, info: Array(info.utf8), length: 32)
      self.sender = sender
    }

    /// The nonce: eight bytes that name the sender, then four bytes of a counter that starts at 1.
    func nonce(_ counter: UInt32) -> [UInt8] {
      [0, 0, 0, 0, 0, 0, 0, sender == .reader ? 0 : 1]
        + (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * $0)) }
    }
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
  public enum Status: Sendable, Hashable {
    case sessionEncryptionError, cborDecodingError, sessionTermination
    case other(UInt64)

    init(_ number: UInt64) {
      switch number {
      case 10: self = .sessionEncryptionError
      case 11: self = .cborDecodingError
      case 20: self = .sessionTermination
      default: self = .other(number)
      }
    }

    /// The name in the report.
    var name: String {
      switch self {
      case .sessionEncryptionError: "10, session encryption error"
      case .cborDecodingError: "11, CBOR decoding error"
      case .sessionTermination: "20, session termination"
      case .other(let number): "\(number)"
      }
    }
  }

  /// - Parameter bytes: a map with `data`, `status` or both; other members are ignored.
  /// - Throws: a `cbor.*` code, or `proximity.session_data_malformed`.
  public init(parsing bytes: [UInt8]) throws(MdocParseError) {
    let item = try CBORItem(parsing: bytes, for: Recognition.sessionData)
    let reader = StructureParser(code: .sessionDataMalformed)
    let readerKey = item[key: "eReaderKey"]
    if readerKey == nil { try reader.expect(Recognition.sessionData, item) }
    _ = try reader.entries(item, "the SessionData")
    data = item[key: "data"] == nil ? nil : Array(try reader.bytes("data", of: item))
    status = item[key: "status"] == nil ? nil : Status(try reader.unsigned("status", of: item))
    guard data != nil || status != nil else { throw reader.fault("data", "missing, and there is no status") }
    guard readerKey == nil || readerKey?.embedded != nil else {
      throw reader.fault("eReaderKey", "no byte string with tag 24")
    }
    self.readerKey = readerKey?.content(ofTag: 24)?.bytes.map { Array($0) }
  }
}
