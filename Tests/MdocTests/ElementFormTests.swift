import Base
import CBOR
import Mdoc
import Testing

@testable import Mock

/// Elements in the forms of their standards and in other forms: each conclusion from them is correct, or is not drawn.
@Suite struct ElementFormTests {
  let attack: Attack

  init() throws { attack = try Attack(docTypes: [DocType.mDL, DocType.photoID]) }

  private func check(_ verdict: Verdict, _ code: Code) -> Check? {
    verdict.report.documents.first?.checks.first { $0.code == code }
  }

  // MARK: Another type than the standard's

  /// A birth date as text, returned and correctly signed.
  private func birthDateAsText() throws -> [UInt8] {
    try attack.response(.init(Stages.setup) { $0.data[Namespace.mDL, "birth_date"] = "1990-04-12" })
  }

  private func request(_ identifiers: String...) -> PresentationRequest {
    var request = Attack.request
    request.documents[0].elements = identifiers.map { ElementRequest(ElementReference(Namespace.mDL, $0)) }
    return request
  }

  @Test func `An element of another type warns, and is named with the types that it should have`() throws {
    let response = try birthDateAsText()
    // Without a request, and if it was not requested.
    for request in [nil, request("given_name")] {
      let verdict = attack.verify(response, request: request)
      #expect(verdict.accepted != nil)
      let found = check(verdict, .elementTypeInvalid)
      #expect(found?.outcome == .warning)
      #expect(found?.detail == "org.iso.18013.5.1 birth_date (full-date or tdate expected)")
      let strict = attack.verify(response, request: request, isStrict: true)
      #expect(check(strict, .elementTypeInvalid)?.outcome == .failed && strict.accepted == nil)
    }
  }

  @Test func `One that was asked for refuses, with the same words`() throws {
    let verdict = try attack.verify(birthDateAsText(), request: request("given_name", "birth_date"))
    #expect(verdict.report.reasons.map(\.code) == [.elementTypeInvalid])
    #expect(check(verdict, .elementTypeInvalid)?.detail == "org.iso.18013.5.1 birth_date (full-date or tdate expected)")
  }

  @Test func `Elements of the right types pass, with a request or without`() throws {
    let response = try attack.response(.none)
    for request in [nil, request("given_name")] {
      #expect(check(attack.verify(response, request: request), .elementTypeInvalid)?.outcome == .passed)
    }
  }

  // MARK: Approximate dates of birth

  private func photoID(_ birthDate: CBORValue, minimumAge: Int) throws -> Verdict {
    var attack = attack
    attack.documents = [MockPerson.photoID]
    attack.documents[0].ageThresholds = []
    attack.documents[0][Namespace.iso23220, "birth_date"] = birthDate
    attack.mock = MockRequest(documents: [
      MockRequest.Document(docType: MockDocType.photoID, elements: [(Namespace.iso23220, "birth_date")])
    ])
    let element = ElementRequest(ElementReference(Namespace.iso23220, "birth_date"))
    let request = PresentationRequest(documents: [
      DocumentRequest(docType: DocType.photoID, elements: [element], minimumAge: minimumAge)
    ])
    return try attack.verify(attack.response(.none), request: request)
  }

  private func born(_ year: Int, mask: CBORValue?) -> CBORValue {
    var entries: [(key: CBORValue, value: CBORValue)] = [("birth_date", .tagged(1_004, .text("\(year)-01-01")))]
    if let mask { entries.append(("approximate_mask", mask)) }
    return .map(entries)
  }

  /// The response is of 18 November 2026.
  @Test(
    arguments: [
      (2008, nil, []), (2007, "00001111", []), (2008, "00001111", [.elementMissing]),
      (2009, "00001111", [.ageBelowMinimum]), (2008, "00000011", []), (2000, "00011111", [.elementMissing]),
      (1999, "00011111", []), (1990, "11111111", [.elementMissing]),
      (1990, "0000111", [.elementTypeInvalid, .elementMissing]), (1990, .null, [.elementTypeInvalid, .elementMissing]),
      (1990, 1_111, [.elementTypeInvalid, .elementMissing]),
    ] as [(Int, CBORValue?, [Code])])
  func `A minimum age of 18 is judged by every day that an approximate birth date may be`(
    year: Int, mask: CBORValue?, codes: [Code]
  ) throws {
    #expect(try photoID(born(year, mask: mask), minimumAge: 18).report.reasons.map(\.code) == codes)
  }

  @Test func `What an approximate date contradicts whatever its day is warned of`() throws {
    var attack = attack
    attack.documents = [MockPerson.photoID]
    attack.documents[0].ageThresholds = []
    attack.mock = .photoID
    for (isOver, birth, outcome) in [
      (true, 2000, Check.Outcome.passed), (true, 2012, .warning), (false, 2000, .passed),
    ] {
      attack.documents[0][Namespace.iso23220, "birth_date"] = born(birth, mask: "00011111")
      attack.documents[0][Namespace.iso23220, "age_over_21"] = .bool(isOver)
      #expect(check(try attack.verify(attack.response(.none), request: nil), .ageInconsistent)?.outcome == outcome)
    }
  }

  // MARK: Numbers

  @Test(
    arguments: [
      (9_007_199_254_740_991, "1b001fffffffffffff"), (9_007_199_254_740_993, "1b0020000000000001"),
      (9_223_372_036_854_775_807, "1b7fffffffffffffff"), (9_223_372_036_854_775_808, "1b8000000000000000"),
      (9_223_372_036_854_775_809, "1b8000000000000001"), (18_446_744_073_709_551_615, "1bffffffffffffffff"),
      (-9_223_372_036_854_775_808, "3b7fffffffffffffff"), (-9_223_372_036_854_775_809, "3b8000000000000000"),
      (-18_446_744_073_709_551_616, "3bffffffffffffffff"),
    ] as [(Int128, String)])
  func `Every integer of CBOR keeps its digits`(number: Int128, encoded: String) throws {
    var attack = attack
    let bytes = try #require(Hex.decode(encoded))
    attack.documents[0][Namespace.mDL, "vendor_number"] = .encoded(bytes)
    attack.mock.documents[0].elements = [(Namespace.mDL, "vendor_number")]
    let elements = try attack.verify(attack.response(.none), request: nil).accepted?.documents[0].elements ?? []
    let value = try #require(elements.first { $0.reference.identifier == "vendor_number" }?.value)
    #expect(value == .integer(number) && value.digits == "\(number)")
    #expect(try CBORItem(parsing: bytes).digits == "\(number)")
  }

  @Test(
    arguments: [
      ("c249010000000000000000", "18446744073709551616"), ("c349010000000000000000", "-18446744073709551617"),
      ("c249ffffffffffffffffff", "4722366482869645213695"), ("c349ffffffffffffffffff", "-4722366482869645213696"),
      ("c240", "0"), ("c340", "-1"), ("c24100", "0"), ("c341ff", "-256"), ("c2420005", "5"),
      ("c25f4101480000000000000000ff", "18446744073709551616"), ("c26161", nil), ("c14101", nil), ("f90000", nil),
    ] as [(String, String?)])
  func `A bignum has its sign and all its digits`(encoded: String, digits: String?) throws {
    #expect(try CBORItem(parsing: #require(Hex.decode(encoded))).digits == digits)
  }

  /// More digits than one step of the division finds, including zeros.
  @Test func `A power of ten is one and zeros`() throws {
    // 10^60
    let encoded = "c25819" + "9f4f2726179a224501d762422c946590d9" + "1000000000000000"
    #expect(
      try CBORItem(parsing: #require(Hex.decode(encoded))).digits == "1" + String(repeating: "0", count: 60))
  }
}
