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
  }

  /// - Parameters:
  ///   - deviceEngagement: the encoded DeviceEngagement, with or without its tag 24.
  ///   - readerKey: the encoded COSE_Key of the reader's ephemeral key, with or without its tag 24.
  public init(
    deviceEngagement: [UInt8], readerKey: [UInt8], handover: Proximity.Handover, privateKey: PrivateKey?
  ) throws(Problem) {
    let engagement = Self.untagged(deviceEngagement)
    let key = Self.untagged(readerKey)
    guard let parsed = DeviceEngagement(parsing: engagement) else { throw .deviceEngagementMalformed }
    guard let item = try? CBORItem(parsing: key), let publicKey = COSEKey.agreementKey(from: item) else {
      throw .readerKeyMalformed
    }
    transcript = Proximity.transcript(deviceEngagement: engagement, readerKey: key, handover: handover)
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
