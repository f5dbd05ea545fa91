import Base
import Cryptography
import Mdoc
import PKIX

/// An immutable set of trust anchors, with a cache of validated document signers.
public final class TrustStore: IssuerTrust, Sendable {
  public let anchors: [TrustAnchor]
  public let snapshot: String
  /// The rules without the cache of validated signers.
  public let validator: PathValidator
  let allowsTestTier: Bool
  private let known = SignerCache()

  /// - Parameters:
  ///   - allowsTestCertificates: whether certificates for published private keys are trusted, the mock authority's and
  ///     those of `PublishedKeys`. True in test mode and in `mdoc verify`, never in a live server.
  ///   - allowsTestTier: whether anchors of the test tier, such as a sandbox's, are trusted; by default equal to
  ///     `allowsTestCertificates`. If only `allowsTestTier` is true, as in staging, a certificate for a published key
  ///     is a warning.
  /// - Throws: `trust.store_empty` if nothing would be trusted.
  public convenience init(
    anchors: [TrustAnchor], allowsTestCertificates: Bool, allowsTestTier: Bool? = nil
  ) throws(TrustStoreError) {
    let allowsTestTier = allowsTestTier ?? allowsTestCertificates
    let usable = anchors.filter { allowsTestTier || $0.tier == .live }
    guard !usable.isEmpty else { throw .empty }
    self.init(usable: usable, allowsTestCertificates: allowsTestCertificates, allowsTestTier: allowsTestTier)
  }

  /// The store after publishers have withdrawn all anchors. No server starts with this store.
  public static let trustingNobody = TrustStore(usable: [], allowsTestCertificates: false, allowsTestTier: false)

  private init(usable: [TrustAnchor], allowsTestCertificates: Bool, allowsTestTier: Bool) {
    self.allowsTestTier = allowsTestTier
    // If two anchors match, the first one is used. The order of anchors must therefore not depend on the order of the
    // files.
    let ordered = usable.map { (encoding: TrustStore.encoding(of: $0), anchor: $0) }
      .sorted { $0.encoding.lexicographicallyPrecedes($1.encoding) }
    self.anchors = ordered.map(\.anchor)
    validator = PathValidator(
      anchors: self.anchors, allowsTestCertificates: allowsTestCertificates,
      warnsOfPublishedKeys: allowsTestTier && !allowsTestCertificates, usages: DocTypeCatalogue.signerUsages)
    snapshot = TrustStore.fingerprint(
      of: ordered.map(\.encoding), rules: allowsTestCertificates ? 1 : allowsTestTier ? 2 : 0)
  }

  public func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation {
    let key = SignerCache.key(chain: chain, docType: docType, skew: skew)
    if let evaluation = known.evaluation(for: key, at: now) { return evaluation }
    let evaluation = validator.evaluate(chain: chain, docType: docType, at: now, skew: skew)
    if evaluation.isTrusted { known.remember(evaluation, for: key) }
    return evaluation
  }

  /// Makes verifications with the anchors' keys cheaper, for long-running processes. The work is done on a background
  /// thread. Verifications do not wait for it.
  public func prepareForService() { PublicKey.expectReuse(of: anchors.compactMap(\.certificate.publicKey)) }

  /// A hash over all data that determine trust. Duplicate anchors count once.
  private static func fingerprint(of encodings: [[UInt8]], rules: UInt8) -> String {
    var input: [UInt8] = [rules]
    var previous: [UInt8]?
    for encoding in encodings where encoding != previous {
      append(encoding, to: &input)
      previous = encoding
    }
    return Hex.encode(HashAlgorithm.sha256.hash(input))
  }

  /// Each part is preceded by its length, so that two different anchors never have the same encoding.
  private static func encoding(of anchor: TrustAnchor) -> [UInt8] {
    var output: [UInt8] = []
    append(anchor.certificate.sha256, to: &output)
    append(Array(anchor.kind.rawValue.utf8), to: &output)
    append([anchor.docTypes == nil ? 0 : 1, anchor.extendedKeyUsages == nil ? 0 : 1], to: &output)
    var rules = anchor.relaxed.map(\.rawValue) + [anchor.crlAddresses.rawValue]
    if anchor.allowsPlainHTTP { rules.append("http") }
    if anchor.allowsJWTStatusLists { rules.append("jwt") }
    if let proofs = anchor.allowsProofsExplicitly { rules.append("zk \(proofs)") }
    let lists = [
      anchor.docTypes ?? [], Array(anchor.extendedKeyUsages ?? []), [String(anchor.maxPathLength)],
      rules,
      anchor.statusSigners.map { Hex.encode($0.sha256) },
      anchor.trustedUntil.map { [String($0.secondsSince1970)] } ?? [],
    ]
    for list in lists {
      var part: [UInt8] = []
      // Compares bytes: spellings that only look alike are different names.
      for text in Set(list.map { Array($0.utf8) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        append(text, to: &part)
      }
      append(part, to: &output)
    }
    return output
  }

  private static func append(_ part: [UInt8], to output: inout [UInt8]) {
    withUnsafeBytes(of: UInt64(part.count).bigEndian) { output += $0 }
    output += part
  }
}

public enum TrustStoreError: Error, Sendable, Hashable { case empty }

/// Document signers that were validated under one set of anchors. Validation costs several signature checks.
///
/// The cache contains only trusted chains, so that strangers cannot fill it. A chain remains only while all its
/// certificates are valid. It is stored once for each document type, even for an invented type. A full cache is
/// emptied.
private final class SignerCache: Sendable {
  private static let capacity = 4_096
  private let evaluations = Locked<[[UInt8]: PathEvaluation]>([:])

  /// SHA-256 over all inputs of the evaluation except the time.
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
    evaluations.withLock { $0[key] }.flatMap { $0.window?.contains(now) == true ? $0 : nil }
  }

  func remember(_ evaluation: PathEvaluation, for key: [UInt8]) {
    evaluations.withLock { evaluations in
      if evaluations.count >= Self.capacity { evaluations.removeAll(keepingCapacity: true) }
      evaluations[key] = evaluation
    }
  }
}

/// A value that is only replaced as a whole. Read it once for each piece of work, so that no result combines two
/// values.
public final class Replaceable<Value: Sendable>: Sendable {
  private let value: Locked<Value>

  public init(_ value: Value) { self.value = Locked(value) }

  public var current: Value { value.withLock { $0 } }

  /// Replaces the value. Running work keeps the value that it has read.
  public func replace(by value: Value) { self.value.withLock { $0 = value } }
}

/// The trust store that is in force.
public typealias CurrentTrust = Replaceable<TrustStore>
