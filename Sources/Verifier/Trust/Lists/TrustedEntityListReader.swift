import Base
import Cryptography
import JOSE
import PKIX

/// Reads a signed list of trusted entities: a compact JWS by JAdES baseline B (ETSI TS 119 602, 6.8; ETSI TS 119 182-1),
/// and what it makes trusted. A pure function of the bytes, the configured source and the time.
public struct TrustedEntityListReader: Sendable {
  public let source: TrustedEntityListSource

  public init(source: TrustedEntityListSource) { self.source = source }

  /// - Parameter last: what was remembered of the last list that was accepted from this source.
  public func evaluate(
    _ bytes: [UInt8], at now: Timestamp, after last: TrustedEntityListEvaluation.LastAccepted? = nil
  ) -> TrustedEntityListEvaluation {
    var run = TrustedEntityListRun(source: source, now: now, last: last)
    return run.evaluate(bytes)
  }
}

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

/// JAdES baseline B: what the header must say, and whether the signature verifies.
extension TrustedEntityListRun {
  /// Header parameters of JAdES that are processed here, and that `crit` may therefore name.
  private static let understood: Set<String> = ["sigT", JWSHeader.Name.issuedAt]

  mutating func parse(_ bytes: [UInt8]) -> CompactJWS? {
    // A line's end after the last part is an editor's, not the signer's.
    let text = bytes.prefix(bytes.count - bytes.reversed().prefix { $0 == 0x0a || $0 == 0x0d }.count)
    do throws(JOSEError) {
      let jws = try CompactJWS(parsing: text, understanding: Self.understood)
      checks.passed(.listMalformed)
      checks.passed(.listCriticalExtension)
      return jws
    } catch .unsupportedCritical {
      checks.failed(.listCriticalExtension, "the header has a critical parameter that is not known")
    } catch {
      checks.failed(.listMalformed, "it is not a compact JWS with a proper header")
    }
    return nil
  }

  mutating func checkSignature(_ jws: CompactJWS, signer: Certificate, key: PublicKey) {
    let verdict = jws.verify(with: key)
    guard verdict == .valid || verdict == .invalid else {
      checks.failed(.listAlgorithmUnsupported, verdict == .keyMismatch ? "another key's algorithm" : nil)
      checks.notRun(.listSignatureInvalid)
      return
    }
    checks.require(verdict == .valid, .listSignatureInvalid)
    // What the signer signed may name whose certificate it meant (ETSI TS 119 182-1, 5.2.2).
    if let thumbprint = jws.header["x5t#S256"] {
      let isSigners = thumbprint.string.flatMap(Base64.decodeURLSafe) == signer.sha256
      checks.require(isSigners, .listSignatureInvalid, "x5t#S256 is not the signer's")
    }
  }

  /// `iat`, in older lists `sigT` (ETSI TS 119 182-1, 5.1.11 and 5.2.1).
  mutating func checkSigningTime(_ header: JWSHeader) {
    var signed = header.issuedAt.map { Timestamp(secondsSince1970: $0) }
    if let old = header["sigT"] {
      guard let time = old.string.flatMap(Timestamp.init(rfc3339:)) else {
        checks.failed(.listMalformed, "sigT is no time")
        return
      }
      signed = max(signed ?? time, time)
    }
    guard let signed else {
      checks.warned(.listDeviation, "the header has neither iat nor sigT")
      return
    }
    checks.require(signed <= now + Limits.clockSkew, .listIssuedInFuture, "signed at \(signed)")
  }
}
