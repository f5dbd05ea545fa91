import Base
import Vectors

extension VectorFlag {
  /// The flag of cases in which the code's check must fail or warn: `ElementDuplicate` for `mdoc.element.duplicate`.
  package static func ofMissing(_ code: Code) -> VectorFlag {
    VectorFlag(code.flagName, BugClass.ofMissing(code))
  }

  /// Right answers, which guard against a verifier that rejects everything.
  package static let control = VectorFlag("PositiveControl", .interoperability)
}

extension Code {
  /// The flag of vectors in which the code's check must fail or warn: `ElementDuplicate` for `mdoc.element.duplicate`.
  ///
  /// Flags are part of the published corpus: a new code gets the name by the rules, and no flag ever changes.
  var flagName: String {
    if let name = Self.otherFlags[rawValue] { return name }
    let rule = Self.flagPrefixes.first { rawValue.hasPrefix($0.prefix) }
    let rest = rawValue.dropFirst(rule?.prefix.count ?? 0)
    return (rule?.flag ?? "") + rest.split { $0 == "." || $0 == "_" }.map { Self.capitalized(String($0)) }.joined()
  }

  private static func capitalized(_ word: String) -> String {
    ["id", "ca", "ok", "utf8", "uri"].contains(word)
      ? word.uppercased() : word.prefix(1).uppercased() + word.dropFirst()
  }

  private static let flagPrefixes: [(prefix: String, flag: String)] = [
    ("mdoc.issuer_auth.", "Issuer"), ("mdoc.device_auth.", "Device"), ("mdoc.response.", ""), ("mdoc.validity.", ""),
    ("mdoc.", ""), ("trust.certificate.", "Certificate"), ("trust.", ""), ("policy.", ""), ("revocation.", ""),
    ("session.", ""),
  ]

  private static let otherFlags = [
    "envelope.response_mode_mismatch": "ResponseModeMismatch", "mdoc.response.malformed": "ResponseMalformed",
    "mdoc.response.version_unsupported": "ResponseVersionUnsupported",
    "mdoc.response.status_not_ok": "ResponseStatusNotOK", "mdoc.response.document_errors": "DocumentErrorsPresent",
    "mdoc.response.deviation": "ResponseDeviation", "mdoc.issuer_auth.missing": "IssuerAuthMissing",
    "mdoc.issuer_auth.malformed": "IssuerAuthMalformed",
    "mdoc.issuer_auth.x5t_mismatch": "IssuerCertificateThumbprintMismatch", "trust.store_empty": "TrustStoreEmpty",
    "trust.not_for_doc_type": "IssuerNotTrustedForDocType",
    "mdoc.mso.digest_algorithm_unsupported": "DigestAlgorithmUnsupported",
    "mdoc.validity.inconsistent": "ValidityInconsistent",
    "mdoc.validity.exceeds_certificate": "ValidityExceedsCertificate",
    "mdoc.device_signed.element_unauthorized": "DeviceElementUnauthorized",
    "mdoc.device_auth.missing": "DeviceAuthMissing", "mdoc.device_auth.ambiguous": "DeviceAuthAmbiguous",
    "mdoc.device_auth.malformed": "DeviceAuthMalformed",
    "revocation.mechanism_unsupported": "RevocationMechanismUnsupported",
    "revocation.source_not_allowed": "RevocationSourceNotAllowed",
    "revocation.list_too_large": "RevocationListTooLarge", "revocation.unavailable": "RevocationUnavailable",
    "wallet.vp_formats_not_supported": "WalletFormatsNotSupported",
  ]
}
