import Primitives
import TestSupport

/// A file of C2SP/wycheproof: groups of tests with a verdict each.
struct Wycheproof<Group: Decodable>: Decodable {
  let numberOfTests: Int
  let testGroups: [Group]

  init(_ name: String) throws { self = try PublishedVectors.json("wycheproof/\(name)_test.json") }
}

enum Verdict: String, Decodable {
  case valid, invalid
  /// Either way will do.
  case acceptable
}

/// What a file came to; printed as one line.
struct Tally {
  let name: String
  private(set) var passed = 0
  private(set) var unsupported = 0
  private(set) var wrong: [String] = []

  init(_ name: String) { self.name = name }

  var total: Int { passed + unsupported + wrong.count }

  mutating func note(_ id: Int, _ expected: Verdict, accepted: Bool) {
    if expected == .acceptable || accepted == (expected == .valid) {
      passed += 1
    } else {
      wrong.append("\(id): \(expected) but \(accepted ? "accepted" : "refused")")
    }
  }

  /// An output that may be refused, but if given has to be the right one.
  mutating func note(_ id: Int, _ expected: Verdict, output: [UInt8]?, right: [UInt8]) {
    if let output, output != right, expected != .invalid {
      wrong.append("\(id): another output")
    } else {
      note(id, expected, accepted: output != nil)
    }
  }

  mutating func noteUnsupported() { unsupported += 1 }

  func report() { print("\(name): \(passed) passed, \(unsupported) unsupported, \(wrong.count) wrong") }
}
