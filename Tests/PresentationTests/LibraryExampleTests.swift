import Base
import Cryptography
import FoundationEssentials
import Mdoc
import Mock
import PKIX
import Presentation
import Testing
import Trust

/// The example of the article on the libraries: it stands there as it compiles here, and does what it says.
@Suite struct LibraryExampleTests {
  private let now = Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970))
  private let authority: MockAuthority
  private let key: PrivateKey
  private let door: BarDoor

  init() throws {
    authority = try MockAuthority(seed: Array("library example".utf8))
    let anchors = try authority.anchors(at: now).map { anchor in
      TrustAnchor(certificate: try Certificate(der: anchor.certificate), docTypes: anchor.docTypes, tier: .test)
    }
    key = try PrivateKey(generatingOn: .p256)
    door = BarDoor(
      try TrustStore(anchors: anchors, allowsTestCertificates: true), key, merchantID: "m", teamID: "t")
  }

  private func greeting(_ variant: String) throws -> String {
    let variant = try #require(MockVariant.named(variant))
    let request = MockRequest(documents: [
      .init(docType: DocType.mDL, elements: [(Namespace.mDL, "given_name")], ageOver: [21])
    ])
    let nonce = try door.nonce()
    let session = MockAppleSession(nonce: nonce, merchantID: "m", teamID: "t", recipientKey: key.publicKey)
    let answer = try MockWallet(authority: authority, documents: MockPerson.documents).answerApple(
      request, session: session, variant: variant, at: now)
    return try door.greeting(for: answer.bytes, to: nonce)
  }

  @Test func aGoodAnswerIsGreetedByName() throws {
    #expect(try greeting("good") == "Come in, Ada.")
  }

  @Test func aBadOneByItsCode() throws {
    #expect(try greeting("element-changed") == "Sorry: mdoc.digest.mismatch")
  }

  @Test func theArticleHoldsTheExampleAsItCompiles() throws {
    let tests = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    let example = try text(tests + "/LibraryExample.swift")
    let article = try text(tests + "/../../Sources/Tool/Documentation.docc/UseFromSwift.md")
    let isThere = article.contains("```swift\n\(example)```")
    #expect(isThere, "the Swift block of UseFromSwift.md is not LibraryExample.swift")
  }

  private func text(_ path: String) throws -> String {
    String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
  }
}
