import Base
import Mdoc
import PKIX

/// The anchors of a trust store that one verdict rests on, under the fingerprint of the whole store: what evidence keeps
/// of it. Others would change nothing, and a store may have hundreds.
///
/// They are evaluated as in the store, by the store's own rules; only the fingerprint is taken over, and with it whoever
/// has the audit log finds the entry of the same attempt.
public struct TrustExcerpt: IssuerTrust {
  public let snapshot: String
  private let store: TrustStore

  /// - Parameter fingerprints: SHA-256 of the certificates, in hexadecimal. One of them may be trusted by several
  ///   settings.
  /// - Throws: `trust.store_empty` where the store has none of them.
  public init(of store: TrustStore, anchors fingerprints: Set<String>) throws(TrustStoreError) {
    snapshot = store.snapshot
    self.store = try TrustStore(
      anchors: store.anchors.filter { fingerprints.contains($0.certificate.fingerprint) },
      allowsTestCertificates: store.validator.allowsTestCertificates)
  }

  public func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation {
    store.evaluate(chain: chain, docType: docType, at: now, skew: skew)
  }

  // MARK: Keeping

  public var json: JSON {
    ["snapshot": .string(snapshot), "anchors": .array(store.anchors.map(\.json))]
  }

  /// Nil for what `json` did not give, and where nothing would be trusted.
  ///
  /// - Parameter allowsTestCertificates: of the mode in which it was kept: what only tests trust stays theirs.
  public init?(_ json: JSON, allowsTestCertificates: Bool) {
    guard let snapshot = json["snapshot"]?.string, let array = json["anchors"]?.array else { return nil }
    let anchors = array.compactMap(TrustAnchor.init)
    guard anchors.count == array.count,
      let store = try? TrustStore(anchors: anchors, allowsTestCertificates: allowsTestCertificates)
    else { return nil }
    self.snapshot = snapshot
    self.store = store
  }
}
