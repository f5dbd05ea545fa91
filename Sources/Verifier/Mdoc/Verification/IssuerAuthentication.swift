import Base
import CBOR
import COSE
import Cryptography
import PKIX

/// Issuer data authentication up to the mobile security object (ISO/IEC 18013-5:2021, 9.3.1): the chain, the
/// signature, and the object that it covers.
struct IssuerAuthentication {
  let verifier: MdocVerifier
  let docType: String
  let now: Timestamp

  /// The issuer's signed data, with the signer. `anchor` is nil, and `path` empty, if the chain failed.
  struct Signed {
    let mso: MobileSecurityObject
    let signer: Certificate
    let anchor: TrustAnchor?
    let path: [Certificate]
  }

  /// The signed object; nil if no valid signature covers one. Every check is noted either way.
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
      let message = try COSESign1(parsing: issuerAuth, readsPastSlips: true)
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
        : "x5t (label 34) names hash algorithm \(x5t.algorithm.map { "\($0)" } ?? "none"), expected is -16 (SHA-256)")
  }

  private func verifySignature(
    _ message: COSESign1, path: PathEvaluation, _ checks: inout CheckList
  ) -> Signed? {
    let signature: [Code] = [.issuerAlgorithmUnsupported, .issuerAlgorithmKeyMismatch, .issuerSignatureInvalid]
    guard let payload = message.payload else {
      for code in signature { checks.notRun(code) }
      checks.failed(.msoMissing, "issuerAuth's payload is nil, and must be the mobile security object")
      checks.notRun(.msoMalformed)
      return nil
    }
    guard let signer = path.signer, let key = signer.publicKey else {
      for code in signature { checks.notRun(code) }
      checks.notRun(.msoMissing, .msoMalformed)
      return nil
    }
    // An authority has few signers, and they sign all its documents: this key will be used again.
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

  /// Every check of this stage, in the order in which they are made.
  static let codes: [Code] =
    [
      .issuerAuthMissing, .issuerAuthMalformed, .coseHeaderDuplicate, .coseCritUnsupported, .issuerCertificateMissing,
      .issuerCertificateThumbprintMismatch,
    ] + PathValidator.codes + [
      .issuerAlgorithmUnsupported, .issuerAlgorithmKeyMismatch, .issuerSignatureInvalid, .msoMissing, .msoMalformed,
    ]
}

extension CheckList {
  /// Notes one check for each failure that the verdict can be, in the order in which they are looked for. The check of
  /// the actual verdict fails, those before it passed, and those after it did not run. If the verdict is none of these
  /// failures, all checks passed.
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
  /// The failed check, with the name of the message that has the fault.
  func check(of name: String, orMalformed malformed: Code) -> Check {
    Check(code(orMalformed: malformed), .failed, detail: "\(name): \(detail)")
  }

  private func code(orMalformed malformed: Code) -> Code {
    switch self {
    case .duplicateHeader: .coseHeaderDuplicate
    case .unsupportedCritical: .coseCritUnsupported
    case .invalidCBOR(let code): code
    case .malformed: malformed
    }
  }
}
