import Base
import CBOR
import COSE
import Cryptography
import PKIX

/// What an operator configures for one VICAL: who may sign it, and what document signers under its anchors must be.
public struct VICALSource: Sendable {
  public var signers: SignerPath.Anchors
  /// What document signers under these anchors must be certified for; nil: what their documents' types ask for.
  public var extendedKeyUsages: Set<String>?
  /// Certificates between a listed authority and a document signer.
  public var maxPathLength: Int
  /// Where revocation lists of the authorities may be asked for.
  public var crlAddresses: AuthorityCRLAddresses
  public var tier: TrustAnchor.Tier
  /// Where the list is from, for people.
  public var name: String

  public init(
    signers: SignerPath.Anchors, extendedKeyUsages: Set<String>? = nil,
    maxPathLength: Int = 0, crlAddresses: AuthorityCRLAddresses = .init(.named), tier: TrustAnchor.Tier = .live,
    name: String = ""
  ) {
    self.signers = signers
    self.extendedKeyUsages = extendedKeyUsages
    self.maxPathLength = maxPathLength
    self.crlAddresses = crlAddresses
    self.tier = tier
    self.name = name
  }
}

/// Reads a VICAL, an untagged COSE_Sign1 (ISO/IEC 18013-5, C.1), and what it makes trusted. A pure function of the
/// bytes, the configured source and the time.
public struct VICALReader: Sendable {
  public let source: VICALSource

  public init(source: VICALSource) { self.source = source }

  /// - Parameter last: what was remembered of the last list that was accepted from this source.
  public func evaluate(
    _ bytes: [UInt8], at now: Timestamp, after last: VICALEvaluation.LastAccepted? = nil
  ) -> VICALEvaluation {
    var run = VICALRun(source: source, now: now, last: last)
    return run.evaluate(bytes)
  }
}

/// One evaluation. Nothing of the payload is looked at before a trusted signer's signature has verified.
private struct VICALRun {
  let source: VICALSource
  let now: Timestamp
  let last: VICALEvaluation.LastAccepted?
  var checks = CheckList(expecting: 14)

  private static let bounds = CBORLimits(bytes: Limits.listBytes)

  mutating func evaluate(_ bytes: [UInt8]) -> VICALEvaluation {
    guard let message = parse(bytes) else { return end() }
    guard let payload = message.payload, let content = payload.bytes else {
      checks.failed(.listMalformed, "the payload is detached")
      return end()
    }
    let chain = message.headers.x5chain ?? []
    let path = SignerPath.validate(x5chain: chain, anchors: source.signers, at: now, role: .vicalSigner)
    checks.append(path.checks)
    guard let key = path.signer?.publicKey else { return end() }
    checkSignature(message, content, key: key)
    guard path.isTrusted, checks.outcome(of: .listSignatureInvalid) == .passed else { return end() }
    if path.certificates.count > 1, chain.count >= path.certificates.count {
      checks.warned(.listDeviation, "x5chain carries a root")
    }
    guard let list = read(payload) else { return end() }
    return conclude(list, digest: HashAlgorithm.sha256.hash(content), path: path)
  }

  // MARK: The signature

  private mutating func parse(_ bytes: [UInt8]) -> COSESign1? {
    checks.require(bytes.count <= Limits.listBytes, .listTooLarge)
    guard bytes.count <= Limits.listBytes else { return nil }
    do {
      let message = try COSESign1(parsing: CBORItem(parsing: bytes, limits: Self.bounds))
      checks.passed(.listMalformed)
      checks.passed(.listCriticalExtension)
      return message
    } catch COSEError.unsupportedCritical {
      checks.failed(.listCriticalExtension, "the header has a critical parameter that is not known")
    } catch let error as CBORError {
      note(error)
    } catch {
      checks.failed(.listMalformed, "it is no untagged COSE_Sign1")
    }
    return nil
  }

  private mutating func note(_ error: CBORError) {
    let code: Code = error.code == .cborTooManyItems ? .listTooLarge : .listMalformed
    checks.failed(code, error.code.rawValue)
  }

  private mutating func checkSignature(_ message: COSESign1, _ payload: ArraySlice<UInt8>, key: PublicKey) {
    switch message.verify(payload: payload, key: key) {
    case .valid: checks.passed(.listSignatureInvalid)
    case .invalid: checks.failed(.listSignatureInvalid)
    case .algorithmUnsupported: checks.failed(.listAlgorithmUnsupported, "alg is absent or not one of the table's")
    case .keyMismatch: checks.failed(.listAlgorithmUnsupported, "alg is another key's")
    }
  }

  // MARK: The payload

  private mutating func read(_ payload: CBORItem) -> VICALContents? {
    var findings: [Check] = []
    do {
      let list = try VICALContents(
        reading: CBORItem(parsingContentOf: payload, limits: Self.bounds), entryFindings: &findings)
      checks.passed(.listVersionUnsupported)
      checks.append(findings)
      return list
    } catch VICALError.versionUnsupported {
      checks.failed(.listVersionUnsupported)
    } catch VICALError.malformed(let detail) {
      checks.failed(.listMalformed, detail)
    } catch let error as CBORError {
      note(error)
    } catch {
      checks.failed(.listMalformed)
    }
    return nil
  }

  private mutating func conclude(_ list: VICALContents, digest: [UInt8], path: SignerPath) -> VICALEvaluation {
    checks.require(list.date <= now + Limits.clockSkew, .listIssuedInFuture, "issued at \(list.date)")
    checks.require(list.isCurrent(at: now), .listExpired, list.expiry.map { "since \($0)" })
    let candidate = VICALEvaluation.LastAccepted(date: list.date, issueID: list.issueID, digest: digest)
    let isOlder = last.map(candidate.isOlder) ?? false
    checks.require(!isOlder, .listRollback, last.map { "issued at \(list.date), accepted before: \($0.date)" })
    for code in Self.findings where checks.outcome(of: code) == nil { checks.passed(code) }
    let isAccepted = !checks.hasFailed
    let ends = path.certificates.map(\.validity.upperBound) + [list.expiry].compactMap { $0 }
    return VICALEvaluation(
      checks: ordered(), list: VICAL(verified: list), signerPath: path.certificates,
      anchors: isAccepted ? anchors(of: list) : [],
      validUntil: isAccepted ? ends.min() : nil, accepted: isAccepted ? candidate : nil)
  }

  /// One for each certificate: entries that share one, for several document types, are one authority.
  private func anchors(of list: VICALContents) -> [TrustAnchor] {
    let name = source.name.isEmpty ? "" : source.name + ": "
    var anchors: [TrustAnchor] = []
    var places: [[UInt8]: Int] = [:]
    for entry in list.entries {
      if let place = places[entry.certificate.sha256] {
        anchors[place].add(docTypes: entry.docTypes)
        continue
      }
      places[entry.certificate.sha256] = anchors.count
      var anchor = TrustAnchor(
        certificate: entry.certificate, docTypes: entry.docTypes, extendedKeyUsages: source.extendedKeyUsages,
        maxPathLength: source.maxPathLength, tier: source.tier,
        source: "\(name)VICAL of \(list.provider), \(list.date), entry \(entry.number)")
      anchor.crlAddresses = source.crlAddresses.rule(for: entry.certificate)
      anchors.append(anchor)
    }
    return anchors
  }

  // MARK: Results

  /// Ends where nothing more can be checked.
  private mutating func end() -> VICALEvaluation {
    checks.skipRest(of: Self.codes)
    return VICALEvaluation(
      checks: ordered(), list: nil, signerPath: [], anchors: [], validUntil: nil, accepted: nil)
  }

  /// In the order of the registry.
  private func ordered() -> [Check] {
    Self.codes.compactMap { code in checks.checks.first { $0.code == code } }
  }

  private static let findings: [Code] = [.listEntryMalformed, .listEntryMismatch, .listDeviation]
  private static let codes: [Code] =
    [
      .listMalformed, .listTooLarge, .listSignerUntrusted, .listSignerProfile, .listAlgorithmUnsupported,
      .listSignatureInvalid, .listVersionUnsupported, .listCriticalExtension, .listIssuedInFuture, .listExpired,
      .listRollback,
    ] + findings
}

/// A verified issuer certificate authority list (ISO/IEC 18013-5, C.2): its provider's signature has verified, under an
/// anchor that is configured for it. Only the reader, in this file, makes one.
public struct VICAL: Sendable {
  public let contents: VICALContents

  fileprivate init(verified contents: VICALContents) { self.contents = contents }
}

/// What one VICAL came to.
public struct VICALEvaluation: Sendable {
  public let checks: [Check]
  /// The list, where its signature verified and its form is right; whether it is in force, `isAccepted` says.
  public let list: VICAL?
  /// Who signed it, first, up to the configured anchor; empty where that was not established.
  public let signerPath: [Certificate]
  /// What the list makes trusted, each for the document types of its entry; empty unless the list is accepted.
  ///
  /// They end paths and are never links of one: an authority that is listed vouches for the signers that it certifies
  /// itself.
  public let anchors: [TrustAnchor]
  /// Until when it may be relied on: its own ends and those of its signer's path. Nil unless it is accepted.
  public let validUntil: Timestamp?
  /// What is to be remembered of an accepted list, durably, and given to the next evaluation.
  public let accepted: LastAccepted?

  public var isAccepted: Bool { accepted != nil }

  /// The last list that was accepted from a source.
  public struct LastAccepted: Sendable, Hashable {
    public let date: Timestamp
    public let issueID: UInt64?
    /// SHA-256 of the payload, by which the same list is known again.
    public let digest: [UInt8]

    public init(date: Timestamp, issueID: UInt64?, digest: [UInt8]) {
      self.date = date
      self.issueID = issueID
      self.digest = digest
    }

    /// Whether this one was issued before the other. The date decides; of two lists of one second, the number.
    func isOlder(than other: LastAccepted) -> Bool {
      guard date == other.date, digest != other.digest, let issueID, let last = other.issueID else {
        return date < other.date
      }
      return issueID < last
    }
  }
}
