import CBOR
import Mdoc
import TestSupport
import Testing

@testable import Presentation

/// Swapped, deleted, doubled and exchanged subtrees of a response: refused, or verified with the very same result.
@Suite struct MutationTests {
  let small: SmallAnswer
  let expected: String

  init() throws {
    small = try SmallAnswer()
    expected = try #require(small.verify(response: small.response).shownResult)
  }

  @Test(arguments: 1...UInt64(isExhaustive ? 40 : 4))
  func mutatedTreesNeverYieldAnotherResult(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let original = Tree(try CBORItem(parsing: small.response))
    #expect(try small.verify(response: original.encoded).shownResult == expected)
    var verified = 0
    for _ in 0..<500 {
      var tree = original
      for _ in 0..<Int.random(in: 1...3, using: &generator) { tree.mutate(&generator) }
      let verdict = try small.verify(response: tree.encoded)
      if let result = verdict.shownResult {
        verified += 1
        #expect(result == expected, "seed \(seed)")
      } else {
        #expect(!verdict.report.reasons.isEmpty)
      }
    }
    #expect(verified < 250, "most changes matter")
  }
}

/// A CBOR item taken apart, embedded items included, so that parts can be moved about.
private indirect enum Tree {
  case leaf([UInt8])
  case array([Tree])
  case map([Tree])
  case tagged(UInt64, Tree)
  case embedded(Tree)

  init(_ item: CBORItem) {
    if let content = item.embedded {
      self = .embedded(Tree(content))
    } else if let tag = item.tag, let content = item.content(ofTag: tag) {
      self = .tagged(tag, Tree(content))
    } else if let elements = item.elements {
      self = .array(elements.map { Tree($0) })
    } else if let entries = item.entries {
      self = .map(entries.flatMap { [Tree($0.key), Tree($0.value)] })
    } else {
      self = .leaf(Array(item.encoded))
    }
  }

  var encoded: [UInt8] { value.encoded() }

  private var value: CBORValue {
    switch self {
    case .leaf(let bytes): .encoded(bytes)
    case .array(let parts): .array(parts.map(\.value))
    case .map(let parts):
      .map(stride(from: 0, to: parts.count - 1, by: 2).map { (parts[$0].value, parts[$0 + 1].value) })
    case .tagged(let tag, let content): .tagged(tag, content.value)
    case .embedded(let content): .embedded(content.value)
    }
  }

  private var children: [Tree] {
    get {
      switch self {
      case .leaf: []
      case .array(let parts), .map(let parts): parts
      case .tagged(_, let content), .embedded(let content): [content]
      }
    }
    set {
      switch self {
      case .leaf: break
      case .array: self = .array(newValue)
      case .map: self = .map(newValue)
      case .tagged(let tag, _): self = .tagged(tag, newValue.first ?? .array([]))
      case .embedded: self = .embedded(newValue.first ?? .array([]))
      }
    }
  }

  /// One change somewhere below.
  mutating func mutate(_ generator: inout SeededGenerator) {
    let isDeeper = !children.isEmpty && Int.random(in: 0..<8, using: &generator) > 0
    if isDeeper, let index = children.indices.randomElement(using: &generator) {
      let copy = children[index]
      if case .leaf = copy {
      } else {
        children[index].mutate(&generator)
        return
      }
    }
    let step = if case .map = self { 2 } else { 1 }
    let places = Array(stride(from: 0, to: children.count, by: step))
    guard let first = places.randomElement(using: &generator), let second = places.randomElement(using: &generator)
    else { return }
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: for offset in 0..<step { children.swapAt(first + offset, second + offset) }
    case 1: children.removeSubrange(first..<first + step)
    case 2: children.insert(contentsOf: children[first..<first + step], at: second)
    case 3: children[first + step - 1] = children[second + step - 1]
    default: children[first] = .leaf([0xf6])
    }
  }
}
