import Base
import Cryptography
import JOSE
import PKIX

/// Verifies a signed list of trusted entities, a compact JWS by JAdES baseline B (ETSI TS 119 602, 6.8; ETSI TS 119
/// 182-1). The result depends only on the bytes, the configured source and the time.
public struct TrustedEntityListVerifier: Sendable {
  public let source: TrustedEntityListSource

  public init(source: TrustedEntityListSource) { self.source = source }

  /// - Parameter last: the mark of the last list that was accepted from this source; nil if there is none.
  public func evaluate(
    _ bytes: [UInt8], at now: Timestamp, after last: AcceptedListMark? = nil
  ) -> TrustListEvaluation<TrustedEntityList> {
    evaluation(of: bytes, at: now, after: last)
  }
}

/// An operator's settings for one list of trusted entities, with the use of its services.
public struct TrustedEntityListSource: Sendable {
  public var list: TrustListSource
  /// The document types that the certificates of each service type may vouch for. Other types are ignored.
  public var issuance: [String: [String]]
  /// The service types whose certificates sign status lists.
  public var revocation: Set<String>
  /// The profile that the list should follow; nil means only the general form.
  public var profile: TrustedEntityListProfile?

  public init(
    _ list: TrustListSource, issuance: [String: [String]], revocation: Set<String> = [],
    profile: TrustedEntityListProfile? = nil
  ) {
    self.list = list
    self.issuance = issuance
    self.revocation = revocation
    self.profile = profile
  }
}

extension TrustedEntityListVerifier: TrustListFormat {
  var settings: TrustListSource { source.list }

  static let signerRole = CertificateRole.trustedEntityListSigner

  static let codes: [Code] = [
    .listTooLarge, .listMalformed, .listSignerUntrusted, .listSignerProfile, .listAlgorithmUnsupported,
    .listSignatureInvalid, .listVersionUnsupported, .listCriticalExtension, .listIssuedInFuture, .listExpired,
    .listRollback, .listEntryMalformed, .listEntryMismatch, .listEntryNotGranted, .listDeviation,
  ]

  // MARK: The signature

  /// The header parameters of JAdES that are processed here, so that `crit` may list them.
  private static let understood: Set<String> = ["sigT", JWSHeader.Name.issuedAt]

  static func open(_ bytes: [UInt8]) throws(TrustListError) -> CompactJWS {
    do throws(JOSEError) {
      return try CompactJWS(parsing: bytes.withoutLineEnd, understanding: understood)
    } catch .unsupportedCritical {
      throw .criticalExtension("the header has an unknown critical parameter")
    } catch {
      throw .malformed("not a compact JWS with a well-formed header")
    }
  }

  static func signerChain(of jws: CompactJWS) throws(TrustListError) -> [ArraySlice<UInt8>] {
    guard let chain = jws.header.certificateChain else { throw .malformed("the header has no x5c") }
    return chain.map { $0[...] }
  }

  func checkSignature(
    of jws: CompactJWS, by path: SignerPath, key: PublicKey, at now: Timestamp, into checks: inout CheckList
  ) {
    let name = shown(jws.header.algorithmName)
    switch jws.verify(with: key) {
    case .algorithmUnsupported:
      checks.failed(.listAlgorithmUnsupported, "alg is \"\(name)\", which is not in the standard")
    case .keyMismatch:
      checks.failed(.listAlgorithmUnsupported, "alg is \(name), but the signer's key is on \(key.curve.rawValue)")
    case let verdict:
      checks.require(
        verdict == .valid, .listSignatureInvalid,
        "alg is \(name), but the signature does not verify with the key of \(path.signer?.label ?? "the signer")")
      // The signed header may have the hash of the signer's certificate (ETSI TS 119 182-1, 5.2.2).
      if let thumbprint = jws.header["x5t#S256"] {
        let isSigners = thumbprint.string.flatMap(Base64.decodeURLSafe) == path.signer?.sha256
        checks.require(isSigners, .listSignatureInvalid, "x5t#S256 does not match the signer's certificate")
      }
    }
    checkSigningTime(jws.header, at: now, &checks)
  }

  /// Checks the signing time: `iat`, or in older lists `sigT` (ETSI TS 119 182-1, 5.1.11 and 5.2.1).
  private func checkSigningTime(_ header: JWSHeader, at now: Timestamp, _ checks: inout CheckList) {
    var signed = header.issuedAt.map { Timestamp(secondsSince1970: $0) }
    if let old = header["sigT"] {
      guard let time = old.string.flatMap(Timestamp.init(rfc3339:)) else {
        return checks.failed(.listMalformed, "sigT is not a time")
      }
      signed = max(signed ?? time, time)
    }
    guard let signed else { return checks.warned(.listDeviation, "the header has neither iat nor sigT") }
    checks.require(signed <= now + Limits.clockSkew, .listIssuedInFuture, "signed at \(signed)")
  }

  // MARK: The payload

  func read(_ jws: CompactJWS) throws(TrustListError) -> TrustedEntityList {
    try TrustedEntityList(parsing: jws.payload)
  }

  func mark(of list: TrustedEntityList, in jws: CompactJWS, _ bytes: [UInt8]) -> AcceptedListMark {
    AcceptedListMark(
      issued: list.scheme.issued, number: UInt64(clamping: list.scheme.sequenceNumber),
      digest: HashAlgorithm.sha256.hash(bytes))
  }

  func judge(
    _ list: TrustedEntityList, _ mark: AcceptedListMark, signedBy signer: Certificate, after last: AcceptedListMark?,
    at now: Timestamp, into checks: inout CheckList
  ) -> ListedTrust {
    let scheme = list.scheme
    let isOperators = signer.subject.organization.map { name in
      scheme.operatorNames.contains { $0.hasSameBytes(as: name) }
    }
    checks.require(isOperators ?? false, .listSignerProfile, "the signer's organization is not the scheme's operator")
    checks.require(
      scheme.territory.map { Self.codes(of: $0).contains(signer.subject.country ?? "") } ?? true, .listSignerProfile,
      "the signer's country is not the scheme's territory")
    checks.require(
      scheme.nextUpdate.map { now <= $0 } ?? false, .listExpired,
      scheme.nextUpdate.map { "since \($0)" } ?? "the list is closed")
    // Neither the sequence number nor the time of issue ever decreases.
    let isOlder = last.map { mark.number ?? 0 < $0.number ?? 0 || mark.issued < $0.issued } ?? false
    checks.require(
      !isOlder, .listRollback,
      last.map {
        "number \(mark.number ?? 0), issued at \(mark.issued); accepted before: \($0.number ?? 0), \($0.issued)"
      })
    for deviation in source.profile?.deviations(of: list) ?? [] {
      checks.warned(.listDeviation, "\(source.profile?.name ?? ""): \(deviation)")
    }
    checks.append(list.findings)
    return listed(by: list, at: now, &checks)
  }

  /// The spellings of a territory in certificates. EU lists use other codes than ISO 3166-1 for two countries.
  private static func codes(of territory: String) -> Set<String> {
    switch territory {
    case "UK": ["UK", "GB"]
    case "EL": ["EL", "GR"]
    default: [territory]
    }
  }

  /// Classifies the services by the source's configuration, as anchors or signers of status lists. Other services are
  /// only counted.
  private func listed(by list: TrustedEntityList, at now: Timestamp, _ checks: inout CheckList) -> ListedTrust {
    var listed = ListedTrust(end: list.scheme.nextUpdate, leftOut: list.leftOut)
    var findings = ListFindings()
    for (index, entity) in list.entities.enumerated() {
      var issuers: [Certificate] = []
      var signers: [Certificate] = []
      for service in entity.services {
        let type = service.type ?? ""
        let docTypes = source.issuance[type]
        guard docTypes != nil || source.revocation.contains(type) else {
          listed.ignoredServices[type, default: 0] += 1
          continue
        }
        guard service.isGranted(at: now) else {
          findings.note(.listEntryNotGranted, "entity \(index + 1): \(service.status ?? "")")
          continue
        }
        guard let docTypes else {
          signers += service.certificates
          continue
        }
        issuers += service.certificates
        for certificate in service.certificates {
          // An authority vouches for the signers that it certifies. Any other certificate vouches only for itself
          // (direct trust).
          listed.add(
            certificate, kind: certificate.extensions.isCA ? .authority : .documentSigner, docTypes: docTypes,
            of: source.list, named: source.list.name)
        }
      }
      listed.statusListSigners += signers.map { StatusListSigner(certificate: $0, issuers: issuers) }
    }
    checks.append(findings.checks)
    return listed
  }
}
