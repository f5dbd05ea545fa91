import Base
import CBOR
import Cryptography
import Mdoc
import TestSupport
import Testing
import Trust

@testable import Mock

/// Edge cases that no named mock list covers, and bytes that are not a list.
@Suite struct StatusListRuleTests {
  let fixture: StatusFixture

  init() throws { fixture = try StatusFixture() }

  private func finding(
    _ stage: EditStage<ListDraft> = Stages.list, _ change: @escaping @Sendable (inout ListDraft) throws -> Void
  ) throws -> RevocationFinding { fixture.finding(.mock(), try fixture.published(stage, change)) }

  private func finding(_ label: Int, _ value: CBORValue?) throws -> RevocationFinding {
    try finding { $0.members[label] = value }
  }

  @Test func theDateOfIssueMayBeAheadByWhatClocksDiffer() throws {
    let now = fixture.now
    let latest = (now + Limits.clockSkew).secondsSince1970
    for label in [ListDraft.Label.issuedAt, ListDraft.Label.notBefore] {
      #expect(try finding(label, .integer(latest)) == .good)
      #expect(try finding(label, .integer(latest + 1)).code == .statusListInvalid)
    }
  }

  @Test func theExpiryHasNoSkew() throws {
    let now = fixture.now.secondsSince1970
    #expect(try finding(ListDraft.Label.expires, .integer(now + 1)) == .good)
    for late in [now, now - 1, 0, -1, .min] {
      #expect(try finding(ListDraft.Label.expires, .integer(late)).detail?.hasPrefix("expired, exp is ") == true)
    }
  }

  static let strangeDates: [CBORValue] = [
    .unsigned(.max), .negative(.max), .double(.nan), .double(.infinity), .double(1e300), "1795000000", .null,
    .tagged(1, 1_795_000_000), .bytes([0]),
  ]

  @Test(arguments: strangeDates)
  func aDateIsANumberOfSeconds(date: CBORValue) throws {
    for label in [ListDraft.Label.issuedAt, ListDraft.Label.expires, ListDraft.Label.notBefore] {
      #expect(try finding(label, date).code == .statusListInvalid)
    }
  }

  @Test func aDateMayHaveAFraction() throws {
    let now = Double(fixture.now.secondsSince1970)
    #expect(try finding(ListDraft.Label.expires, .double(now + 1.5)) == .good)
    #expect(try finding(ListDraft.Label.expires, .double(now + 0.5)).detail?.hasPrefix("expired, exp is ") == true)
    #expect(try finding(ListDraft.Label.issuedAt, .double(now - 0.5)) == .good)
  }

  @Test func farDatesDoNotOverflow() throws {
    #expect(try finding(ListDraft.Label.expires, .integer(.max)) == .good)
    #expect(try finding(ListDraft.Label.issuedAt, .integer(.min)) == .good)
    for now in [Int64.min, .max] {
      #expect(throws: RevocationListError.self) {
        try fixture.read(fixture.published(), at: Timestamp(secondsSince1970: now))
      }
    }
  }

  @Test(arguments: [-1, 0, "43200", .double(1), .unsigned(.max), .null] as [CBORValue])
  func aTimeToLiveIsAPositiveInteger(ttl: CBORValue) throws {
    #expect(try finding(ListDraft.Label.timeToLive, ttl).code == .statusListInvalid)
  }

  @Test func aListNeedNotSayHowLongItLivesAndMaySayMore() throws {
    #expect(try finding(ListDraft.Label.timeToLive, nil) == .good)
    #expect(
      try finding {
        $0.members["more"] = 1
        $0.members[1] = "https://issuer.example"
      } == .good)
  }

  @Test(arguments: [-1, 0, 3, 5, 16, 256, "1", .double(1), .null] as [CBORValue])
  func entriesHaveOneTwoFourOrEightBits(bits: CBORValue) throws {
    let finding = try finding { $0.entries = ["bits": bits, "lst": .bytes(try packedStatuses([0], bits: 1))] }
    #expect(finding.code == .statusListInvalid)
  }

  @Test func anEmptyListHasNoEntries() throws {
    #expect(try finding { try $0.setStatuses([], bits: 1) }.code == .statusIndexOutOfRange)
  }

  @Test func aClaimThatStandsTwiceIsMalformed() throws {
    let finding = try finding { $0.members.entries.append((.integer(Int64(ListDraft.Label.subject)), "x")) }
    #expect(finding.detail == Code.cborDuplicateKey.rawValue)
  }

  @Test func aThumbprintInTheHeaderIsTheSigners() throws {
    func finding(_ change: @escaping @Sendable ([UInt8]) -> [UInt8]) throws -> RevocationFinding {
      try self.finding(Stages.signed) {
        let thumbprint = HashAlgorithm.sha256.hash(try $0.signer.chain()[0])
        $0.header[34] = [-16, .bytes(change(thumbprint))]
      }
    }
    #expect(try finding { $0 } == .good)
    #expect(try finding { Array($0.reversed()) }.code == .statusListInvalid)
    let ofAnotherHash = try self.finding(Stages.signed) {
      $0.header[34] = [-43, .bytes(HashAlgorithm.sha256.hash(try $0.signer.chain()[0]))]
    }
    #expect(ofAnotherHash.detail == "x5t does not match the signer's certificate")
  }

  @Test func whatIsSaidOfAnIdentifierIsAMap() throws {
    for (value, code) in [(CBORValue.map([]), nil), (1, Code.statusListInvalid)] as [(CBORValue, Code?)] {
      let list = MockList(.identifiers) { $0.entries = ["identifiers": .map([(.bytes([7]), value)])] }
      let bytes = try list.published(by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
      let reference = StatusReference(.identifierList(identifier: [1]), uri: StatusFixture.uri)
      #expect(fixture.finding(reference, bytes).code == code)
    }
  }

  @Test(arguments: [UInt8(ascii: "e"), 0xd2])
  func aListLargerThanTheBoundIsTooLargeInEitherForm(first: UInt8) throws {
    let bytes = [first] + [UInt8](repeating: first, count: Limits.listBytes)
    #expect(fixture.finding(.mock(), bytes, allowsJWT: true).code == .revocationListTooLarge)
  }

  @Test func bytesAfterTheListAreRefused() throws {
    #expect(fixture.finding(.mock(), try fixture.published() + [0]).code == .statusListInvalid)
  }

  @Test func aJSONWebTokenIsTakenOnlyWhereItIsAllowed() throws {
    let jwt = try #require(MockList.named("status-jwt"))
      .published(by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
    #expect(fixture.finding(.mock(), jwt, allowsJWT: true) == .good)
    let refused = fixture.finding(.mock(), jwt)
    #expect(refused.code == .statusListInvalid)
    #expect(refused.detail?.contains("\"jwt_status_lists\" in the anchor's settings") == true)
    let identifier = StatusReference(.identifierList(identifier: [1]), uri: StatusFixture.uri)
    #expect(fixture.finding(identifier, jwt, allowsJWT: true).code == .statusListInvalid)
    for wrong in [jwt + Array(".x".utf8), jwt.dropLast(), Array("e".utf8), Array("e..".utf8)] {
      #expect(fixture.finding(.mock(), Array(wrong), allowsJWT: true).code == .statusListInvalid)
    }
  }

  @Test func anIdentifierListMayBeLong() throws {
    let identifiers = (0..<100_000).map { index -> CBORValue in
      .bytes((0..<4).map { UInt8(truncatingIfNeeded: index >> ($0 * 8)) })
    }
    let list = MockList(.identifiers) { $0.entries = ["identifiers": .map(identifiers.map { ($0, [:]) })] }
    let bytes = try list.published(by: fixture.authority, at: StatusFixture.uri, now: fixture.now)
    let reference = StatusReference(.identifierList(identifier: [0x9f, 0x86, 1, 0]), uri: StatusFixture.uri)
    let verified = try fixture.read(bytes, reference)
    let words = "\(StatusFixture.uri) lists the document's identifier"
    #expect(verified.finding(for: reference, at: fixture.now) == .revoked(.documentRevoked, detail: words))
    let free = StatusReference(.identifierList(identifier: [0xa0, 0x86, 1, 0]), uri: StatusFixture.uri)
    #expect(verified.finding(for: free, at: fixture.now) == .good)
  }

  @Test func moreItemsThanTheLimitAreTooMany() throws {
    let filler = CBORValue.array([CBORValue](repeating: 0, count: Limits.listItems))
    #expect(try finding { $0.members["filler"] = filler }.code == .revocationListTooLarge)
  }

  /// Only the unchanged list gives a good status.
  @Test func everyDamagedByteMakesTheListUnusable() throws {
    let bytes = try fixture.published()
    var generator = SeededGenerator(seed: 4)
    for offset in bytes.indices {
      var damaged = bytes
      damaged[offset] ^= UInt8.random(in: 1...255, using: &generator)
      #expect(fixture.finding(.mock(), damaged, allowsJWT: true).code == .statusListInvalid, "byte \(offset)")
    }
    for length in stride(from: 0, to: bytes.count, by: 7) {
      #expect(fixture.finding(.mock(), Array(bytes.prefix(length)), allowsJWT: true).code == .statusListInvalid)
    }
  }
}
