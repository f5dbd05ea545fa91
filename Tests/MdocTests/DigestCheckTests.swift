import Base
import CBOR
import Cryptography
import Testing

@testable import Mdoc

/// Every returned element is compared with its signed digest. Each rule is broken by itself, and gives its own code.
@Suite struct DigestCheckTests {
  private typealias Item = HandMadeDocument.Item

  private func check(_ made: HandMadeDocument, hash: HashAlgorithm? = .sha256) throws -> CheckList {
    var checks = CheckList()
    DigestCheck(document: try made.document(), mso: try made.mso(), hash: hash).run(into: &checks)
    return checks
  }

  private func failures(_ change: (inout HandMadeDocument) -> Void) throws -> [Code] {
    var made = HandMadeDocument()
    made.hashedItems = made.items
    change(&made)
    return try check(made).codes(.failed)
  }

  /// Regardless of whether an item refers to them.
  @Test func `identifiers of digests are unsigned integers, and digests are bytes`() throws {
    let digest = CBORValue.bytes(HashAlgorithm.sha256.hash([]))
    for (identifier, digest) in [
      (CBORValue.text("0"), digest), (-1, digest), (0, "digest"), (0, .null),
    ] {
      var made = HandMadeDocument()
      made.otherDigests = [.text(HandMadeDocument.namespace): .map([(key: identifier, value: digest)])]
      let error = #expect(throws: MdocParseError.self) { try made.mso() }
      #expect(error?.code == .msoMalformed)
    }
  }

  @Test func `what was signed passes every check`() throws {
    let checks = try check(HandMadeDocument())
    #expect(checks.codes(.passed) == DigestCheck.codes && checks.checks.count == DigestCheck.codes.count)
  }

  @Test func `an element with another value than was hashed does not match`() throws {
    #expect(try failures { $0.items[0].value = "another" } == [.digestMismatch])
  }

  @Test func `an element by another name than was hashed does not match`() throws {
    #expect(try failures { $0.items[0].identifier = "nick_name" } == [.digestMismatch])
  }

  @Test func `an element under an identifier that has no digest is not signed`() throws {
    #expect(try failures { $0.items[0].digestID = 7 } == [.digestMissing])
  }

  @Test func `elements of a namespace that has no digests are not signed`() throws {
    #expect(try failures { $0.hashedItems = [] } == [.digestMissing])
  }

  @Test func `one digest identifier is for one element`() throws {
    #expect(try failures { $0.items[1].digestID = 0 } == [.digestIDDuplicate])
  }

  @Test func `an element comes once`() throws {
    #expect(try failures { $0.items.append($0.items[0]) } == [.elementDuplicate])
  }

  @Test func `an element that the issuer signed is not signed by the device as well`() throws {
    let changed = try failures {
      $0.deviceNamespaces = [.text(HandMadeDocument.namespace): ["given_name": "mine"]]
      $0.keyAuthorizations = ["nameSpaces": [.text(HandMadeDocument.namespace)]]
    }
    #expect(changed == [.elementDuplicate])
  }

  /// They are compared with each other, and many are looked up in tables: both find the same.
  @Test(arguments: [2, 33])
  func `few elements and many are checked alike`(count: Int) throws {
    var made = HandMadeDocument()
    made.items = (0..<count).map { Item(digestID: UInt64($0), identifier: "element_\($0)") }
    #expect(try check(made).codes(.failed) == [])
    var repeated = made
    repeated.hashedItems = made.items
    repeated.items[1] = repeated.items[0]
    #expect(try check(repeated).codes(.failed) == [.elementDuplicate])
    var shared = made
    shared.hashedItems = made.items
    shared.items[1].digestID = 0
    #expect(try check(shared).codes(.failed) == [.digestIDDuplicate])
  }

  @Test func `too little randomness warns`() throws {
    var made = HandMadeDocument()
    made.items[0].random = [UInt8](repeating: 9, count: 15)
    let checks = try check(made)
    #expect(checks.codes(.warning) == [.itemRandomTooShort] && !checks.hasFailed)
  }

  @Test func `an identifier of 2^31 or more warns`() throws {
    var made = HandMadeDocument()
    made.items[0].digestID = 1 << 31
    let checks = try check(made)
    #expect(checks.codes(.warning) == [.digestIDOutOfRange] && !checks.hasFailed)
    made.items[0].digestID -= 1
    #expect(try check(made).codes(.warning) == [])
  }

  @Test func `without a hash nothing is compared, and nothing is said to match`() throws {
    let checks = try check(HandMadeDocument(), hash: nil)
    #expect(checks.codes(.passed) == [.elementDuplicate])
    #expect(checks.codes(.notRun) == DigestCheck.codes.filter { $0 != .elementDuplicate })
  }

  @Test func `a digest of another hash does not match`() throws {
    #expect(try check(HandMadeDocument(), hash: .sha384).codes(.failed) == [.digestMismatch])
  }
}
