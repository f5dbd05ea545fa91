import Base

/// Verified documents that satisfy the request, with the requested elements and no others.
///
/// Only `AcceptanceRules` makes one.
public struct AcceptedPresentation: Sendable {
  public let documents: [AcceptedDocument]

  /// Whether the answer holds something that was not read, and that may be personal: a proof that was not asked for, an
  /// encrypted document, a member that no standard names.
  package let leavesUnread: Bool

  /// How long the whole answer may be kept as it came: the strictest period of any element that the answer discloses,
  /// asked for or not. Not at all where something in it was not read.
  public var retention: Retention { leavesUnread ? .none : .strictest(of: documents.map(\.retention)) }

  /// Whether it holds an element or an answer about an age. It may hold neither: a genuine document alone may have been
  /// all that was asked for, or all that the person gave.
  public var disclosesSomething: Bool { documents.contains(where: \.disclosesSomething) }

  init(documents: [AcceptedDocument], leavesUnread: Bool) {
    self.documents = documents
    self.leavesUnread = leavesUnread
  }
}

/// One verified document, reduced to what was asked. Personal: it has no mirror and a redacted description.
public struct AcceptedDocument: Sendable, CustomStringConvertible, CustomReflectable {
  /// An element and its verified value.
  public struct Element: Sendable {
    public let reference: ElementReference
    public let value: ElementValue
    /// The retention that was requested; `none` if there was no request.
    public let retention: Retention
  }

  /// The index of the document in the request that it answers; nil if there was no request.
  public let requestIndex: Int?
  public let docType: String
  /// Issuer-signed elements that were requested, in the order of the response.
  public let elements: [Element]
  /// Device-signed elements that the issuer authorised the device to sign and that were requested. They never satisfy
  /// a request.
  public let deviceSignedElements: [Element]
  public let ageAnswers: [AgeAnswer]
  public let missingElements: [ElementReference]
  /// Elements that were returned without being asked for. They are named; their values are dropped.
  public let unrequestedElements: [ElementReference]
  /// The strictest retention of all elements that the document discloses, those of the device included.
  let retention: Retention
  public let issuer: DocumentIssuer
  /// Nil where a zero-knowledge proof hides it.
  public let validity: DocumentValidity?
  public let deviceAuthentication: DeviceAuthenticationMethod
  public let revocation: RevocationStatus

  var disclosesSomething: Bool { !elements.isEmpty || !deviceSignedElements.isEmpty || !ageAnswers.isEmpty }

  public var description: String { "AcceptedDocument(\(docType), redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The answer to "is the person at least `threshold` years old?", with the element that proves it.
///
/// Personal: it has no mirror and a redacted description.
public struct AgeAnswer: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  public let threshold: Int
  public let answer: Bool
  public let provedBy: ElementReference

  public var description: String { "AgeAnswer(\(threshold), redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The document signer and the anchor that its certificate leads to.
public struct DocumentIssuer: Sendable, Hashable {
  public let country: String?
  public let stateOrProvince: String?
  public let commonName: String?
  /// SHA-256 of the document signer's certificate, in hexadecimal.
  public let certificateSHA256: String
  /// SHA-256 of the trust anchor's certificate, in hexadecimal.
  public let anchorSHA256: String

  public init(
    country: String?, stateOrProvince: String?, commonName: String?, certificateSHA256: String, anchorSHA256: String
  ) {
    self.country = country
    self.stateOrProvince = stateOrProvince
    self.commonName = commonName
    self.certificateSHA256 = certificateSHA256
    self.anchorSHA256 = anchorSHA256
  }
}

/// The ValidityInfo of the mobile security object (ISO/IEC 18013-5:2021, 9.1.2.4).
public struct DocumentValidity: Sendable, Hashable {
  public let signed: Timestamp
  public let validFrom: Timestamp
  public let validUntil: Timestamp
  public let expectedUpdate: Timestamp?
}

/// How the device showed that the document is its own.
public enum DeviceAuthenticationMethod: String, Sendable, Hashable, CaseIterable {
  case signature, mac
  /// A proof shows that the device signed, and hides its key and its signature.
  case zeroKnowledge = "zero_knowledge"
}

/// What is known of an accepted document's revocation, and of its signer's.
public enum RevocationStatus: String, Sendable, Hashable, CaseIterable {
  /// Everything that the document and its signer declare was asked and is good.
  case good
  /// Something could not be found out, and the policy allows that.
  case undetermined
  /// Neither the document nor its signer says where its status is published.
  case notDeclared = "not_declared"
  /// Nothing was asked: the check is switched off.
  case notRun = "not_run"
}
