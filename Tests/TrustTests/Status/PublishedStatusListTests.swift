import Base
import CBOR
import COSE
import Cryptography
import JOSE
import Mdoc
import TestSupport
import Testing

@testable import Mdoc
@testable import Trust

/// The vectors of the Token Status List draft, with their verdicts.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct PublishedStatusListTests {
  private static let folder = "token-status-list"
  private static let uri = "https://example.com/statuslists/1"
  /// Between iat and exp of the signed examples.
  private let now = Timestamp(secondsSince1970: 1_795_000_000)

  /// The long lists come with their nonzero entries, the short lists with all entries.
  private struct Expected: Decodable {
    let cbor: String
    let json: String
    let bits: Int
    let entries: UInt64
    let nonZero: [[UInt64]]?
    let values: [UInt64]?

    var listed: [[UInt64]] {
      let all = values?.enumerated().map { [UInt64($0.offset), $0.element] }
      return (nonZero ?? all ?? []).filter { $0[1] != 0 }.sorted { $0[0] < $1[0] }
    }
  }

  @Test func everyEntryOfEveryListIsRead() throws {
    let lists: [Expected] = try PublishedVectors.json("\(Self.folder)/expected.json")
    #expect(lists.map(\.bits) == [1, 2, 4, 8, 1, 2])
    for list in lists {
      let cbor = try CBORItem(parsing: PublishedVectors.bytes("\(Self.folder)/\(list.cbor)"))
      let fromCBOR = try PackedStatuses(bits: cbor[key: "bits"]?.integer, list: #require(cbor[key: "lst"]?.bytes))
      let json = try JSON(parsing: PublishedVectors.bytes("\(Self.folder)/\(list.json)"))
      let packed = try #require(json["lst"]?.string.flatMap(Base64.decodeURLSafe))
      let fromJSON = try PackedStatuses(bits: json["bits"]?.integer, list: packed)
      for statuses in [fromCBOR, fromJSON] {
        #expect(statuses.bits == list.bits)
        #expect(statuses.count == Int(list.entries))
        #expect(statuses[list.entries] == nil)
        #expect(!list.listed.isEmpty)
        for entry in list.listed { #expect(statuses[entry[0]] == UInt8(exactly: entry[1]), "\(list.cbor) \(entry)") }
      }
      #expect(fromCBOR == fromJSON, "\(list.cbor)")
      // All unlisted entries are zero.
      #expect((0..<list.entries).count { fromCBOR[$0] != 0 } == list.listed.count, "\(list.cbor)")
    }
  }

  private func publishedKey() throws -> PublicKey {
    let jwk = try JSON(parsing: PublishedVectors.bytes("\(Self.folder)/signing-key.jwk.json"))
    // The published key includes its private part, which a public key must not have.
    let members = try #require(jwk.object).filter { $0.name != "d" }
    return try JSONWebKey(parsing: .object(members)).key
  }

  /// The signed examples name no certificate: only their signature and claims can be checked, with the published key.
  private func signed(_ name: String) throws -> SignedList {
    try StatusListVerifier.parse(PublishedVectors.bytes("\(Self.folder)/\(name)"), .statusList, allowsJWT: true)
  }

  @Test(arguments: ["status_list_cwt.cbor", "status_list.jwt"])
  func theSignedExamplesVerifyUnderTheirKey(name: String) throws {
    let list = try signed(name)
    #expect(list.chain.isEmpty)
    let claims = try list.claims(verifiedBy: publishedKey())
    let registered = try claims.registered()
    try registered.require(subject: Self.uri, at: now)
    #expect(registered.issuedAt == Timestamp(secondsSince1970: 1_686_920_170))
    #expect(registered.expires == Timestamp(secondsSince1970: 2_291_720_170))
    #expect(registered.timeToLive == 43_200)
    let statuses = try claims.statuses()
    #expect((0..<16).map { statuses[$0] } == [1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0, 1])
    #expect(statuses[16] == nil)
  }

  @Test(arguments: ["status_list_cwt.cbor", "status_list.jwt"])
  func theSignedExamplesDoNotVerifyUnderAnotherKey(name: String) throws {
    let other = try PrivateKey(generatingOn: .p256).publicKey
    #expect(throws: RevocationListError.self) { try signed(name).claims(verifiedBy: other) }
  }

  @Test(arguments: ["status_list_cwt.cbor", "status_list.jwt"])
  func theSignedExamplesCountUntilTheyExpire(name: String) throws {
    let registered = try signed(name).claims(verifiedBy: publishedKey()).registered()
    try registered.require(subject: Self.uri, at: registered.expires - 1)
    #expect(throws: RevocationListError.self) { try registered.require(subject: Self.uri, at: registered.expires) }
    #expect(throws: RevocationListError.self) { try registered.require(subject: Self.uri + "0", at: now) }
  }

  /// A credential that refers to the list: its status has the same form as in a mobile security object.
  @Test func theReferencedTokenNamesItsPlaceInTheList() throws {
    let bytes = try PublishedVectors.bytes("\(Self.folder)/referenced_token_cwt.cbor")
    let token = try COSESign1(parsing: CBORItem(parsing: bytes), tag: COSESign1.tag)
    let payload = try #require(token.payload)
    #expect(token.verify(payload: try #require(payload.bytes), key: try publishedKey()) == .valid)
    let status = try #require(CBORItem(parsingContentOf: payload)[label: 65_535])
    let declared = try DeclaredStatus(parsing: status)
    #expect(declared.references == [StatusReference(.statusList(index: 0), uri: Self.uri)])
    let statuses = try signed("status_list_cwt.cbor").claims(verifiedBy: publishedKey()).statuses()
    #expect(statuses[0] == 1)
  }

  /// Complete lists need a signer that the document's issuer vouches for.
  @Test func withoutACertificateTheExamplesAreNoListsForDocuments() throws {
    let fixture = try StatusFixture()
    for name in ["status_list_cwt.cbor", "status_list.jwt"] {
      let bytes = try PublishedVectors.bytes("\(Self.folder)/\(name)")
      let finding = fixture.finding(.mock(0, uri: Self.uri), bytes, allowsJWT: true)
      #expect(finding.code == .statusListInvalid)
    }
  }
}
