import Base
import CBOR
import Cryptography
import PKIX

/// The description of a relying party that Google Wallet shows to people: `gw_rp_metadata_bytes`, as Google or a
/// verifier registrar makes it.
///
/// `24(bstr .cbor {"schema_version": tstr, "display": DisplayInfo, ? "aggregator_info": DisplayInfo})` in base64url, with
/// `DisplayInfo = {"display_name": tstr, "logo_uri": tstr, "privacy_policy_uri": tstr}`.
public struct GoogleWalletMetadata: Sendable, Hashable {
  /// The extension of a reader's certificate that holds the SHA-256, in a DER OCTET STRING.
  public static let extensionOID = "1.3.6.1.4.1.11129.10.1"

  /// In base64url, as it is sent.
  public let text: String
  /// SHA-256 of all the bytes, the head of tag 24 included.
  public let sha256: [UInt8]

  public struct Malformed: Error, Sendable, Hashable {
    /// The rule that the text breaks.
    public let detail: String
  }

  public init(_ text: String) throws(Malformed) {
    guard let bytes = Base64.decodeURLSafe(text) else {
      throw Malformed(detail: "must be base64url, without padding or white space")
    }
    guard let map = (try? CBORItem(parsing: bytes))?.embedded, map.kind == .map else {
      throw Malformed(detail: "must be a CBOR map in tag 24, and nothing after it")
    }
    guard map[key: "schema_version"]?.text != nil, let display = map[key: "display"] else {
      throw Malformed(detail: "must have schema_version and display")
    }
    let parts = [("display", display)] + (map[key: "aggregator_info"].map { [("aggregator_info", $0)] } ?? [])
    for (name, info) in parts {
      guard let shown = info[key: "display_name"]?.text, !shown.isEmpty else {
        throw Malformed(detail: "must have \(name).display_name")
      }
      for member in ["logo_uri", "privacy_policy_uri"]
      where info[key: member]?.text?.hasPrefix("https://") != true {
        throw Malformed(detail: "must have an https address in \(name).\(member)")
      }
    }
    self.text = text
    sha256 = HashAlgorithm.sha256.hash(bytes)
  }

  /// Whether the certificate's extension holds this metadata's hash; nil if the certificate lacks the extension.
  public func isNamed(by leaf: Certificate) -> Bool? {
    leaf.value(ofExtension: Self.extensionOID).map { $0 == [0x04, UInt8(sha256.count)] + sha256 }
  }
}
