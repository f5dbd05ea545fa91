import Base
import CBOR
import COSE
import Cryptography
import PKIX

/// Issuer data authentication (ISO/IEC 18013-5:2021, 9.3.1): the chain, the signature, and the mobile security object
/// that it covers.
struct IssuerAuthentication {
  let verifier: MdocVerifier
  let docType: String
  let now: Timestamp

  /// The issuer's signed data, with the signer. If the chain failed, `anchor` is nil and `path` is empty.
  struct Signed {
    let mso: MobileSecurityObject
    let signer: Certificate
    let anchor: TrustAnchor?
    let path: [Certificate]
  }

  /// Runs the checks. Returns the signed object; nil if no valid signature covers an object. Every check is recorded in
  /// either case.
  func run(_ issuerAuth: CBORItem?, into checks: inout CheckList) -> Signed? {
    checks.require(issuerAuth != nil, .issuerAuthMissing, "issuerSigned has no issuerAuth")
    guard let issuerAuth, let message = parse(issuerAuth, &checks) else {
      checks.skipRest(of: Self.codes)
      return nil
    }
    let chain = message.headers.x5chain ?? []
    checks.require(!chain.isEmpty, .issuerCertificateMissing, message.headers.x5chainFault)
    guard let leaf = chain.first else {
      checks.skipRest(of: Self.codes)
      return nil
    }
    checkThumbprint(message.headers, leaf: leaf, &checks)
    let path = verifier.trust.evaluate(chain: chain, docType: docType, at: now, skew: verifier.clockSkew)
    checks.append(path.checks)
    return verifySignature(message, path: path, &checks)
  }

  private func parse(_ issuerAuth: CBORItem, _ checks: inout CheckList) -> COSESign1? {
    do throws(COSEError) {
      let message = try COSESign1(parsing: issuerAuth, toleratesDeviations: true)
      checks.passed(.issuerAuthMalformed)
      checks.passed(.coseHeaderDuplicate)
      checks.passed(.coseCritUnsupported)
      return message
    } catch {
      let check = error.check(of: "issuerAuth", orMalformed: .issuerAuthMalformed)
      if check.code != .issuerAuthMalformed { checks.passed(.issuerAuthMalformed) }
      checks.append([check])
      return nil
    }
  }

  private func checkThumbprint(_ headers: COSEHeaders, leaf: ArraySlice<UInt8>, _ checks: inout CheckList) {
    guard let x5t = headers.x5t else { return checks.notRun(.issuerCertificateThumbprintMismatch) }
    let sha256: Int64 = -16
    let isMatch = x5t.algorithm == sha256 && x5t.hash.map { HashAlgorithm.sha256.matches($0, digestOf: leaf) } ?? false
    checks.require(
      isMatch, .issuerCertificateThumbprintMismatch,
      x5t.algorithm == sha256
        ? "x5t (label 34) is not the SHA-256 of the first certificate of x5chain"
        : "x5t (label 34) names hash algorithm \(x5t.algorithm.map { "\($0)" } ?? "none"), expected -16 (SHA-256)")
  }

  private func verifySignature(
    _ message: COSESign1, path: PathEvaluation, _ checks: inout CheckList
  ) -> Signed? {
    let signature = CodeGroup.issuerSignature.codes
    guard let payload = message.payload else {
      checks.skipRest(of: signature)
      checks.failed(.msoMissing, "issuerAuth's payload is nil; it must be the mobile security object")
      checks.notRun(.msoMalformed)
      return nil
    }
    guard let signer = path.signer, let key = signer.publicKey else {
      checks.skipRest(of: signature + [.msoMissing, .msoMalformed])
      return nil
    }
    // An authority has few signers, so this signer's key will be used again.
    if path.isTrusted { key.expectReuse() }
    let verdict = message.verify(payload: payload.bytes ?? [], key: key)
    let order: [(COSESign1.Verdict, Code)] = [
      (.algorithmUnsupported, .issuerAlgorithmUnsupported), (.keyMismatch, .issuerAlgorithmKeyMismatch),
      (.invalid, .issuerSignatureInvalid),
    ]
    checks.note(verdict, in: order, message.words(verdict, key: key, "the key of \(signer.label)"))
    checks.passed(.msoMissing)
    guard verdict == .valid else {
      checks.notRun(.msoMalformed)
      return nil
    }
    do throws(MdocParseError) {
      let mso = try MobileSecurityObject(parsing: payload)
      checks.passed(.msoMalformed)
      let isTrusted = path.isTrusted
      return Signed(
        mso: mso, signer: signer, anchor: isTrusted ? path.anchor : nil, path: isTrusted ? path.path : [])
    } catch {
      checks.append([error.check])
      return nil
    }
  }

  static let codes =
    CodeGroup.issuerAuthentication.codes + PathValidator.codes + CodeGroup.issuerSignature.codes
    + [.msoMissing, .msoMalformed]
}

extension CheckList {
  /// Records one check for each possible failure, in the order of the search. The verdict's check is recorded as
  /// failed, the checks before it as passed, and the checks after it as not run. If the verdict has no check, records
  /// all checks as passed.
  mutating func note<Verdict: Equatable>(
    _ verdict: Verdict, in order: [(verdict: Verdict, code: Code)], _ detail: @autoclosure () -> String
  ) {
    var hasFailed = false
    for (failure, code) in order {
      if hasFailed {
        notRun(code)
      } else if verdict == failure {
        failed(code, detail())
        hasFailed = true
      } else {
        passed(code)
      }
    }
  }
}

extension COSEError {
  /// The failed check of the message with this name.
  func check(of name: String, orMalformed malformed: Code) -> Check {
    let code: Code =
      switch self {
      case .duplicateHeader: .coseHeaderDuplicate
      case .unsupportedCritical: .coseCritUnsupported
      case .invalidCBOR(let code): code
      case .malformed: malformed
      }
    return Check(code, .failed, detail: "\(name): \(detail)")
  }
}

extension Code {
  public static let issuerAuthMissing = Code(
    "mdoc.issuer_auth.missing", "The document has no issuer authentication", "\(iso), 9.1.2.4", .forged,
    passes: "The document has the issuer's signature")
  public static let issuerAuthMalformed = Code(
    "mdoc.issuer_auth.malformed", "IssuerAuth is not an untagged COSE_Sign1", "\(iso), 9.1.2.4", .item,
    passes: "The issuer's signature is well-formed")
  public static let coseHeaderDuplicate = Code(
    "cose.header_duplicate", "A COSE header parameter is in both header maps", "RFC 9052, 3", .wallet,
    passes: "No COSE header parameter is duplicated")
  public static let coseCritUnsupported = Code(
    "cose.crit_unsupported", "A COSE header parameter is marked critical, but is unknown", "RFC 9052, 3.1", .wallet,
    passes: "No COSE header parameter is critical and unknown")
  public static let issuerCertificateMissing = Code(
    "mdoc.issuer_auth.certificate_missing", "IssuerAuth carries no document signer certificate", "\(iso), 9.1.2.4",
    "The issuer must put its signer's certificate under x5chain, and the wallet must forward issuerAuth unchanged; the "
      + "detail says what issuerAuth has instead. Report it to the wallet's maker.",
    passes: "The signer's certificate comes with the document")
  public static let issuerCertificateThumbprintMismatch = Code(
    "mdoc.issuer_auth.x5t_mismatch", "The certificate thumbprint does not match the document signer's certificate",
    "RFC 9360, 2", .forged, passes: "The certificate matches the thumbprint in the signature")
  public static let issuerAlgorithmUnsupported = Code(
    "mdoc.issuer_auth.algorithm_unsupported",
    "The issuer's signature algorithm is absent from the protected header or not one of the standard's",
    "\(iso), 9.1.2.4", .issuer, passes: "The issuer's signature algorithm is allowed")
  public static let issuerAlgorithmKeyMismatch = Code(
    "mdoc.issuer_auth.algorithm_key_mismatch",
    "The issuer's signature algorithm does not fit the certificate's key", "\(iso), 9.1.2.4", .issuer,
    passes: "The issuer's algorithm fits its key")
  public static let issuerSignatureInvalid = Code(
    "mdoc.issuer_auth.signature_invalid", "The issuer's signature does not verify", "\(iso), 9.3.1", .forged,
    passes: "The issuer's signature is valid")
  public static let msoMissing = Code(
    "mdoc.mso.missing", "IssuerAuth carries no mobile security object", "\(iso), 9.1.2.4", .forged,
    passes: "The document has a mobile security object")
}

extension CodeGroup {
  public static let issuerAuthentication = CodeGroup(
    "Issuer authentication",
    [
      .issuerAuthMissing, .issuerAuthMalformed, .coseHeaderDuplicate, .coseCritUnsupported, .issuerCertificateMissing,
      .issuerCertificateThumbprintMismatch,
    ])
  public static let issuerSignature = CodeGroup(
    issuerAuthentication.title,
    [.issuerAlgorithmUnsupported, .issuerAlgorithmKeyMismatch, .issuerSignatureInvalid])
}
