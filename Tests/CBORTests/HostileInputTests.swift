import Base
import TestSupport
import Testing

@testable import CBOR

/// Any bytes are either refused with a CBOR code or fully readable.
@Suite struct HostileInputTests {
  @Test func survivesRandomBytes() {
    var generator = SeededGenerator(seed: 4)
    var accepted = 0
    for _ in 0..<120_000 where isReadable(generator.bytes(Int.random(in: 0...24, using: &generator))) { accepted += 1 }
    #expect(accepted > 1_000)
  }

  /// Bytes that are heads more often than random bytes.
  @Test func survivesRandomHeads() {
    var generator = SeededGenerator(seed: 5)
    let heads = hex(
      "80 81 82 84 9f a0 a1 a2 bf 40 41 42 5f 60 61 7f c1 d818 f4 f6 f7 f93c00 18 1a 5b 9b bb ff ff ff 00 01 20")
    var accepted = 0
    for _ in 0..<120_000 {
      let input = (0..<Int.random(in: 1...20, using: &generator)).map { _ in
        heads[Int.random(in: 0..<heads.count, using: &generator)]
      }
      if isReadable(input) { accepted += 1 }
    }
    #expect(accepted > 1_000)
  }

  @Test func survivesMutationsOfDocuments() {
    var generator = SeededGenerator(seed: 6)
    let originals = [
      Sample.looselyEncoded, Array(Sample.response.prefix(60)), randomValue(depth: 3, using: &generator).encoded(),
    ]
    for _ in 0..<30_000 {
      var input = originals[Int.random(in: 0..<originals.count, using: &generator)]
      mutate(&input, using: &generator)
      _ = isReadable(input)
    }
  }

  @Test func survivesMutationsOfAWholeResponse() {
    var generator = SeededGenerator(seed: 7)
    var accepted = 0
    for _ in 0..<1_500 {
      var input = Sample.response
      mutate(&input, using: &generator)
      if isReadable(input) { accepted += 1 }
    }
    #expect(accepted > 100)
  }

  @Test(
    .enabled(if: PublishedVectors.areHere, "published vectors are not here"),
    arguments: [
      "iso18013-5-annexD/D.4.1.2-device-response.cbor", "iso18013-5-annexD/D.4.1.1-device-request.cbor",
      "iso18013-5-annexD/D.5.1-session-transcript.cbor", "iso18013-5-annexD/D.5.2-issuer-auth.cbor",
    ])
  func readsPublishedDocumentsAndSurvivesTheirMutations(path: String) throws {
    let original = try PublishedVectors.bytes(path)
    let item = try CBORItem(parsing: original)
    #expect(Array(item.encoded) == original)
    #expect(CBORValue(item)?.encoded() == original, "these are written with shortest heads")
    var generator = SeededGenerator(seed: 8)
    for _ in 0..<200 {
      var input = original
      mutate(&input, using: &generator)
      _ = isReadable(input)
    }
  }

  /// Flips, inserts, removes, cuts or repeats.
  private func mutate(_ input: inout [UInt8], using generator: inout SeededGenerator) {
    for _ in 0..<Int.random(in: 1...3, using: &generator) where !input.isEmpty {
      let offset = Int.random(in: 0..<input.count, using: &generator)
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: input[offset] = UInt8(truncatingIfNeeded: generator.next())
      case 1: input[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      case 2: input.insert(UInt8(truncatingIfNeeded: generator.next()), at: offset)
      case 3: input.remove(at: offset)
      case 4: input.removeSubrange(offset...)
      default: input.insert(contentsOf: input[offset...].prefix(9), at: offset)
      }
    }
  }

  /// Whether the input is accepted. If so, reads everything in it, which must not trap.
  private func isReadable(_ input: [UInt8]) -> Bool {
    do {
      let item = try CBORItem(parsing: input)
      var isWithin = Array(item.encoded) == input
      item.forEachInside { inner in
        isWithin = isWithin && !inner.encoded.isEmpty && inner.encoded.endIndex <= inner.tree.bytes.count
        _ = (inner.text, inner.bytes, inner.integer, inner.double, inner[key: "a"], inner[label: 1])
        if inner.kind == .bytes { _ = try? CBORItem(parsingContentOf: inner) }
      }
      if input.count < 64 { isWithin = isWithin && !CBORDiagnostic().describe(item).isEmpty }
      precondition(isWithin, "an accepted item lies within its input: \(Hex.encode(input))")
      return true
    } catch {
      precondition(error.code.rawValue.hasPrefix("cbor.") && error.offset >= 0 && error.offset <= input.count)
      return false
    }
  }
}
