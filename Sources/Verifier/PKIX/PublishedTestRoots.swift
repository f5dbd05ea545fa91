import Base
import Cryptography

/// Roots whose private keys are public, or which only test documents chain to. Live mode refuses them by their keys: a
/// certificate with a published key is easily made anew, with another fingerprint.
public enum PublishedTestRoots {
  /// SHA-256 of the uncompressed point.
  private static let keys: Set<String> = [
    // Apple's sample archive, "PassKit Identity Test Issuer Root CA".
    "6b80a808585f6b85b79f3fed905b12f8e9f9e49093367d2b3e5dae4c52aaa4b3",
    // ISO/IEC 18013-5, D.5.2, "utopia iaca".
    "a0ab0dcaf554ae15a01be4254666239abee88b6800a1d82c4ec8a1cd2cad168e",
    // ISO/IEC TS 18013-7, B.6, "ISO18013-5 Test Certificate IACA".
    "1721633966bcd144233c56694bce2a69cc32f42796d14605327aab6f3a2deaa1",
    // The test authorities of two public implementations, "OWF Multipaz TEST IACA" and "ISOmDL Test Root".
    "90714b59dcebf84b143a13bcff8626a18be5cddedfd3a3ccc8c40aebb864272e",
    "f696c16de741c2482b3910ce494d05ea1cdda77d78e7c689915d19ba7de88b33",
  ]

  public static func contains(_ certificate: Certificate) -> Bool {
    guard let key = certificate.publicKey else { return false }
    return keys.contains(Hex.encode(HashAlgorithm.sha256.hash(key.encoded)))
  }
}
