import Mdoc
import PKIX
import Primitives

/// Answers questions of revocation from lists that it fetches, verifies and keeps (ISO/IEC 18013-5:2021, 9.3.3 and
/// B.3.2; second edition, 12.3.6).
///
/// A list is taken from memory while it is fresh, which needs no suspension. A stale one is fetched anew, by one task at
/// a time for each source, and serves on where that fails, until it expires. Nobody waits longer than fetching may take.
public final class RevocationChecker: RevocationSource {
  private let fetcher: SharedFetches
  private let reader: StatusListReader
  private let allowsLoopback: Bool
  private let revocationLists: ListKeeper<CRLSource, VerifiedCRL>
  private let statusLists: ListKeeper<StatusListSource, VerifiedList>

  /// - Parameters:
  ///   - allowsJWT: whether status lists may also be JSON Web Tokens.
  ///   - allowsLoopback: test mode, whose publisher is on this machine.
  ///   - executor: whose threads load lists, for several callers at once; nil: those of Swift's own pool.
  public init(
    fetcher: any ListFetcher, allowsJWT: Bool = false, allowsLoopback: Bool = false,
    executor: (any TaskExecutor)? = nil
  ) {
    self.fetcher = SharedFetches(fetcher, executor: executor)
    revocationLists = ListKeeper(executor: executor)
    statusLists = ListKeeper(executor: executor)
    reader = StatusListReader(allowsJWT: allowsJWT)
    self.allowsLoopback = allowsLoopback
  }

  public func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    var evidence = RevocationEvidence()
    var open: [RevocationQuestion] = []
    for question in questions {
      if let finding = keptFinding(for: question, at: now) {
        evidence.note(finding, for: question)
      } else {
        open.append(question)
      }
    }
    guard !open.isEmpty else { return evidence }
    await withTaskGroup(of: (RevocationQuestion, RevocationFinding).self) { group in
      for question in open {
        group.addTask { (question, await self.finding(for: question, at: now)) }
      }
      for await (question, finding) in group { evidence.note(finding, for: question) }
    }
    return evidence
  }

  // MARK: From memory

  /// The answer, where every list that it needs is here and fresh.
  private func keptFinding(for question: RevocationQuestion, at now: Timestamp) -> RevocationFinding? {
    switch question.subject {
    case .status(let reference):
      return StatusListSource(question).flatMap { statusLists.fresh($0, at: now) }?.finding(for: reference, at: now)
    case .certificates:
      var findings: [RevocationFinding] = []
      for link in CRLLink.links(of: question) {
        guard let source = link.source, let list = revocationLists.fresh(source, at: now) else { return nil }
        findings.append(link.finding(by: list))
      }
      return .worst(of: findings)
    }
  }

  // MARK: Asking

  private func finding(for question: RevocationQuestion, at now: Timestamp) async -> RevocationFinding {
    switch question.subject {
    case .status(let reference):
      guard let source = StatusListSource(question) else { return .undetermined(.statusListInvalid) }
      let rules = rules(question, mediaTypes: reader.mediaTypes(for: source.mechanism))
      do throws(ListFault) {
        let list = try await statusLists.list(source, at: now) { [fetcher, reader] () async throws(ListFault) in
          let fetched = try await fetcher.list(source.uri, allowing: rules)
          do throws(StatusListError) {
            let list = try reader.read(fetched.bytes, from: source, at: now)
            return Kept(
              list, bytes: list.keptBytes, issuedAt: list.facts.issuedAt,
              freshUntil: list.facts.freshUntil(fetchedAt: now), expires: list.facts.expires)
          } catch {
            throw ListFault(error.uncertainty, error.detail)
          }
        }
        return list.finding(for: reference, at: now)
      } catch {
        return error.finding
      }
    case .certificates:
      return .worst(of: await findings(for: CRLLink.links(of: question), rules(question, mediaTypes: []), at: now))
    }
  }

  /// All at once, so that a long path takes no longer than a short one; in the order of the path.
  private func findings(
    for links: [CRLLink], _ rules: FetchRules, at now: Timestamp
  ) async -> [RevocationFinding] {
    await withTaskGroup(of: (Int, RevocationFinding).self) { group in
      for (index, link) in links.enumerated() {
        group.addTask { (index, await self.finding(for: link, rules: rules, at: now)) }
      }
      var findings: [Int: RevocationFinding] = [:]
      for await (index, finding) in group { findings[index] = finding }
      return links.indices.compactMap { findings[$0] }
    }
  }

  /// What the list of one certificate's issuer says; of several addresses the first that has a good list counts.
  private func finding(for link: CRLLink, rules: FetchRules, at now: Timestamp) async -> RevocationFinding {
    guard let source = link.source else {
      return .undetermined(.sourceNotAllowed, detail: link.unusable)
    }
    do throws(ListFault) {
      let list = try await revocationLists.list(source, at: now) { [fetcher] () async throws(ListFault) in
        var first: ListFault?
        for address in source.addresses.prefix(Limits.crlAddresses) {
          do throws(ListFault) {
            let fetched = try await fetcher.list(address, allowing: rules)
            return try Self.verify(fetched.bytes, source, at: now)
          } catch {
            first = first ?? error
          }
        }
        throw first ?? ListFault(.sourceNotAllowed, "no address")
      }
      return link.finding(by: list)
    } catch {
      return error.finding
    }
  }

  private static func verify(
    _ bytes: [UInt8], _ source: CRLSource, at now: Timestamp
  ) throws(ListFault) -> Kept<VerifiedCRL> {
    do throws(CRLError) {
      let list = try VerifiedCRL(verifying: bytes, issuer: source.issuer, at: now)
      // The last instant of a list is its nextUpdate; that of the cache lies behind it.
      let fresh = min(list.nextUpdate, now + Limits.longestListLifetime)
      return Kept(
        list, bytes: list.keptBytes, issuedAt: list.thisUpdate, freshUntil: fresh, expires: list.nextUpdate + 1)
    } catch {
      throw ListFault(error == .tooLarge ? .listTooLarge : .crlInvalid, error.detail)
    }
  }

  private func rules(_ question: RevocationQuestion, mediaTypes: [String]) -> FetchRules {
    FetchRules(
      allowsPlainHTTP: question.allowsPlainHTTP, allowsLoopback: allowsLoopback, mediaTypes: mediaTypes,
      timeLimit: .seconds(Limits.revocationFetchSeconds))
  }
}

extension RevocationFinding {
  /// What several lists come to. No list at all says nothing: who asks about certificates that name none is not told
  /// that they are good.
  fileprivate static func worst(of findings: [RevocationFinding]) -> RevocationFinding {
    guard let first = findings.first else { return .undetermined(.sourceNotAllowed, detail: "no distribution point") }
    return findings.dropFirst().reduce(first) { $0.worse($1) }
  }

  /// Of two, the one that weighs more: what is revoked is not saved by a list that can't be had.
  fileprivate func worse(_ other: RevocationFinding) -> RevocationFinding {
    switch (self, other) {
    case (.revoked, _): self
    case (_, .revoked): other
    case (.undetermined, _): self
    case (.good, _): other
    }
  }
}
