import CBOR
import Primitives

/// A document whose issuer, digests, validity and device were all verified. Only the verifier makes one.
///
/// Personal: it has no mirror and a redacted description.
public struct VerifiedDocument: Sendable, CustomStringConvertible, CustomReflectable {
  public let docType: String
  public let issuer: DocumentIssuer
  public let validity: DocumentValidity
  public let deviceAuthentication: DeviceAuthenticationMethod
  public let revocation: RevocationStatus
  private let issuerSigned: [(reference: ElementReference, item: CBORItem)]
  private let deviceSigned: [(reference: ElementReference, item: CBORItem)]

  init(
    docType: String, issuer: DocumentIssuer, validity: DocumentValidity,
    deviceAuthentication: DeviceAuthenticationMethod, revocation: RevocationStatus,
    issuerSigned: [(reference: ElementReference, item: CBORItem)],
    deviceSigned: [(reference: ElementReference, item: CBORItem)]
  ) {
    self.docType = docType
    self.issuer = issuer
    self.validity = validity
    self.deviceAuthentication = deviceAuthentication
    self.revocation = revocation
    self.issuerSigned = issuerSigned
    self.deviceSigned = deviceSigned
  }

  /// The issuer-signed elements, in the order of the response.
  public var elements: [ElementReference] { issuerSigned.map(\.reference) }

  /// The elements that the device signed with the issuer's authorisation: self-asserted, not attested.
  public var deviceSignedElements: [ElementReference] { deviceSigned.map(\.reference) }

  /// The value that the issuer signed.
  public subscript(element: ElementReference) -> ElementValue? {
    issuerSigned.first { $0.reference == element }.map { ElementValue($0.item) }
  }

  /// The value that the device signed.
  public func deviceSignedValue(of element: ElementReference) -> ElementValue? {
    deviceSigned.first { $0.reference == element }.map { ElementValue($0.item) }
  }

  public var description: String { "VerifiedDocument(\(docType), redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
