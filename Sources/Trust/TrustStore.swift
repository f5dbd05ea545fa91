import Cryptography
import Mdoc
import PKIX
import Primitives

/// An immutable set of trust anchors, with a memory of the document signers that it has validated.
public final class TrustStore: IssuerTrust, Sendable {
  public let anchors: [TrustAnchor]
  public let snapshot: String
  /// The rules without the memory.
  public let validator: PathValidator
  private let known = KnownSigners()

  /// - Parameter allowsTestCertificates: whether mock certificates, published test roots and anchors of the test tier
  ///   are trusted: in test mode and in `mdoc verify`, never in a live server.
  /// - Throws: `trust.store_empty` where nothing would be trusted.
  public init(anchors: [TrustAnchor], allowsTestCertificates: Bool) throws(TrustStoreError) {
    let usable = anchors.filter { allowsTestCertificates || $0.tier == .live }
    guard !usable.isEmpty else { throw .empty }
    self.anchors = usable
    validator = PathValidator(anchors: usable, allowsTestCertificates: allowsTestCertificates)
    snapshot = TrustStore.fingerprint(of: usable, allowsTestCertificates: allowsTestCertificates)
  }

  public func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation {
    let key = KnownSigners.key(chain: chain, docType: docType, skew: skew)
    if let evaluation = known.evaluation(for: key, at: now) { return evaluation }
    let evaluation = validator.evaluate(chain: chain, docType: docType, at: now, skew: skew)
    if evaluation.isTrusted { known.remember(evaluation, for: key) }
    return evaluation
  }

  /// Over everything that decides about trust, in an order that does not depend on the files' names.
  private static func fingerprint(of anchors: [TrustAnchor], allowsTestCertificates: Bool) -> String {
    let lines = anchors.map { anchor in
      [
        anchor.certificate.fingerprint, anchor.docTypes?.sorted().joined(separator: ",") ?? "*",
        anchor.extendedKeyUsages.sorted().joined(separator: ","), "\(anchor.maxPathLength)",
        anchor.relaxed.map(\.rawValue).sorted().joined(separator: ","), anchor.tier.rawValue,
      ].joined(separator: "|")
    }
    let text = lines.sorted().joined(separator: "\n") + "\n\(allowsTestCertificates)"
    return Hex.encode(HashAlgorithm.sha256.hash(Array(text.utf8)))
  }
}

public enum TrustStoreError: Error, Sendable, Hashable {
  case empty
}

/// Document signers that were validated under one set of anchors.
///
/// Parsing and validating a chain costs several signature checks; a signer signs many documents. Only trusted chains
/// are remembered, so nobody fills the memory with certificates of their own making, and each only for as long as all
/// its certificates are valid.
private final class KnownSigners: Sendable {
  private static let capacity = 4_096
  private let evaluations = Locked<[[UInt8]: PathEvaluation]>([:])

  /// SHA-256 over everything that the evaluation depends on, apart from the time.
  static func key(chain: [ArraySlice<UInt8>], docType: String, skew: Int64) -> [UInt8] {
    var input: [UInt8] = []
    input.reserveCapacity(chain.reduce(64 + docType.utf8.count) { $0 + $1.count + 8 })
    for part in chain + [Array(docType.utf8)[...]] {
      withUnsafeBytes(of: UInt64(part.count).bigEndian) { input += $0 }
      input += part
    }
    withUnsafeBytes(of: skew.bigEndian) { input += $0 }
    return HashAlgorithm.sha256.hash(input)
  }

  func evaluation(for key: [UInt8], at now: Timestamp) -> PathEvaluation? {
    guard let evaluation = evaluations.withLock({ $0[key] }), evaluation.window?.contains(now) == true else {
      return nil
    }
    return evaluation
  }

  func remember(_ evaluation: PathEvaluation, for key: [UInt8]) {
    evaluations.withLock { evaluations in
      if evaluations.count >= Self.capacity { evaluations.removeAll(keepingCapacity: true) }
      evaluations[key] = evaluation
    }
  }
}
