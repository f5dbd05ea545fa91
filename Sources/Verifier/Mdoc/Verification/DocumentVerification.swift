import Base
import CBOR
import COSE
import Cryptography
import PKIX

/// Authenticates one document. The checks are made in a fixed order, and each is noted once. A check that depends on a
/// failed one is noted as not run. Revocation comes afterwards (`AuthenticatedDocument`).
struct DocumentVerification {
  let document: Document
  let transcript: SessionTranscript
  let macPolicy: PresentedResponse.MacPolicy
  let alternatives: [AlternativeTranscript]
  let verifier: MdocVerifier
  let now: Timestamp

  func run(request: PresentationRequest?, recognizesAppleMocks: Bool) -> AuthenticatedDocument {
    var checks = CheckList()
    if let request {
      checks.require(
        request.documents.contains { $0.docType.hasSameBytes(as: document.docType) }, .docTypeNotRequested,
        shown(document.docType))
    } else {
      checks.notRun(.docTypeNotRequested)
    }
    if recognizesAppleMocks, let code = AppleMockRecognition(document: document, transcript: transcript).code {
      checks.failed(code, "issuerAuth's signature is blank")
      checks.skipRest(of: IssuerAuthentication.codes)
      checks.skipRest(of: Self.afterSignature)
      return AuthenticatedDocument(docType: document.docType, checks: checks)
    }
    let issuer = IssuerAuthentication(verifier: verifier, docType: document.docType, now: now)
    guard let signed = issuer.run(document.issuerAuth, into: &checks) else {
      checks.skipRest(of: Self.afterSignature)
      return AuthenticatedDocument(docType: document.docType, checks: checks)
    }
    return verify(signed, &checks)
  }

  private func verify(_ signed: IssuerAuthentication.Signed, _ checks: inout CheckList) -> AuthenticatedDocument {
    let mso = signed.mso
    checks.require(
      mso.version == "1.0", .msoVersionUnsupported, "version is \"\(shown(mso.version))\", expected is \"1.0\"")
    let hash = HashAlgorithm(digestAlgorithm: mso.digestAlgorithm)
    checks.require(
      hash != nil, .digestAlgorithmUnsupported,
      "digestAlgorithm is \"\(shown(mso.digestAlgorithm))\", expected is \"SHA-256\", \"SHA-384\" or \"SHA-512\"")
    checks.require(
      mso.docType.hasSameBytes(as: document.docType), .msoDocTypeMismatch,
      "the issuer signed docType \(shown(mso.docType)), the document says \(shown(document.docType))")
    DigestCheck(document: document, mso: mso, hash: hash).run(into: &checks)
    ValidityCheck(mso: mso, signer: signed.signer, now: now, skew: verifier.clockSkew).run(into: &checks)
    checkJurisdiction(signed, &checks)
    let device = DeviceAuthentication(
      document: document, mso: mso, transcript: transcript, macPolicy: macPolicy, alternatives: alternatives,
      issuerKey: signed.signer.publicKey)
    let method = device.run(into: &checks)
    return AuthenticatedDocument(document, signed, method: method, checks: checks, policy: verifier.revocation)
  }

  /// Checks that the document's issuing country and jurisdiction equal those of its signer's certificate (ISO/IEC
  /// 18013-5:2021, 9.3.1). Elements are read only if every digest matched. An absent or empty value is not compared;
  /// if nothing can be compared, the check is not run.
  private func checkJurisdiction(_ signed: IssuerAuthentication.Signed, _ checks: inout CheckList) {
    let code = Code.issuerJurisdictionMismatch
    guard [.digestMissing, .digestMismatch, .elementDuplicate].allSatisfy({ checks.outcome(of: $0) == .passed }) else {
      return checks.notRun(code)
    }
    let subject = signed.signer.subject
    let expectations = [
      ("issuing_country", subject.country), ("issuing_jurisdiction", subject.stateOrProvince),
    ]
    var isReturned = false
    var isCompared = false
    var wrong: [String] = []
    for (identifier, expected) in expectations {
      forEachText(of: identifier) { text in
        isReturned = true
        guard let expected, !text.isEmpty else { return }
        isCompared = true
        if !text.hasSameBytes(as: expected) { wrong.append("\(identifier) is not the signer's \"\(shown(expected))\"") }
      }
    }
    if !isCompared {
      checks.notRun(code, isReturned ? "nothing to compare: empty, or not named by the signer" : nil)
    } else if !wrong.isEmpty, signed.anchor?.relaxed.contains(code) == true {
      checks.warned(code, wrong.joined(separator: ", "))
    } else {
      checks.require(wrong.isEmpty, code, wrong.joined(separator: ", "))
    }
  }

  /// Calls `body` with the element's text in each namespace that has it, because none of them may name another country.
  private func forEachText(of identifier: String, _ body: (String) -> Void) {
    for name in [Namespace.mDL, Namespace.iso23220] {
      for namespace in document.issuerSigned where namespace.name.hasSameBytes(as: name) {
        for index in namespace.items.indices where namespace.items[index].identifier.hasSameBytes(as: identifier) {
          if let text = namespace.items[index].value.text { body(text) }
        }
      }
    }
  }

  private static let afterSignature: [Code] =
    [.msoVersionUnsupported, .digestAlgorithmUnsupported, .msoDocTypeMismatch] + DigestCheck.codes
    + ValidityCheck.codes + [.issuerJurisdictionMismatch] + DeviceAuthentication.codes

  /// Every check of one document before revocation and acceptance, in the order in which they are made.
  static let codes: [Code] = [.docTypeNotRequested] + IssuerAuthentication.codes + afterSignature
}

extension HashAlgorithm {
  /// The exact names of ISO/IEC 18013-5:2021, 9.1.2.5.
  fileprivate init?(digestAlgorithm name: String) {
    switch name {
    case "SHA-256": self = .sha256
    case "SHA-384": self = .sha384
    case "SHA-512": self = .sha512
    default: return nil
    }
  }
}

/// Checks ValidityInfo against the clock and the signer's certificate (ISO/IEC 18013-5:2021, 9.1.2.4 and 9.3.1). Both
/// ends of each period are inclusive.
struct ValidityCheck {
  let mso: MobileSecurityObject
  let signer: Certificate
  let now: Timestamp
  let skew: Int64

  func run(into checks: inout CheckList) {
    let validity = mso.validity
    checks.require(
      validity.signed <= validity.validFrom && validity.validFrom < validity.validUntil, .validityInconsistent,
      validity.signed > validity.validFrom
        ? "signed (\(validity.signed)) is after validFrom (\(validity.validFrom))"
        : "validFrom (\(validity.validFrom)) is not before validUntil (\(validity.validUntil))")
    checks.require(validity.signed <= now + skew, .signedInFuture, "signed is \(validity.signed), and it is \(now)")
    checks.require(
      signer.validity.contains(validity.signed), .signedOutsideCertificate,
      "signed is \(validity.signed), and \(signer.label) is valid from \(signer.validity.lowerBound) to "
        + "\(signer.validity.upperBound)")
    checks.require(
      validity.validFrom <= now + skew, .notYetValid, "validFrom is \(validity.validFrom), and it is \(now)")
    checks.require(
      now - skew <= validity.validUntil, .expired, "validUntil is \(validity.validUntil), and it is \(now)")
    checks.expect(
      validity.validUntil <= signer.validity.upperBound, .validityExceedsCertificate,
      "validUntil is \(validity.validUntil), and \(signer.label) ends at \(signer.validity.upperBound)")
  }

  /// Every check of this stage, in the order in which they are made.
  static let codes: [Code] = [
    .validityInconsistent, .signedInFuture, .signedOutsideCertificate, .notYetValid, .expired,
    .validityExceedsCertificate,
  ]
}
