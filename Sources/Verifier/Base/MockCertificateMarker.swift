/// The extension that marks every certificate of the mock issuing authority.
///
/// It is not critical, so that mock certificates pass ordinary path validation in tests. Live mode refuses any chain or
/// anchor with the extension, whatever its origin.
public enum MockCertificateMarker {
  /// An identifier in the arc that IANA reserves for examples.
  public static let oid = "1.3.6.1.4.1.99999.18013.1"
  /// The extension's value: DER `NULL`.
  public static let value: [UInt8] = [0x05, 0x00]
}
