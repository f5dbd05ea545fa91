import Base
import CBOR
import Cryptography
import Mdoc

/// Proximity presentation (ISO/IEC 18013-5:2021, 9.1.5): an in-person reader's response, with the transcript of its
/// session.
public struct Proximity: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// The way of contact between device and reader.
  public enum Handover: Sendable {
    case qr
    /// The Handover Select message, and the Handover Request message; nil for a static handover.
    case nfc(select: [UInt8], request: [UInt8]?)
  }

  /// `[DeviceEngagementBytes, EReaderKeyBytes, Handover]`, from the exchanged engagement and reader key.
  /// - Parameters:
  ///   - deviceEngagement: the encoded DeviceEngagement, without tag 24.
  ///   - readerKey: the encoded COSE_Key of the reader's ephemeral key, without tag 24.
  public static func transcript(deviceEngagement: [UInt8], readerKey: [UInt8], handover: Handover) -> SessionTranscript
  {
    let handoverValue: CBORValue =
      switch handover {
      case .qr: nil
      case .nfc(let select, let request): [.bytes(select), request.map(CBORValue.bytes) ?? nil]
      }
    return SessionTranscript(
      written: [.tagged(24, .bytes(deviceEngagement)), .tagged(24, .bytes(readerKey)), handoverValue])
  }

  /// The response in the form that the reader received.
  public enum Response: Sendable {
    case deviceResponse([UInt8])
    /// The device's first SessionData, still encrypted. The reader's private key opens it.
    case sessionData([UInt8])
  }

  /// Authenticates the response of one session.
  public func authenticate(
    _ received: Response, in session: ReaderSession, request: PresentationRequest?, at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(
      expecting: 8, clauses: [.envelopeDecryptionFailed: "ISO/IEC 18013-5:2021, 9.1.1.5"])
    if let privateKey = session.privateKey {
      checks.require(
        privateKey.publicKey == session.readerKey, .readerKeyMismatch,
        "the private key does not belong to the session's EReaderKey")
    }
    let bytes: [UInt8]?
    switch received {
    case .deviceResponse(let response): bytes = checks.hasFailed ? nil : response
    case .sessionData(let message): bytes = open(message, session, &checks)
    }
    guard let response = bytes.flatMap({ DeviceResponse(parsing: $0, into: &checks) }) else {
      return verifier.refuse(checks.checks, at: now)
    }
    let presented = PresentedResponse(
      parts: [.init(response)], transcript: session.transcript, readerKey: session.privateKey,
      alternatives: session.alternatives)
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  private func open(_ bytes: [UInt8], _ session: ReaderSession, _ checks: inout CheckList) -> [UInt8]? {
    defer { checks.skipRest(of: [.sessionDataMalformed, .sessionTerminated, .envelopeDecryptionFailed]) }
    let message: SessionMessage
    do throws(MdocParseError) {
      message = try SessionMessage(parsing: bytes)
    } catch {
      checks.append([error.check])
      return nil
    }
    checks.passed(.sessionDataMalformed)
    // A message may have both data and the status that ends the session.
    let isOver = message.data == nil || (message.status ?? .sessionTermination) != .sessionTermination
    checks.require(!isOver, .sessionTerminated, message.status.map { "status \($0.name)" })
    guard let data = message.data, !checks.hasFailed else { return nil }
    if let plaintext = session.decrypt(data, over: session.transcript) {
      checks.passed(.envelopeDecryptionFailed)
      return plaintext
    }
    let mistake = session.alternatives.difference { session.decrypt(data, over: $0) != nil }
    checks.failed(
      .envelopeDecryptionFailed,
      mistake.map { "it decrypts with \($0)" } ?? session.objection ?? "data does not decrypt with this session's keys")
    return nil
  }

  /// Authenticates one response over a transcript. The caller must know that the transcript is from its own session.
  /// - Parameter readerKey: the reader's ephemeral private key. Without the key, a device MAC cannot be checked.
  public func authenticate(
    _ response: [UInt8], transcript: SessionTranscript, readerKey: PrivateKey?, request: PresentationRequest?,
    at now: Timestamp
  ) -> Authentication {
    do throws(MdocParseError) {
      let presented = PresentedResponse(
        parts: [.init(try DeviceResponse(parsing: response))], transcript: transcript, readerKey: readerKey)
      return verifier.authenticate(presented, request: request, at: now)
    } catch {
      return verifier.refuse([error.check], at: now)
    }
  }
}

extension ReaderSession {
  /// The reason why none of the device's messages can be opened; nil if both keys are known.
  fileprivate var objection: String? {
    guard let privateKey else { return "the reader's private key is missing" }
    guard let deviceKey else { return "the device engagement has no readable EDeviceKey" }
    guard deviceKey.curve != privateKey.curve else { return nil }
    return "EDeviceKey is on \(deviceKey.curve.rawValue), but EReaderKey is on \(privateKey.curve.rawValue)"
  }

  /// The device's first message, decrypted; nil if the keys are missing or the message does not open.
  fileprivate func decrypt(_ data: [UInt8], over transcript: SessionTranscript) -> [UInt8]? {
    guard let privateKey, let deviceKey,
      var encryption = try? SessionEncryption(
        as: .reader, privateKey: privateKey, peerKey: deviceKey, transcript: transcript)
    else { return nil }
    return try? encryption.decrypt(data)
  }
}

extension Code {
  public static let sessionDataMalformed = Code(
    "proximity.session_data_malformed", "The bytes are not a SessionData with `data` or `status`", "\(iso), 9.1.1.4",
    "Submit the message as the reader received it.", passes: "The session data are well-formed")
  public static let sessionTerminated = Code(
    "proximity.session_terminated", "The device ended the session or could not read its messages",
    "\(iso), 9.1.1.4, Table 20", "Begin again with a new engagement.", passes: "The wallet did not end the session")
  public static let readerKeyMismatch = Code(
    "proximity.reader_key_mismatch", "The reader's private key does not belong to the session's EReaderKey",
    "\(iso), 9.1.1.4", "Submit the key of the session with this engagement.",
    passes: "The response is for this reader's key")
}

extension CodeGroup {
  public static let proximity = CodeGroup(
    "In-person session with a reader",
    [.sessionDataMalformed, .sessionTerminated, .readerKeyMismatch])
}
