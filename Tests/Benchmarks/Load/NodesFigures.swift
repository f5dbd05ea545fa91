import Base
import Vectors

/// The results of a load on several nodes.
struct NodesFigures {
  /// When each response was acknowledged as verified, in seconds from the start, sorted.
  let verified: [Double]
  let seconds: Double
  let recoveries: [FaultScenario.Recovery]
  var account = Account([])
  var notCreated: [LedgerReply: Int] = [:]
  var deliveries: WebhookReceiver.Deliveries?

  /// Replies to creations that no fault excuses, counted by name.
  private var wrongCreations: [String: Int] {
    notCreated.reduce(into: [:]) { wrong, reply in
      if !reply.key.leavesInDoubt { wrong[reply.key.name, default: 0] += reply.value }
    }
  }

  /// Whether every rule was kept and the nodes recovered from every fault.
  var isKept: Bool {
    account.isKept && wrongCreations.isEmpty && (deliveries?.missing ?? 0) == 0
      && recoveries.allSatisfy { $0.exitStatus == 0 && $0.recovered.isComplete }
  }

  /// The longest time without a verified response.
  var longestGap: Double {
    zip([0] + verified, verified + [seconds]).map { $1 - $0 }.max() ?? 0
  }

  var perSecond: Double { seconds > 0 ? Double(verified.count) / seconds : 0 }

  private func recoveryTimes(_ part: KeyPath<LoadWatch.Recovery, Double?>) -> [Double] {
    recoveries.compactMap { $0.recovered[keyPath: part] }.sorted()
  }
}

// MARK: Output

extension NodesFigures {
  var facts: [(name: String, value: String)] {
    var facts = [
      ("sessions created", "\(account.sessions)"),
      ("verified once, used once", "\(account.verifiedOnce)"),
      ("acknowledged as verified", "\(account.acknowledged)"),
      ("verified a second", decimal(perSecond, 0)),
      ("longest time without one", "\(decimal(longestGap, 2)) s"),
    ]
    facts += Self.counted("reply to a submit: ", account.replies)
    facts += Self.counted("no creation: ", Dictionary(notCreated.map { ($0.key.name, $0.value) }, uniquingKeysWith: +))
    facts += Self.counted("not acknowledged, then: ", account.inDoubt)
    if !recoveries.isEmpty {
      facts.append(("faults", "\(recoveries.count)"))
      facts.append(("until one was verified", Self.range(recoveryTimes(\.verified))))
      facts.append(("until all nodes answered", Self.range(recoveryTimes(\.allNodes))))
    }
    if let deliveries {
      facts += [
        ("messages taken", "\(deliveries.taken), \(deliveries.repeated) of them again"),
        ("messages held", "\(deliveries.held)"), ("events that never came", "\(deliveries.missing)"),
        ("caught up after", "\(decimal(deliveries.caughtUpAfter, 1)) s"),
      ]
    }
    for rule in Account.Rule.allCases {
      let example = account.examples[rule].map { ", such as \($0)" } ?? ""
      facts.append((rule.rawValue, "\(account.broken[rule] ?? 0)\(example)"))
    }
    for (name, count) in wrongCreations.sorted(by: { $0.key < $1.key }) {
      facts.append(("no creation, wrong: \(name)", "\(count)"))
    }
    for recovery in recoveries where recovery.exitStatus != 0 {
      facts.append(("the fault's command", "status \(recovery.exitStatus)"))
    }
    return facts
  }

  private static func counted(_ start: String, _ counts: [String: Int]) -> [(String, String)] {
    counts.sorted { $0.key < $1.key }.map { (start + $0.key, "\($0.value)") }
  }

  private static func range(_ sorted: [Double]) -> String {
    guard let least = sorted.first, let most = sorted.last else { return "never" }
    return "\(decimal(least, 2)) to \(decimal(most, 2)) s, median \(decimal(sorted[sorted.count / 2], 2)) s"
  }

  var json: JSON {
    func counts(_ counts: [String: Int]) -> JSON {
      .object(counts.sorted { $0.key < $1.key }.map { .init($0.key, .integer(Int64($0.value))) })
    }
    func times(_ part: KeyPath<LoadWatch.Recovery, Double?>) -> JSON { .array(recoveryTimes(part).map { .double($0) }) }
    return .members([
      "kept": .bool(isKept), "sessions": .integer(Int64(account.sessions)),
      "verified_once": .integer(Int64(account.verifiedOnce)), "acknowledged": .integer(Int64(account.acknowledged)),
      "seconds": .double(seconds), "longest_gap_seconds": .double(longestGap), "replies": counts(account.replies),
      "not_created": counts(Dictionary(notCreated.map { ($0.key.name, $0.value) }, uniquingKeysWith: +)),
      "not_acknowledged": counts(account.inDoubt),
      "broken_rules": counts(Dictionary(uniqueKeysWithValues: account.broken.map { ($0.key.rawValue, $0.value) })),
      "faults": .integer(Int64(recoveries.count)), "verified_again_seconds": times(\.verified),
      "all_nodes_again_seconds": times(\.allNodes),
      "deliveries": deliveries.map { deliveries in
        [
          "taken": .integer(Int64(deliveries.taken)), "repeated": .integer(Int64(deliveries.repeated)),
          "held": .integer(Int64(deliveries.held)), "missing": .integer(Int64(deliveries.missing)),
          "caught_up_seconds": .double(deliveries.caughtUpAfter),
        ]
      },
    ])
  }
}
