import Base
import CBOR
import COSE

/// A document whose issuer, digests, validity and device were all verified. Only the verifier makes one.
///
/// Personal: it has no mirror and a redacted description.
public struct VerifiedDocument: Sendable, CustomStringConvertible, CustomReflectable {
  public let docType: String
  public let issuer: DocumentIssuer
  /// Nil where a zero-knowledge proof hides it.
  public let validity: DocumentValidity?
  public let deviceAuthentication: DeviceAuthenticationMethod
  public let revocation: RevocationStatus
  /// The issuer-signed elements, in the order of the response.
  public let elements: [ElementReference]
  /// The elements that the device signed with the issuer's authorisation: self-asserted, not attested.
  public let deviceSignedElements: [ElementReference]
  private let deviceKey: CBORItem?
  private let items: [CBORItem]
  private let deviceSignedItems: [CBORItem]
  /// The index of each element in `elements`; nil if there are 32 elements or fewer.
  private let places: [ElementReference: Int]?
  private let deviceSignedPlaces: [ElementReference: Int]?

  init(docType: String, _ content: AuthenticatedDocument.Content, revocation: RevocationStatus) {
    self.docType = docType
    issuer = DocumentIssuer(signer: content.signer, anchor: content.anchor)
    validity = content.validity
    deviceAuthentication = content.method
    self.revocation = revocation
    deviceKey = content.deviceKey
    elements = content.elements
    items = content.items
    deviceSignedElements = content.deviceSigned.map(\.reference)
    deviceSignedItems = content.deviceSigned.map(\.value)
    places = Self.places(of: elements)
    deviceSignedPlaces = Self.places(of: deviceSignedElements)
  }

  /// The index of each element; nil for 32 elements or fewer, which a linear search finds faster.
  private static func places(of elements: [ElementReference]) -> [ElementReference: Int]? {
    guard elements.count > 32 else { return nil }
    return Dictionary(zip(elements, elements.indices)) { first, _ in first }
  }

  /// The value that the issuer signed.
  public subscript(element: ElementReference) -> ElementValue? {
    let place = if let places { places[element] } else { elements.firstIndex(of: element) }
    return place.map { ElementValue(items[$0]) }
  }

  /// The value that the device signed.
  public func deviceSignedValue(of element: ElementReference) -> ElementValue? {
    let place =
      if let deviceSignedPlaces { deviceSignedPlaces[element] } else { deviceSignedElements.firstIndex(of: element) }
    return place.map { ElementValue(deviceSignedItems[$0]) }
  }

  /// Every issuer-signed element with its item, in the order of the response.
  func forEachElement(_ body: (ElementReference, CBORItem) -> Void) {
    for index in elements.indices { body(elements[index], items[index]) }
  }

  /// Whether the two are known to be different documents: of different types, or of different device keys and different
  /// numbers, or numbers of different authorities. A wallet may hold a document several times, each with a device key of
  /// its own: without both numbers nobody can tell.
  func isDistinct(from other: VerifiedDocument) -> Bool {
    guard docType.hasSameBytes(as: other.docType) else { return true }
    func key(_ document: VerifiedDocument) -> COSEKey? { document.deviceKey.flatMap { try? COSEKey($0) } }
    guard let mine = key(self), let others = key(other), mine.key != others.key else { return false }
    let reference = ElementReference.documentNumber(ofDocType: docType)
    guard let number = self[reference], let others = other[reference] else { return false }
    return number != others
      || issuer.anchorSHA256 != other.issuer.anchorSHA256
        && (issuer.country, issuer.stateOrProvince) != (other.issuer.country, other.issuer.stateOrProvince)
  }

  public var description: String { "VerifiedDocument(\(docType), redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
