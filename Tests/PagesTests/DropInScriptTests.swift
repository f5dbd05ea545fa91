import Base
import Cryptography
import FoundationEssentials
import Testing

@testable import Pages

@Suite struct DropInScriptTests {
  @Test func `the article has the hash of the script that is served`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let article = folder.deletingLastPathComponent().path + "/Sources/Tool/Documentation.docc/UseTheHostedPage.md"
    let text = try String(contentsOfFile: article, encoding: .utf8)
    let hash = Base64.encode(HashAlgorithm.sha384.hash(PageAsset.dropIn.body))
    #expect(text.contains("integrity=\"sha384-\(hash)\""), "sha384-\(hash)")
  }

  @Test func `it depends on nothing and makes no markup out of text`() {
    let text = String(decoding: PageAsset.dropIn.body, as: UTF8.self)
    for word in ["import ", "require(", "innerHTML", "eval", "document.write"] { #expect(!text.contains(word)) }
    #expect(PageAsset.dropIn.body.count < 6_000)
  }
}
