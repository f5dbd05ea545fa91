import Base
import CBOR
import COSE
import Cryptography
import PKIX

/// Authenticates one document. Each check is made once, in a fixed order. A check that depends on a failed check is
/// recorded as not run. Revocation follows (`AuthenticatedDocument`).
struct DocumentVerification {
  let document: Document
  let transcript: SessionTranscript
  let readerKey: PrivateKey?
  let alternatives: [AlternativeTranscript]
  let verifier: MdocVerifier
  let now: Timestamp

  func run(request: PresentationRequest?, recognizesAppleMocks: Bool) -> AuthenticatedDocument {
    var checks = CheckList()
    if let request {
      checks.require(
        request.document(ofType: document.docType) != nil, .docTypeNotRequested, shown(document.docType))
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
      mso.version == "1.0", .msoVersionUnsupported, "version is \"\(shown(mso.version))\", expected \"1.0\"")
    let hash = Self.digestAlgorithms[mso.digestAlgorithm]
    checks.require(
      hash != nil, .digestAlgorithmUnsupported,
      "digestAlgorithm is \"\(shown(mso.digestAlgorithm))\", expected \"SHA-256\", \"SHA-384\" or \"SHA-512\"")
    checks.require(
      mso.docType.hasSameBytes(as: document.docType), .msoDocTypeMismatch,
      "the issuer signed docType \(shown(mso.docType)), but the document says \(shown(document.docType))")
    DigestCheck(document: document, mso: mso, hash: hash).run(into: &checks)
    ValidityCheck(mso: mso, signer: signed.signer, now: now, skew: verifier.clockSkew).run(into: &checks)
    checkJurisdiction(signed, &checks)
    let device = DeviceAuthentication(
      document: document, mso: mso, transcript: transcript, readerKey: readerKey, alternatives: alternatives,
      issuerKey: signed.signer.publicKey)
    let method = device.run(into: &checks)
    return AuthenticatedDocument(document, signed, method: method, checks: checks, policy: verifier.revocation)
  }

  /// Checks that the document's issuing country and jurisdiction match its signer's certificate (ISO/IEC 18013-5:2021,
  /// 9.3.1). Elements are read only if every digest matched. An absent or empty value is not compared; if nothing can
  /// be compared, the check is not run.
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
        if !text.hasSameBytes(as: expected) {
          wrong.append("\(identifier) differs from the signer's \"\(shown(expected))\"")
        }
      }
    }
    if !isCompared {
      checks.notRun(code, isReturned ? "nothing to compare: empty, or not in the signer's certificate" : nil)
    } else if !wrong.isEmpty, signed.anchor?.relaxed.contains(code) == true {
      checks.warned(code, wrong.joined(separator: ", "))
    } else {
      checks.require(wrong.isEmpty, code, wrong.joined(separator: ", "))
    }
  }

  /// Calls `body` with the element's text in each namespace that has the element: all texts must be the same country.
  private func forEachText(of identifier: String, _ body: (String) -> Void) {
    for name in [Namespace.mDL, Namespace.iso23220] {
      for namespace in document.issuerSigned where namespace.name.hasSameBytes(as: name) {
        for index in namespace.items.indices
        where namespace.items[index].identifier.utf8.count == identifier.utf8.count
          && namespace.items[index].identifier.hasSameBytes(as: identifier)
        {
          if let text = namespace.items[index].value.text { body(text) }
        }
      }
    }
  }

  /// The names of ISO/IEC 18013-5:2021, 9.1.2.5.
  private static let digestAlgorithms: [String: HashAlgorithm] = [
    "SHA-256": .sha256, "SHA-384": .sha384, "SHA-512": .sha512,
  ]

  private static let afterSignature: [Code] =
    [.msoVersionUnsupported, .digestAlgorithmUnsupported, .msoDocTypeMismatch] + DigestCheck.codes
    + ValidityCheck.codes + [.issuerJurisdictionMismatch] + DeviceAuthentication.codes

  /// Every check of one document before revocation and acceptance, in order of execution.
  static let codes: [Code] = [.docTypeNotRequested] + IssuerAuthentication.codes + afterSignature
}

/// Recognises responses of Apple's simulator and developer profile (sample archive, README). They are rejected with
/// their own codes. Such responses have no document signer. A certificate with a bad signature is a forgery, not a
/// mock.
struct AppleMockRecognition {
  let document: Document
  let transcript: SessionTranscript

  /// The code for the rejection; nil if the document is not a mock.
  var code: Code? {
    // The last of the message's four fields is the signature, which is blank in a mock. The signature is examined
    // first, so that the rest of a real document's message need not be read here.
    guard let last = document.issuerAuth?.elements?.dropFirst(3).first(where: { _ in true }), isBlank(last.bytes ?? []),
      let issuer = document.issuerMessage
    else { return nil }
    if let device = document.deviceSignatureMessage, isBlank(device.signature) { return .appleSimulatorAnswer }
    guard issuer.headers.x5chain == nil else { return nil }
    // No issuer vouches for this object. Its key is used only to distinguish a device with the developer profile from
    // random data.
    guard let payload = issuer.payload, let mso = try? MobileSecurityObject(parsing: payload) else { return nil }
    var checks = CheckList()
    let device = DeviceAuthentication(
      document: document, mso: mso, transcript: transcript, readerKey: nil, issuerKey: nil)
    return device.run(into: &checks) == .signature ? .appleProfileAnswer : nil
  }

  /// Whether a signature is empty or all zeros.
  private func isBlank(_ signature: ArraySlice<UInt8>) -> Bool { signature.allSatisfy { $0 == 0 } }
}

extension Document {
  /// The issuer's message; nil if `issuerAuth` is missing or malformed.
  var issuerMessage: COSESign1? { issuerAuth.flatMap { try? COSESign1(parsing: $0, toleratesDeviations: true) } }

  /// The device's message; nil if its signature is missing or malformed.
  var deviceSignatureMessage: COSESign1? {
    deviceSigned?.deviceSignature.flatMap { try? COSESign1(parsing: $0, toleratesDeviations: true) }
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
    checks.require(
      validity.signed <= now + skew, .signedInFuture,
      "signed is \(validity.signed), but the time is \(now)")
    checks.require(
      signer.validity.contains(validity.signed), .signedOutsideCertificate,
      "signed is \(validity.signed), but \(signer.label) is valid from \(signer.validity.lowerBound) to "
        + "\(signer.validity.upperBound)")
    checks.require(
      validity.validFrom <= now + skew, .notYetValid, "validFrom is \(validity.validFrom), but the time is \(now)")
    checks.require(
      now - skew <= validity.validUntil, .expired, "validUntil is \(validity.validUntil), but the time is \(now)")
    checks.expect(
      validity.validUntil <= signer.validity.upperBound, .validityExceedsCertificate,
      "validUntil is \(validity.validUntil), but \(signer.label) ends at \(signer.validity.upperBound)")
  }

  static let codes: [Code] = [
    .validityInconsistent, .signedInFuture, .signedOutsideCertificate, .notYetValid, .expired,
    .validityExceedsCertificate,
  ]
}

extension Code {
  public static let msoMalformed = Code(
    "mdoc.mso.malformed", "The mobile security object lacks a member or has one of another type", "\(iso), 9.1.2.4",
    .issuer, passes: "The mobile security object has the prescribed structure")
  public static let msoVersionUnsupported = Code(
    "mdoc.mso.version_unsupported", "The mobile security object's version is not 1.0", "\(iso), 9.1.2.4",
    .issuer, passes: "The mobile security object's version is known")
  public static let digestAlgorithmUnsupported = Code(
    "mdoc.mso.digest_algorithm_unsupported", "The digest algorithm is not SHA-256, SHA-384 or SHA-512",
    "\(iso), 9.1.2.5", .issuer, passes: "The digest algorithm is allowed")
  public static let msoDocTypeMismatch = Code(
    "mdoc.mso.doc_type_mismatch", "The mobile security object's document type differs from the document's",
    "\(iso), 9.3.1", .forged, passes: "The issuer signed this document type")
  public static let validityInconsistent = Code(
    "mdoc.validity.inconsistent", "The validity dates contradict each other", "\(iso), 9.1.2.4", .issuer,
    passes: "The document's dates are in order")
  public static let signedInFuture = Code(
    "mdoc.validity.signed_in_future", "The document claims to be signed in the future", "\(iso), 9.3.1", .issuer,
    passes: "The document was signed in the past")
  public static let signedOutsideCertificate = Code(
    "mdoc.validity.signed_outside_certificate", "The document was signed outside its signer's validity",
    "\(iso), 9.3.1", .issuer, passes: "The document was signed while its signer's certificate was valid")
  public static let notYetValid = Code(
    "mdoc.validity.not_yet_valid", "The document is not yet valid", "\(iso), 9.3.1",
    "Ask again when it is valid; check the server's clock.", passes: "The document's validity has begun")
  public static let expired = Code(
    "mdoc.validity.expired", "The document's signature has expired", "\(iso), 9.3.1",
    "The person must let the wallet renew the document.", passes: "The document has not expired")
  public static let validityExceedsCertificate = Code(
    "mdoc.validity.exceeds_certificate", "The document claims to be valid for longer than its signer's certificate",
    "\(iso), 9.1.2.4", .issuer, passes: "The document's validity ends no later than its signer's certificate",
    warns: true)
  public static let appleSimulatorAnswer = Code(
    "apple.simulator_answer", "The response comes from Apple's simulator and proves nothing",
    "Apple, sample archive README",
    "Test on a device with a real document. `mdoc serve --test-mode` shows the simulator's response, never as verified."
  )
  public static let appleProfileAnswer = Code(
    "apple.profile_answer", "The response comes from a device with Apple's developer profile and has no issuer",
    "Apple, sample archive README",
    "Remove the developer profile from the device. `mdoc serve --test-mode` with `--apple-key` shows its response.")
}

extension CodeGroup {
  public static let mobileSecurityObject = CodeGroup(
    "Mobile security object",
    [.msoMissing, .msoMalformed, .msoVersionUnsupported, .digestAlgorithmUnsupported, .msoDocTypeMismatch])
  public static let validity = CodeGroup("Validity and issuer", ValidityCheck.codes + [.issuerJurisdictionMismatch])
}
