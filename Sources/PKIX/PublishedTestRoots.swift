import Primitives

/// Roots whose private keys are public, or which only test documents chain to. Live mode refuses them by fingerprint.
public enum PublishedTestRoots {
  /// SHA-256 of the DER certificate.
  private static let fingerprints: Set<String> = [
    // Apple's sample archive, "PassKit Identity Test Issuer Root CA".
    "81ec73ca680daf9c22c80ade687ab9688bfec0d65471f6105e8c917d987fca52",
    // ISO/IEC 18013-5, D.5.2, "utopia iaca".
    "6bdac7eb36008bafe71f199e5da3cf498c35c16100d748ddb1044f6643c0f829",
  ]

  public static func contains(_ certificate: Certificate) -> Bool {
    fingerprints.contains(certificate.fingerprint)
  }
}
