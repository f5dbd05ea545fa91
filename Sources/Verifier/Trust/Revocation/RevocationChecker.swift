import Base
import Mdoc
import PKIX

/// Finds revocations in lists that it fetches, verifies and caches (ISO/IEC 18013-5:2021, 9.3.3 and B.3.2; second
/// edition, 12.3.6).
///
/// A fresh list is taken from memory without suspension. A stale list is fetched again, by one task at a time for each
/// source. If the fetch fails, the stale list is used until it expires. No caller waits longer than a fetch may take.
public final class RevocationChecker: RevocationSource {
  private let fetcher: SharedFetches
  private let reader = StatusListVerifier()
  private let allowsLoopback: Bool
  private let revocationLists: ListCache<CRLSource, Sourced<VerifiedCRL>>
  private let statusLists: ListCache<StatusListSource, Sourced<VerifiedList>>

  /// - Parameters:
  ///   - allowsLoopback: true in test mode: the publisher is then on this machine.
  ///   - executor: the executor whose threads load lists, for several callers concurrently; nil means Swift's own pool.
  public init(
    fetcher: any ListFetcher, allowsLoopback: Bool = false, executor: (any TaskExecutor)? = nil
  ) {
    self.fetcher = SharedFetches(fetcher, executor: executor)
    let room = WaitingRoom()
    revocationLists = ListCache(executor: executor, room: room)
    statusLists = ListCache(executor: executor, room: room)
    self.allowsLoopback = allowsLoopback
  }

  public func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    var evidence = RevocationEvidence()
    var open: [RevocationQuestion] = []
    for question in questions {
      if let (finding, lists) = keptFinding(for: question, at: now) {
        evidence.note(finding, for: question, by: lists)
      } else {
        open.append(question)
      }
    }
    guard !open.isEmpty else { return evidence }
    await withTaskGroup(of: (RevocationQuestion, Finding).self) { group in
      for question in open { group.addTask { (question, await self.finding(for: question, at: now)) } }
      for await (question, found) in group { evidence.note(found.finding, for: question, by: found.lists) }
    }
    return evidence
  }

  /// A finding and the lists that it is based on.
  private typealias Finding = (finding: RevocationFinding, lists: [RevocationList])

  /// The finding; nil unless every list that it needs is in memory and fresh.
  private func keptFinding(for question: RevocationQuestion, at now: Timestamp) -> Finding? {
    switch question.subject {
    case .status(let reference):
      return StatusListSource(question).flatMap { statusLists.fresh($0, at: now) }
        .map { ($0.list.finding(for: reference, at: now), [$0.original]) }
    case .certificates:
      var findings: [RevocationFinding] = []
      var lists: [RevocationList] = []
      for link in CRLLink.links(of: question) {
        guard let source = link.source, let kept = revocationLists.fresh(source, at: now) else { return nil }
        findings.append(link.finding(by: kept.list))
        lists.append(kept.original)
      }
      return (.worst(of: findings), lists)
    }
  }

  private func finding(for question: RevocationQuestion, at now: Timestamp) async -> Finding {
    switch question.subject {
    case .status(let reference):
      guard let source = StatusListSource(question) else { return (.undetermined(.statusListInvalid), []) }
      let rules = rules(question, mediaTypes: reader.mediaTypes(of: source))
      do throws(RevocationListError) {
        let kept = try await statusLists.list(source, of: ListAddress.publisher(of: source.uri), at: now) {
          [fetcher, reader] () async throws(RevocationListError) in
          let fetched = try await fetcher.list(source.uri, allowing: rules)
          let list = try reader.read(fetched.bytes, from: source, at: now)
          return Kept(
            list: (list, RevocationList(address: source.uri, bytes: fetched.bytes)),
            bytes: list.keptBytes + fetched.bytes.count, issuedAt: list.issuedAt,
            freshUntil: list.freshUntil(fetchedAt: now), expires: list.expires)
        }
        return (kept.list.finding(for: reference, at: now), [kept.original])
      } catch {
        return (error.finding, [])
      }
    case .certificates:
      let found = await findings(for: CRLLink.links(of: question), rules(question, mediaTypes: []), at: now)
      return (.worst(of: found.map(\.finding)), found.flatMap(\.lists))
    }
  }

  /// The findings about all certificates, in the order of the path, gathered in parallel.
  private func findings(for links: [CRLLink], _ rules: FetchRules, at now: Timestamp) async -> [Finding] {
    await withTaskGroup(of: (Int, Finding).self) { group in
      for (index, link) in links.enumerated() {
        group.addTask { (index, await self.finding(for: link, rules: rules, at: now)) }
      }
      var found: [Int: Finding] = [:]
      for await (index, finding) in group { found[index] = finding }
      return links.indices.compactMap { found[$0] }
    }
  }

  /// The issuer's list's finding about one certificate. The first address with a usable list is used.
  private func finding(for link: CRLLink, rules: FetchRules, at now: Timestamp) async -> Finding {
    guard let source = link.source else { return (.undetermined(.sourceNotAllowed, detail: link.unusable), []) }
    do throws(RevocationListError) {
      let publisher = ListAddress.publisher(of: source.addresses.first)
      let kept = try await revocationLists.list(source, of: publisher, at: now) {
        [fetcher] () async throws(RevocationListError) in
        var first: RevocationListError?
        for address in source.addresses.prefix(Limits.crlAddresses) {
          do throws(RevocationListError) {
            let fetched = try await fetcher.list(address, allowing: rules)
            return try Self.verify(RevocationList(address: address, bytes: fetched.bytes), source, at: now)
          } catch {
            first = first ?? error
          }
        }
        throw first ?? RevocationListError(.sourceNotAllowed, "no address")
      }
      return (link.finding(by: kept.list), [kept.original])
    } catch {
      return (error.finding, [])
    }
  }

  private static func verify(
    _ original: RevocationList, _ source: CRLSource, at now: Timestamp
  ) throws(RevocationListError) -> Kept<Sourced<VerifiedCRL>> {
    do throws(CRLError) {
      let list = try VerifiedCRL(verifying: original.bytes, issuer: source.issuer, at: now)
      // A CRL is still valid at its nextUpdate. The cache's `expires` is the first instant at which the CRL is no
      // longer valid.
      let fresh = min(list.nextUpdate, now + Limits.longestListLifetime)
      return Kept(
        list: (list, original), bytes: list.keptBytes + original.bytes.count, issuedAt: list.thisUpdate,
        freshUntil: fresh, expires: list.nextUpdate + 1)
    } catch {
      throw RevocationListError(error == .tooLarge ? .listTooLarge : .crlInvalid, error.detail)
    }
  }

  private func rules(_ question: RevocationQuestion, mediaTypes: [String]) -> FetchRules {
    var rules =
      question.subject == .certificates
      ? FetchRules.revocationLists(question.crlAddresses, allowingPlainHTTP: question.allowsPlainHTTP)
      : FetchRules(allowsPlainHTTP: question.allowsPlainHTTP)
    rules.allowsLoopback = allowsLoopback
    rules.mediaTypes = mediaTypes
    rules.timeLimit = .seconds(Limits.revocationFetchSeconds)
    return rules
  }
}

/// A verified list and the bytes from which it was read, for evidence.
private typealias Sourced<List> = (list: List, original: RevocationList)

extension RevocationFinding {
  /// The worst of several findings. A revocation counts even if another list cannot be fetched. If there are no
  /// findings, the result is undetermined.
  fileprivate static func worst(of findings: [RevocationFinding]) -> RevocationFinding {
    findings.first { if case .revoked = $0 { true } else { false } }
      ?? findings.first { if case .undetermined = $0 { true } else { false } }
      ?? findings.first ?? .undetermined(.sourceNotAllowed, detail: "no distribution point")
  }
}

/// Gathers findings about revocation. It never throws. If a status cannot be determined, the finding is undetermined,
/// with a reason.
public protocol RevocationSource: Sendable {
  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence
}

/// A source that fetches nothing. Every declared status is then undetermined.
public struct NoRevocationSource: RevocationSource {
  public init() {}

  public func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    RevocationEvidence()
  }
}
