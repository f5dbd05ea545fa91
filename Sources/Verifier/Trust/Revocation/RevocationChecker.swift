import Base
import Mdoc
import PKIX

/// Answers questions of revocation from lists that it fetches, verifies and keeps (ISO/IEC 18013-5:2021, 9.3.3 and
/// B.3.2; second edition, 12.3.6).
///
/// A fresh list is taken from memory without suspension. A stale list is fetched anew, by one task at a time for each
/// source. If that fails, the stale list serves until it expires. No caller waits longer than a fetch may take.
public final class RevocationChecker: RevocationSource {
  private let fetcher: SharedFetches
  private let reader = StatusListVerifier()
  private let allowsLoopback: Bool
  private let revocationLists: ListCache<CRLSource, SourcedList<VerifiedCRL>>
  private let statusLists: ListCache<StatusListSource, SourcedList<VerifiedList>>

  /// - Parameters:
  ///   - allowsLoopback: for test mode, where the publisher is on this machine.
  ///   - executor: its threads load lists, for several callers at once; nil means Swift's own pool.
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
      if let answer = keptAnswer(to: question, at: now) {
        evidence.note(answer.finding, for: question, by: answer.lists)
      } else {
        open.append(question)
      }
    }
    guard !open.isEmpty else { return evidence }
    await withTaskGroup(of: (RevocationQuestion, Answer).self) { group in
      for question in open {
        group.addTask { (question, await self.answer(to: question, at: now)) }
      }
      for await (question, answer) in group { evidence.note(answer.finding, for: question, by: answer.lists) }
    }
    return evidence
  }

  /// The finding, and the lists on which it rests.
  private typealias Answer = (finding: RevocationFinding, lists: [RevocationList])

  // MARK: From memory

  /// The answer; nil unless every list that it needs is in memory and fresh.
  private func keptAnswer(to question: RevocationQuestion, at now: Timestamp) -> Answer? {
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

  // MARK: Asking

  private func answer(to question: RevocationQuestion, at now: Timestamp) async -> Answer {
    switch question.subject {
    case .status(let reference):
      guard let source = StatusListSource(question) else { return (.undetermined(.statusListInvalid), []) }
      let rules = rules(question, mediaTypes: reader.mediaTypes(of: source))
      do throws(ListFault) {
        let kept = try await statusLists.list(source, of: ListAddress.publisher(of: source.uri), at: now) {
          [fetcher, reader] () async throws(ListFault) in
          let fetched = try await fetcher.list(source.uri, allowing: rules)
          let list = try reader.read(fetched.bytes, from: source, at: now)
          return Kept(
            list: SourcedList(list: list, original: RevocationList(address: source.uri, bytes: fetched.bytes)),
            bytes: list.keptBytes + fetched.bytes.count, issuedAt: list.issuedAt,
            freshUntil: list.freshUntil(fetchedAt: now), expires: list.expires)
        }
        return (kept.list.finding(for: reference, at: now), [kept.original])
      } catch {
        return (error.finding, [])
      }
    case .certificates:
      let answers = await answers(for: CRLLink.links(of: question), rules(question, mediaTypes: []), at: now)
      return (.worst(of: answers.map(\.finding)), answers.flatMap(\.lists))
    }
  }

  /// The answers for all certificates, in the order of the path. They are gathered at once, so that a long path takes
  /// no longer than a short one.
  private func answers(for links: [CRLLink], _ rules: FetchRules, at now: Timestamp) async -> [Answer] {
    await withTaskGroup(of: (Int, Answer).self) { group in
      for (index, link) in links.enumerated() {
        group.addTask { (index, await self.answer(for: link, rules: rules, at: now)) }
      }
      var answers: [Int: Answer] = [:]
      for await (index, answer) in group { answers[index] = answer }
      return links.indices.compactMap { answers[$0] }
    }
  }

  /// What the issuer's list says of one certificate. Of several addresses, the first with a good list counts.
  private func answer(for link: CRLLink, rules: FetchRules, at now: Timestamp) async -> Answer {
    guard let source = link.source else {
      return (.undetermined(.sourceNotAllowed, detail: link.unusable), [])
    }
    do throws(ListFault) {
      let kept = try await revocationLists.list(source, of: ListAddress.publisher(of: source.addresses.first), at: now)
      {
        [fetcher] () async throws(ListFault) in
        var first: ListFault?
        for address in source.addresses.prefix(Limits.crlAddresses) {
          do throws(ListFault) {
            let fetched = try await fetcher.list(address, allowing: rules)
            return try Self.verify(RevocationList(address: address, bytes: fetched.bytes), source, at: now)
          } catch {
            first = first ?? error
          }
        }
        throw first ?? ListFault(.sourceNotAllowed, "no address")
      }
      return (link.finding(by: kept.list), [kept.original])
    } catch {
      return (error.finding, [])
    }
  }

  private static func verify(
    _ original: RevocationList, _ source: CRLSource, at now: Timestamp
  ) throws(ListFault) -> Kept<SourcedList<VerifiedCRL>> {
    do throws(CRLError) {
      let list = try VerifiedCRL(verifying: original.bytes, issuer: source.issuer, at: now)
      // A CRL still counts at its nextUpdate; the cache's `expires` is the first instant at which it no longer does.
      let fresh = min(list.nextUpdate, now + Limits.longestListLifetime)
      return Kept(
        list: SourcedList(list: list, original: original), bytes: list.keptBytes + original.bytes.count,
        issuedAt: list.thisUpdate,
        freshUntil: fresh, expires: list.nextUpdate + 1)
    } catch {
      throw ListFault(error == .tooLarge ? .listTooLarge : .crlInvalid, error.detail)
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
private struct SourcedList<List: Sendable>: Sendable {
  let list: List
  let original: RevocationList
}

extension RevocationFinding {
  /// The worst of several findings. Without any list the finding is undetermined: certificates that name no list are
  /// not thereby good.
  fileprivate static func worst(of findings: [RevocationFinding]) -> RevocationFinding {
    guard let first = findings.first else { return .undetermined(.sourceNotAllowed, detail: "no distribution point") }
    return findings.dropFirst().reduce(first) { $0.worse($1) }
  }

  /// The worse of two findings. A revocation counts even if another list can't be fetched.
  fileprivate func worse(_ other: RevocationFinding) -> RevocationFinding {
    switch (self, other) {
    case (.revoked, _): self
    case (_, .revoked): other
    case (.undetermined, _): self
    case (.good, _): other
    }
  }
}

/// Gathers the answers to questions about revocation. It never throws: a status that can't be found out is
/// undetermined, for a stated reason.
public protocol RevocationSource: Sendable {
  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence
}

/// A source that asks no publisher: every declared status is undetermined.
public struct NoRevocationSource: RevocationSource {
  public init() {}

  public func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    RevocationEvidence()
  }
}
