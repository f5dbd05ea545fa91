import Base
import CorpusMaking
import Mdoc
import PKIX
import Vectors

/// C2SP/x509-limbo: certificate chains, each with a validator's verdict. Only its cases about RFC 5280 are tested, not
/// its cases about names, roots and revocation in the web.
struct LimboSet: PublishedSet {
  let name = "x509-limbo"

  private static let file = "limbo.json"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.file) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    guard let cases = try folder.json(Self.file)["testcases"]?.array else {
      throw SuiteError(path: "\(folder.path)/\(Self.file)", problem: "holds no testcases")
    }
    return cases.enumerated().map { index, json in
      let id = json["id"]?.string ?? "case-\(index + 1)"
      let names = id.split(separator: "::", maxSplits: 1).map(String.init)
      let isRight = json["expected_result"]?.string == "SUCCESS"
      return PublishedCase(
        part: names[0], id: names.last ?? id, description: Self.sentence(json["description"]?.string ?? id),
        reference: "RFC 5280, 6.1", flag: isRight ? .control : VectorFlag("LimboChain", .issuerImpersonation),
        expectation: isRight ? .accepted : .refused([]), judge: { Self.finding(json, family: names[0], isRight) })
    }
  }

  /// The first line, for a report.
  private static func sentence(_ text: String) -> String {
    let line = String(text.split(separator: "\n").first ?? "")
    return line.hasSuffix(":") ? line.dropLast() + "." : line
  }

  // MARK: Judging

  /// Families of cases unrelated to host names, browsers' roots and the search for a path.
  private static let families: Set<String> = ["rfc5280", "pathlen", "invalid"]

  private static func finding(_ json: JSON, family: String, _ isRight: Bool) -> PublishedCase.Finding {
    guard families.contains(family) else { return .skipped("a rule of the web, or a search for paths") }
    if let feature = json["features"]?.array?.first?.string { return .skipped("optional in the set: \(feature)") }
    if json["crls"]?.array?.isEmpty == false { return .skipped("its revocation lists are judged with the document's") }
    if json["max_chain_depth"]?.integer != nil { return .skipped("a limit that the caller names") }
    guard let chain = Chain(json) else { return .skipped("the order of the path is to be searched") }
    let evaluation = chain.evaluate()
    let failed = evaluation.checks.filter { $0.outcome == .failed }.map(\.code)
    let warned = evaluation.checks.filter { $0.outcome == .warning }.map(\.code).filter(demanded.contains)
    if failed == [.certificateAlgorithmUnsupported] { return .skipped("an algorithm that mdoc leaves out") }
    if evaluation.isTrusted == isRight { return .init(isAccepted: evaluation.isTrusted) }
    // Where we differ, the reason is a rule of the profile, or a choice that the profile allows.
    let reasons = failed.map { stricter[$0] }
    if isRight, let reason = reasons.first ?? nil, !reasons.contains(nil) { return .skipped("differs: \(reason)") }
    if !isRight, let code = warned.first {
      return .skipped("differs: \(code.rawValue) warns, and rejects in strict mode")
    }
    return isRight ? .refused(failed) : .accepted
  }

  /// Warnings about what RFC 5280 demands. Chains of the web cause other warnings, since they lack the profile's
  /// extensions.
  private static let demanded: Set<Code> = [
    .profileKeyIdentifiers, .profileKeyIdentifierValue, .profileSerialNumber, .profileVersion, .profilePublicKey,
    .profileSignatureAlgorithm,
  ]

  /// The reason why a chain that RFC 5280 allows is rejected here.
  private static let stricter: [Code: String] = [
    .certificateConstrained: "constraints on names and policies are not processed, and refused",
    .certificateIsCA: "a document signer is no authority (ISO/IEC 18013-5:2021, B.1.4)",
    .certificateKeyUsage: "a document signer's key makes signatures (ISO/IEC 18013-5:2021, B.1.4)",
    .certificateExtendedKeyUsage: "a document signer names what its key is for (ISO/IEC 18013-5:2021, B.1.4)",
    .anchorNotCA: "an anchor says that it is an authority (ISO/IEC 18013-5:2021, B.1.2)",
    .anchorExpired: "an anchor's own validity counts (ISO/IEC 18013-5:2021, 9.3.3)",
    .issuerUnknown: "a certificate that its own key signed has no anchor above it",
    .chainTooLong: "a chain has at most \(Limits.chainCertificates) certificates",
    .certificateMalformed: "a certificate that is not in DER, or says a thing twice, is not read",
  ]
}

/// The path of one case, in the order in which a document has it.
private struct Chain {
  private let path: [[UInt8]]
  private let roots: [Certificate]
  private let now: Timestamp

  /// Nil if several certificates could follow one, or if an unreadable one is above the first.
  init?(_ json: JSON) {
    func certificates(_ name: String) -> [[UInt8]] {
      (json[name]?.array ?? []).flatMap { $0.string.flatMap { PEM.certificates(in: $0) } ?? [] }
    }
    guard let peer = json["peer_certificate"]?.string.flatMap({ PEM.certificates(in: $0)?.first }) else { return nil }
    roots = certificates("trusted_certs").compactMap { try? Certificate(der: $0) }
    now = json["validation_time"]?.string.flatMap { Timestamp(rfc3339: $0) } ?? Timestamp.now
    var path = [peer]
    var rest = certificates("untrusted_intermediates").compactMap { try? Certificate(der: $0) }
    while let last = try? Certificate(der: path[path.count - 1]) {
      if roots.contains(where: { $0.subject.der == last.issuer.der }) { break }
      let next = rest.filter { $0.subject.der == last.issuer.der }
      guard next.count <= 1 else { return nil }
      guard let one = next.first else { break }
      path.append(one.der)
      rest.removeAll { $0.der == one.der }
    }
    self.path = path
  }

  /// The anchors allow their own usages and those of TLS.
  func evaluate() -> PathEvaluation {
    let anchors = roots.map { root in
      TrustAnchor(
        certificate: root, docTypes: [DocType.mDL], extendedKeyUsages: ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"],
        maxPathLength: root.extensions.pathLength ?? Limits.chainCertificates)
    }
    return PathValidator(anchors: anchors, allowsTestCertificates: true)
      .evaluate(chain: path.map { $0[...] }, docType: DocType.mDL, at: now, skew: 0)
  }
}
