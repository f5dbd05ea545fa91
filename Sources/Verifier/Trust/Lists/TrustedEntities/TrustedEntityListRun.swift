import Base
import PKIX

/// One evaluation. Nothing of the payload is looked at before the signature has verified.
struct TrustedEntityListRun {
  let source: TrustedEntityListSource
  let now: Timestamp
  let last: TrustedEntityListEvaluation.LastAccepted?
  var checks = CheckList(expecting: 20)

  mutating func evaluate(_ bytes: [UInt8]) -> TrustedEntityListEvaluation {
    checks.require(bytes.count <= Limits.listBytes, .listTooLarge)
    guard bytes.count <= Limits.listBytes, let jws = parse(bytes) else { return end() }
    guard let chain = jws.header.certificateChain else {
      checks.failed(.listMalformed, "the header has no x5c")
      return end()
    }
    let path = SignerPath.validate(
      x5chain: chain.map { $0[...] }, anchors: source.signers, at: now, role: .trustedEntityListSigner)
    checks.append(path.checks)
    guard let signer = path.signer, let key = signer.publicKey else { return end() }
    checkSignature(jws, signer: signer, key: key)
    checkSigningTime(jws.header)
    guard checks.outcome(of: .listSignatureInvalid) == .passed, path.isTrusted, let list = read(jws.payload) else {
      return end()
    }
    check(list, signer: signer)
    return accept(list, path)
  }

  private mutating func read(_ payload: [UInt8]) -> TrustedEntityList? {
    do throws(TrustedEntityListError) {
      let list = try TrustedEntityList(parsing: payload)
      checks.passed(.listVersionUnsupported)
      return list
    } catch {
      switch error {
      case .malformed(let detail): checks.failed(.listMalformed, detail)
      case .versionUnsupported: checks.failed(.listVersionUnsupported)
      case .criticalExtension(let name): checks.failed(.listCriticalExtension, name)
      }
      return nil
    }
  }

  private mutating func check(_ list: TrustedEntityList, signer: Certificate) {
    let scheme = list.scheme
    let isOperators = signer.subject.organization.map { name in
      scheme.operatorNames.contains { $0.hasSameBytes(as: name) }
    }
    checks.require(isOperators ?? false, .listSignerProfile, "the signer's organization is not the scheme's operator")
    checks.require(
      scheme.territory.map { Self.codes(of: $0).contains(signer.subject.country ?? "") } ?? true, .listSignerProfile,
      "the signer's country is not the scheme's territory")
    checks.require(
      scheme.issued <= now + Limits.clockSkew, .listIssuedInFuture, "issued at \(scheme.issued)")
    checks.require(
      scheme.nextUpdate.map { now <= $0 } ?? false, .listExpired,
      scheme.nextUpdate.map { "since \($0)" } ?? "the list is closed")
    let isOlder = last.map { scheme.sequenceNumber < $0.sequenceNumber || scheme.issued < $0.issued } ?? false
    checks.require(!isOlder, .listRollback)
    for deviation in source.profile?.deviations(of: list) ?? [] {
      checks.warned(.listDeviation, "\(source.profile?.name ?? ""): \(deviation)")
    }
    checks.append(list.findings)
  }

  /// EU lists have codes of their own for two countries, certificates those of ISO 3166-1.
  private static func codes(of territory: String) -> Set<String> {
    switch territory {
    case "UK": ["UK", "GB"]
    case "EL": ["EL", "GR"]
    default: [territory]
    }
  }

  // MARK: Results

  private mutating func accept(_ list: TrustedEntityList, _ path: SignerPath) -> TrustedEntityListEvaluation {
    let services = ListedServices(of: list, source: source, at: now)
    checks.append(services.findings.checks)
    for code in Self.findings where checks.outcome(of: code) == nil { checks.passed(code) }
    let isAccepted = !checks.hasFailed
    return TrustedEntityListEvaluation(
      checks: ordered(), list: list, signerPath: path.certificates, anchors: isAccepted ? services.anchors : [],
      statusListSigners: isAccepted ? services.statusListSigners : [], ignoredServices: services.ignored)
  }

  /// Ends where nothing more can be checked.
  private mutating func end() -> TrustedEntityListEvaluation {
    checks.skipRest(of: Self.codes)
    return TrustedEntityListEvaluation(
      checks: ordered(), list: nil, signerPath: [], anchors: [], statusListSigners: [], ignoredServices: [:])
  }

  /// In the order of the registry.
  private func ordered() -> [Check] {
    Self.codes.compactMap { code in checks.checks.first { $0.code == code } }
  }

  private static let findings: [Code] = [
    .listEntryMalformed, .listEntryMismatch, .listEntryNotGranted, .listDeviation,
  ]
  private static let codes: [Code] =
    [
      .listTooLarge, .listMalformed, .listSignerUntrusted, .listSignerProfile, .listAlgorithmUnsupported,
      .listSignatureInvalid, .listVersionUnsupported, .listCriticalExtension, .listIssuedInFuture, .listExpired,
      .listRollback,
    ] + findings
}
