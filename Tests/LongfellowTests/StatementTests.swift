import TestSupport
import Testing

@testable import Longfellow

/// The possible statements; and a proof fits only its own statement.
struct StatementTests {
  /// Without vectors: the key is P-256's generator.
  private let statement = LongfellowStatement(
    issuerX: hexBytes("6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
    issuerY: hexBytes("4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5"),
    documentType: "org.iso.18013.5.1.mDL", transcript: [0x83, 0xf6, 0xf6, 0x80],
    elements: [(identifier: "age_over_18", value: [0xf5])], timestamp: "2026-01-02T03:04:05Z")

  private func fault(_ statement: LongfellowStatement, version: Int) throws -> StatementError? {
    let known = try #require(
      KnownCircuit.all.first { $0.version == version && $0.elements == max(1, statement.elements.count) })
    do {
      try statement.check(for: known)
      return nil
    } catch .statement(let fault) {
      return fault
    }
  }

  private func fault(value: [UInt8], version: Int = 7) throws -> StatementError? {
    try fault(statement.with(elements: [(identifier: "element", value: value)]), version: version)
  }

  private func fault(identifier: String, version: Int) throws -> StatementError? {
    try fault(statement.with(elements: [(identifier: identifier, value: [0xf5])]), version: version)
  }

  @Test(arguments: [6, 7])
  func `booleans, integers, texts, bytes and dates can be proven`(version: Int) throws {
    let date = [0xd9, 0x03, 0xec, 0x6a] + Array("2026-01-02".utf8)
    let moment = [0xc0, 0x74] + Array("2026-01-02T03:04:05Z".utf8)
    let values: [[UInt8]] = [
      [0xf4], [0xf5], [0x00], [0x17], [0x18, 0x18], [0x19, 1, 0], [0x1b, 0, 0, 0, 0, 0, 0, 0, 1], [0x20], [0x38, 100],
      [0x40], [0x41, 0], [0x58, 1, 7], [0x60], [0x62, 0x61, 0x62], date, moment,
    ]
    for value in values { #expect(try fault(value: value, version: version) == nil, "\(value)") }
  }

  /// Z35.
  @Test func `what is no value of these kinds cannot be proven`() throws {
    let date = Array("2026-01-02".utf8)
    let values: [[UInt8]] = [
      // Nothing, null, undefined, other simple values, floats.
      [], [0xf6], [0xf7], [0xe0], [0xf8, 0xff], [0xf9, 0, 0], [0xfa, 0, 0, 0, 0], [0xfb, 0, 0, 0, 0, 0, 0, 0, 0],
      // Arrays and maps.
      [0x80], [0x81, 1], [0xa0], [0xa1, 1, 1],
      // Indefinite and reserved lengths.
      [0x5f, 0xff], [0x7f, 0xff], [0x7f, 0x61, 0x61, 0xff], [0x1c], [0x1f], [0x9f, 0xff],
      // Cut, or with bytes left.
      [0x18], [0x19, 1], [0x41], [0x62, 0x61], [0x61, 0x61, 0x61], [0xf5, 0xf5], [0x00, 0x00], [0x78],
      [0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
      // Other tags, dates of other lengths, a date's tag with a longer head.
      [0xc1, 0x00], [0xd9, 0x03, 0xec, 0x00], [0xd9, 0x03, 0xec, 0x69] + date.dropLast(),
      [0xd9, 0x03, 0xec, 0x78, 0x0a] + date, [0xda, 0, 0, 0x03, 0xec, 0x6a] + date,
      [0xc0, 0x6a] + date, [0xd8, 0x18, 0x41, 0x00],
    ]
    for value in values { #expect(try fault(value: value) == .valueKind, "\(value)") }
  }

  @Test func `values have at most 64 bytes, and 96 with their names in version 6`() throws {
    let text = { (count: Int) in [0x78, UInt8(count)] + [UInt8](repeating: 0x61, count: count) }
    #expect(try fault(value: text(62), version: 7) == nil)
    #expect(try fault(value: text(63), version: 7) == .valueLength)
    #expect(try fault(value: text(63), version: 6) == .valueLength)
    // A name of 18 bytes with its head, 13 bytes for elementValue's key, 65 for the rest.
    let name = "element_of_length"
    for (count, expected) in [(62, StatementError?.none), (63, .valueLength)] {
      let elements = [(identifier: name, value: text(count))]
      #expect(try fault(statement.with(elements: elements), version: 6) == expected)
    }
    let long = [(identifier: name + "s", value: text(62)), (identifier: name + "_x", value: text(62))]
    #expect(try fault(statement.with(elements: [long[0]]), version: 6) == nil)
    #expect(try fault(statement.with(elements: [long[1]]), version: 6) == .valueLength)
  }

  @Test func `identifiers have 1 to 32 bytes, and to 23 in version 7`() throws {
    let identifier = { String(repeating: "é", count: $0 / 2) + String(repeating: "x", count: $0 % 2) }
    for (version, longest) in [(6, 32), (7, 23)] {
      #expect(try fault(identifier: identifier(longest), version: version) == nil)
      #expect(try fault(identifier: identifier(longest + 1), version: version) == .identifier)
      #expect(try fault(identifier: "", version: version) == .identifier)
    }
  }

  @Test func `elements are different ones`() throws {
    let twice = statement.elements + statement.elements
    #expect(try fault(statement.with(elements: twice), version: 7) == .repeatedIdentifier)
    #expect(try fault(statement.with(elements: []), version: 7) == .elementCount)
  }

  @Test func `a document type has 1 to 255 bytes`() throws {
    for (count, expected) in [(0, StatementError?.some(.documentType)), (1, nil), (255, nil), (256, .documentType)] {
      let type = String(repeating: "x", count: count)
      #expect(try fault(statement.with(documentType: type), version: 7) == expected)
    }
  }

  @Test func `a moment has seconds and Z`() throws {
    for text in [
      "", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02T03:04:05z", "2026-01-02t03:04:05Z", "2026-01-02 03:04:05Z",
      "2026-01-02T03:04:05.0Z", "2026-01-02T03:04:05+00:00", "2026-01-02T03:04:0\u{0}Z", "2026/01/02T03:04:05Z",
      "2026-01-02T03:04:5ZZ", "２026-01-02T03:04:05Z",
    ] {
      #expect(try fault(statement.with(timestamp: text), version: 7) == .timestamp, "\(text)")
    }
  }

  @Test func `an issuer's key is a point on P-256`() throws {
    let zeros = [UInt8](repeating: 0, count: 32)
    let ones = [UInt8](repeating: 0xff, count: 32)
    #expect(try fault(statement, version: 7) == nil)
    for x in [[], zeros, ones, statement.issuerX.flipped(at: 31), statement.issuerY, statement.issuerX + [0]] {
      #expect(try fault(statement.with(issuerX: x), version: 7) == .issuerKey)
    }
    for y in [zeros, ones, statement.issuerY.flipped(at: 0)] {
      #expect(try fault(statement.with(issuerY: y), version: 7) == .issuerKey)
    }
  }

  /// Z30, Z36: no other order, no other spelling states the same.
  @Test(arguments: [6, 7])
  func `each statement has its own public inputs`(version: Int) {
    let a: (identifier: String, value: [UInt8]) = ("a", [0x61, 0x61])
    let b: (identifier: String, value: [UInt8]) = ("b", [0xf5])
    let spelled: (identifier: String, value: [UInt8]) = ("a", [0x78, 0x01, 0x61])
    let swapped = [(identifier: "a", value: b.value), (identifier: "b", value: a.value)]
    let statements = [[a, b], [b, a], swapped, [spelled, b]].map { statement.with(elements: $0) }
    let inputs = statements.map { $0.hashInputs(version: version) }
    for first in inputs.indices {
      for second in inputs.indices where first != second { #expect(inputs[first] != inputs[second]) }
    }
  }
}

/// A good proof of another statement.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct OtherStatementTests {
  /// A wallet's proof that a person is over 18.
  private static let changes: [(name: String, change: @Sendable (LongfellowStatement) -> LongfellowStatement)] = [
    ("Z28, false for true", { $0.with(elements: [(identifier: "age_over_18", value: [0xf4])]) }),
    ("Z28, one for true", { $0.with(elements: [(identifier: "age_over_18", value: [0x01])]) }),
    ("Z29, another identifier", { $0.with(elements: [(identifier: "age_over_21", value: [0xf5])]) }),
    ("Z36, a longer spelling of one", { $0.with(elements: [(identifier: "age_over_18", value: [0x18, 0x01])]) }),
    ("Z38, another type", { $0.with(documentType: "eu.europa.ec.av.1") }),
    ("Z41, a second later", { $0.with(timestamp: "2025-12-02T00:00:00Z") }),
    ("Z48, another session", { $0.with(transcript: $0.transcript.flipped(at: $0.transcript.count - 1)) }),
    ("Z52, another issuer", { $0.with(issuerY: negated($0.issuerY)) }),
  ]

  /// The other point with the same x.
  private static func negated(_ y: [UInt8]) -> [UInt8] { (FieldP256.zero - FieldP256(bigEndian: y)).bytes.reversed() }

  @Test(arguments: changes.indices)
  func `a proof is of no other statement`(index: Int) throws {
    let wallet = try WalletProof()
    let verifier = try PublishedCircuits.of(6)
    let other = Self.changes[index].change(wallet.statement)
    #expect(throws: LongfellowError.proofInvalid(.merkle), "\(Self.changes[index].name)") {
      try verifier.verify(proof: wallet.proof, statement: other)
    }
  }

  /// Z23: none and two, although one is proven.
  @Test func `a proof of one element is not of two`() throws {
    let wallet = try WalletProof()
    let verifier = try PublishedCircuits.of(6)
    let two = wallet.statement.elements + [(identifier: "age_over_21", value: [0xf5])]
    for elements in [[], two] {
      #expect(throws: LongfellowError.statement(.elementCount)) {
        try verifier.verify(proof: wallet.proof, statement: wallet.statement.with(elements: elements))
      }
    }
  }
}
