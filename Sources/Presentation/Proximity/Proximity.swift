import CBOR
import Cryptography
import Mdoc
import Primitives

/// Proximity presentation (ISO/IEC 18013-5:2021, 9.1.5): a response that a reader received in person, with the
/// transcript of that session.
public struct Proximity: Sendable {
  private let verifier: MdocVerifier

  public init(verifier: MdocVerifier) { self.verifier = verifier }

  /// How device and reader met.
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
      return verifier.refuse([Check(error.code, .failed)], at: now)
    }
  }
}
