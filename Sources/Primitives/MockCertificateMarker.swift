/// The non-critical extension that every certificate of the mock issuer carries, so that live mode can refuse it
/// wherever it comes from. Its value is a DER `NULL`.
public enum MockCertificateMarker {
  /// An arc that no organisation has registered.
  public static let oid = "1.3.6.1.4.1.99999.18013.1"
}
