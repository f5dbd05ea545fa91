import CBOR
import COSE
import Cryptography
import Mdoc

/// One meeting of a device and a reader, as the reader has it: the parts of its transcript, and the reader's ephemeral
/// private key if it is at hand.
public struct ReaderSession: Sendable {
  public let transcript: SessionTranscript
  /// EReaderKey as it was sent.
  public let readerKey: PublicKey
  /// The private half of `readerKey`, for device MACs and encrypted session data. Whether it fits is checked with the
  /// answer.
  public let privateKey: PrivateKey?
  /// EDeviceKey; nil if the engagement has none that can be read.
  let deviceKey: PublicKey?
  /// The transcripts of other handovers between the two.
  let alternatives: [AlternativeTranscript]

  public enum Problem: Error, Sendable, Hashable {
    /// The engagement is no CBOR map.
    case deviceEngagementMalformed
    /// The reader's key is no COSE_Key with a point on one of mdoc's curves, or is for another use.
    case readerKeyMalformed
    /// The transcript is not one of device and reader in person.
    case transcriptMalformed
  }

  /// - Parameters:
  ///   - deviceEngagement: the encoded DeviceEngagement, with or without its tag 24.
  ///   - readerKey: the encoded COSE_Key of the reader's ephemeral key, with or without its tag 24.
  public init(
    deviceEngagement: [UInt8], readerKey: [UInt8], handover: Proximity.Handover, privateKey: PrivateKey?
  ) throws(Problem) {
    try self.init(deviceEngagement, readerKey, handover, privateKey, in: nil)
  }

  /// A session by its encoded SessionTranscript, as Apple's ProximityReader returns it, with or without its tag 24. The
  /// transcripts of all other protocols are refused: what was answered to a page was not presented in person.
  public init(transcript encoded: [UInt8], privateKey: PrivateKey?) throws(Problem) {
    let bytes = Self.untagged(encoded)
    let parts = (try? CBORItem(parsing: bytes))?.elements.map { Array($0) } ?? []
    guard parts.count == 3, let engagement = parts[0].content(ofTag: 24)?.bytes,
      let key = parts[1].content(ofTag: 24)?.bytes, let handover = Proximity.Handover(parts[2]),
      let transcript = try? SessionTranscript(encoded: bytes)
    else { throw .transcriptMalformed }
    try self.init(Array(engagement), Array(key), handover, privateKey, in: transcript)
  }

  /// - Parameter transcript: of these parts, as it was encoded; nil if it is to be made.
  private init(
    _ deviceEngagement: [UInt8], _ readerKey: [UInt8], _ handover: Proximity.Handover, _ privateKey: PrivateKey?,
    in transcript: SessionTranscript?
  ) throws(Problem) {
    let engagement = Self.untagged(deviceEngagement)
    let key = Self.untagged(readerKey)
    guard let parsed = DeviceEngagement(parsing: engagement) else { throw .deviceEngagementMalformed }
    guard let item = try? CBORItem(parsing: key), let publicKey = COSEKey.agreementKey(from: item) else {
      throw .readerKeyMalformed
    }
    self.transcript =
      transcript ?? Proximity.transcript(deviceEngagement: engagement, readerKey: key, handover: handover)
    self.readerKey = publicKey
    self.privateKey = privateKey
    deviceKey = parsed.deviceKey
    alternatives = handover.mistakes.map { difference, handover in
      AlternativeTranscript(
        difference, Proximity.transcript(deviceEngagement: engagement, readerKey: key, handover: handover))
    }
  }

  /// The bytes inside tag 24, as in a transcript and in a SessionEstablishment; other bytes are returned as they are.
  private static func untagged(_ bytes: [UInt8]) -> [UInt8] {
    (try? CBORItem(parsing: bytes))?.content(ofTag: 24)?.bytes.map { Array($0) } ?? bytes
  }
}

extension Proximity.Handover {
  /// Nil for anything but null and the messages of NFC.
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

  /// The handovers that the device may have used instead, as far as the messages are known.
  fileprivate var mistakes: [(difference: String, handover: Proximity.Handover)] {
    switch self {
    case .qr: []
    case .nfc(_, nil): [("the handover of a QR code", .qr)]
    case .nfc(let select, _?):
      [("the handover of a QR code", .qr), ("static handover by NFC", .nfc(select: select, request: nil))]
    }
  }
}

/// DeviceEngagement (ISO/IEC 18013-5:2021, 8.2.1.1). A session needs only the device's ephemeral key from it.
struct DeviceEngagement {
  /// EDeviceKey; nil if the engagement has none that can be read.
  let deviceKey: PublicKey?

  /// Nil if the bytes are no map.
  init?(parsing encoded: [UInt8]) {
    guard let item = try? CBORItem(parsing: encoded), item.kind == .map else { return nil }
    // Security = [cipher suite identifier, EDeviceKeyBytes]
    let security = item[label: 1]?.elements.map { Array($0) } ?? []
    deviceKey = security.count > 1 ? security[1].embedded.flatMap(COSEKey.agreementKey) : nil
  }
}
