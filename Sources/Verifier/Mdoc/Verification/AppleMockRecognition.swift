import Base
import CBOR
import COSE

/// Recognises the answers that Apple's simulator and developer profile make (sample archive, README), so that they
/// are refused by name. They have no document signer; a certificate with a bad signature is a forgery, not a mock.
struct AppleMockRecognition {
  let document: Document
  let transcript: SessionTranscript

  /// The code to refuse with, or nil where the document is not a mock.
  var code: Code? {
    // Real documents are told apart by the last of the message's four fields, before the message is read.
    guard let issuerAuth = document.issuerAuth,
      let last = issuerAuth.elements?.dropFirst(3).first(where: { _ in true }), isBlank(last.bytes ?? []),
      let issuer = try? COSESign1(parsing: issuerAuth, readsPastSlips: true)
    else { return nil }
    if let deviceSignature, isBlank(deviceSignature.signature) { return .appleSimulatorAnswer }
    guard issuer.headers.x5chain == nil else { return nil }
    // Nothing ties the object to an issuer here; its key only tells a device with the developer profile from noise.
    guard let payload = issuer.payload, let mso = try? MobileSecurityObject(parsing: payload) else { return nil }
    var checks = CheckList()
    let device = DeviceAuthentication(
      document: document, mso: mso, transcript: transcript, macPolicy: .notAllowed, issuerKey: nil)
    return device.run(into: &checks) == .signature ? .appleProfileAnswer : nil
  }

  /// Whether the document carries a certificate: a real one with its signatures blanked is refused, not looked at.
  var claimsIssuer: Bool {
    document.issuerAuth.flatMap { try? COSESign1(parsing: $0, readsPastSlips: true) }?.headers.x5chain != nil
  }

  private var deviceSignature: COSESign1? {
    (document.deviceSigned?.deviceSignature).flatMap { try? COSESign1(parsing: $0, readsPastSlips: true) }
  }

  /// Empty or all zero.
  private func isBlank(_ signature: ArraySlice<UInt8>) -> Bool { signature.allSatisfy { $0 == 0 } }
}
