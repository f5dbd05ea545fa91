import Base
import CBOR
import Cryptography
import Mdoc

/// Proximity presentation (ISO/IEC 18013-5:2021, 9.1.5): a response that a reader received in person, with the
/// transcript of that session.
public struct Proximity: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// How device and reader made contact.
  public enum Handover: Sendable {
    case qr
    /// The Handover Select message, and the Handover Request message unless the handover was static.
    case nfc(select: [UInt8], request: [UInt8]?)
  }

  /// `[DeviceEngagementBytes, EReaderKeyBytes, Handover]`, from the engagement and the reader key as exchanged.
  ///
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

  /// The answer as a reader received it.
  public enum Answer: Sendable {
    case deviceResponse([UInt8])
    /// The device's first SessionData, still encrypted: the reader's private key opens it.
    case sessionData([UInt8])
  }

  /// Authenticates what a reader received in one session.
  public func authenticate(
    _ answer: Answer, in session: ReaderSession, request: PresentationRequest?, at now: Timestamp
  ) -> Authentication {
    var checks = CheckList(
      expecting: 8, clauses: [.envelopeDecryptionFailed: "ISO/IEC 18013-5:2021, 9.1.1.5"])
    if let privateKey = session.privateKey {
      checks.require(
        privateKey.publicKey == session.readerKey, .readerKeyMismatch,
        "the private key's public half is not EReaderKey of the session")
    }
    guard let response = response(in: answer, session, &checks) else {
      return verifier.refuse(checks.checks, at: now)
    }
    let presented = PresentedResponse(
      response: response, transcript: session.transcript,
      macPolicy: session.privateKey.map(PresentedResponse.MacPolicy.allowed) ?? .notAllowed,
      alternatives: session.alternatives)
    return verifier.authenticate(presented, request: request, at: now, earlierChecks: checks.checks)
  }

  private func response(
    in answer: Answer, _ session: ReaderSession, _ checks: inout CheckList
  ) -> DeviceResponse? {
    let bytes: [UInt8]?
    switch answer {
    case .deviceResponse(let response): bytes = checks.hasFailed ? nil : response
    case .sessionData(let message): bytes = open(message, session, &checks)
    }
    return bytes.flatMap { DeviceResponse(parsing: $0, into: &checks) }
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
    // Data may come together with the status that ends the session.
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
      mistake.map { "it opens with \($0)" } ?? session.objection ?? "data does not open with this session's keys")
    return nil
  }

  /// Authenticates one response over a transcript that the caller knows to be its own.
  ///
  /// - Parameter readerKey: the reader's ephemeral private key; without it a device MAC can't be checked.
  public func authenticate(
    _ response: [UInt8], transcript: SessionTranscript, readerKey: PrivateKey?, request: PresentationRequest?,
    at now: Timestamp
  ) -> Authentication {
    do throws(MdocParseError) {
      let presented = PresentedResponse(
        response: try DeviceResponse(parsing: response), transcript: transcript,
        macPolicy: readerKey.map(PresentedResponse.MacPolicy.allowed) ?? .notAllowed)
      return verifier.authenticate(presented, request: request, at: now)
    } catch {
      return verifier.refuse([error.check], at: now)
    }
  }
}

extension ReaderSession {
  /// Why no message of the device can be opened; nil if the keys are there.
  fileprivate var objection: String? {
    guard let privateKey else { return "the reader's private key is missing" }
    guard let deviceKey else { return "the device engagement has no EDeviceKey that can be read" }
    guard deviceKey.curve != privateKey.curve else { return nil }
    return "EDeviceKey is on \(deviceKey.curve.rawValue), EReaderKey on \(privateKey.curve.rawValue)"
  }

  /// The device's first message; nil if the keys are missing or it does not open.
  fileprivate func decrypt(_ data: [UInt8], over transcript: SessionTranscript) -> [UInt8]? {
    guard let privateKey, let deviceKey,
      var encryption = try? SessionEncryption(
        as: .reader, privateKey: privateKey, peerKey: deviceKey, transcript: transcript)
    else { return nil }
    return try? encryption.decrypt(data)
  }
}
