import Base
import CorpusMaking
import Cryptography
import Mock
import Testing

@testable import MdocTool

/// `mdoc verify` judges the responses of `mdoc mock` as announced.
@Suite struct MockTests {
  private let scratch: Scratch
  private let session = ["--nonce", "000102030405060708090a0b0c0d0e0f", "--merchant-id", "m.example", "--team-id", "T"]
  private let time = ["--at", "2026-11-20T10:00:00Z"]

  init() async throws {
    scratch = try Scratch()
    #expect(await Run("keys", "generate", "--out", scratch("key.pem")).status == 0)
    #expect(await Run(["mock", "anchors", "--out", scratch("anchors")] + time).status == 0)
  }

  private func makeApple(_ more: String...) async -> Run {
    await Run(
      ["mock", "apple", "--recipient", scratch("key.pem"), "--out", scratch("answer")] + session + time + more)
  }

  private func verifyApple(_ more: String...) async -> Run {
    await Run(
      ["verify", "apple", "--envelope", scratch("answer"), "--key", scratch("key.pem"), "--trust", scratch("anchors")]
        + session + time + more)
  }

  @Test func aGoodAnswerVerifies() async throws {
    #expect(await makeApple().status == 0)
    let run = await verifyApple("--json")
    #expect(run.status == 0)
    let elements = try run.json()["result"]?["documents"]?.array?.first?["elements"]?["org.iso.18013.5.1"]
    #expect(elements?["given_name"] == "Ada")
  }

  @Test(arguments: ["AAECAwQFBgcICQoLDA0ODw==", "AAECAwQFBgcICQoLDA0ODw"])
  func aNonceMayBeWrittenAsTheAPIDoes(nonce: String) async throws {
    #expect(await makeApple().status == 0)
    let run = await Run(
      ["verify", "apple", "--envelope", scratch("answer"), "--key", scratch("key.pem"), "--trust", scratch("anchors")]
        + ["--nonce", nonce] + session.dropFirst(2) + time)
    #expect(run.status == 0)
  }

  @Test(arguments: [("0!", "--nonce is not hexadecimal or base64"), ("AAEt", "--nonce has 3 bytes")])
  func anythingElseIsNoNonce(nonce: String, message: String) async throws {
    let run = await Run(
      ["mock", "apple", "--recipient", scratch("key.pem"), "--out", scratch("answer"), "--nonce", nonce]
        + session.dropFirst(2) + time)
    #expect(run.status == 64)
    #expect(run.error.contains(message))
  }

  /// Every kind of a page's request, with correct and wrong responses.
  @Test func aWebAnswerIsWhatItsProtocolSends() async throws {
    let key = try PrivateKey(curve: .p256, scalar: [UInt8](repeating: 0x21, count: 32))
    let authority = try MockAuthority(seed: Array("mdoc mock".utf8))
    let now = try #require(Timestamp(rfc3339: "2026-11-20T10:00:00Z"))
    let session = MockWebSession(
      encryptionKey: key, nonce: Array(0..<32), origin: "https://shop.example",
      reader: try authority.reader(dnsName: "shop.example", at: now), responseURI: "https://shop.example/r")
    for name in ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp"] {
      let request =
        try name == "openid4vp"
        ? session.requestObject(.standard) : session.data(for: name, .standard).serialized()
      try FileAccess.write(request + [0x0a], to: scratch("data"))
      var words =
        ["mock", "web", "--protocol", name, "--request-data", scratch("data"), "--out", scratch("web")] + time
      let origin = name == "openid4vp" ? [] : ["--origin", "https://shop.example"]
      if name != "org-iso-mdoc" {
        // These requests do not name the formats, so a wallet must refuse them.
        let refused = await Run(words + origin)
        #expect(refused.status == 1 && refused.error.contains("request.vp_formats"), "\(refused.error)")
        words += ["--despite", "request.vp_formats"]
      }
      let run = await Run(words + origin)
      #expect(run.status == 0, "\(run.error)")
      let answer = try JSON(parsing: scratch.read("web"))
      #expect(answer["protocol"]?.string == name)
      #expect(answer["data"]?["response"]?.string?.isEmpty == false)
      let announced = await Run(words + origin + ["--variant", "element-changed", "--json"])
      #expect(try announced.json()["codes"] == ["mdoc.digest.mismatch"])
      #expect(try JSON(parsing: scratch.read("web")) != answer)
      // A variant of another protocol has nothing to change here, or changes nothing.
      if name != "openid4vp" { #expect(await Run(words).status == 64) }
      _ = try scratch.write("data", "[]")
      #expect(await Run(words + origin).status != 0)
    }
  }

  @Test(arguments: [
    "jwe-zip-bomb", "annex-c-truncated", "annex-b-handover-1.0", "slip-issuer-header-null", "zk-tag-bit",
  ])
  func aVariantOfAnotherProtocolIsRefused(name: String) async {
    let run = await makeApple("--variant", name)
    #expect(run.status == 64 && run.hasOneLineOfError)
    #expect(run.error.contains("The variant does not apply: \(name) is for "))
    #expect(scratch.read("answer").isEmpty, "nothing is written")
  }

  @Test func sameArgumentsMakeTheSameBytes() async {
    _ = await makeApple()
    let first = scratch.read("answer")
    _ = await makeApple()
    #expect(!first.isEmpty)
    #expect(scratch.read("answer") == first)
    _ = await makeApple("--seed", "01")
    #expect(scratch.read("answer") != first)
    #expect(await verifyApple().status == 1)
  }

  /// Responses to Apple's published key are announced with a server's codes; here their key is missing.
  private static let appleVariants = MockVariant.all.filter { variant in
    variant.holds(over: "apple-in-app")
      && !variant.name.hasPrefix("apple-simulator-key")
  }

  @Test(arguments: appleVariants)
  func everyAppleVariantIsJudgedAsAnnounced(variant: MockVariant) async throws {
    let made = await makeApple("--variant", variant.name, "--json")
    #expect(made.status == 0, "\(made.error)")
    let announced = try #require(try made.json()["codes"]?.array?.compactMap(\.string))
    let request = try scratch.write("request.json", requestJSON(variant.request).text())
    let run = await verifyApple("--json", "--request", request)
    let reasons = try run.json()["last_error"]?["reasons"]?.array?.compactMap { $0["code"]?.string } ?? []
    #expect(Set(reasons) == Set(announced))
    #expect(reasons.first == announced.first)
    #expect(run.status == (announced.isEmpty ? 0 : 1))
  }

  @Test func aResponseVerifiesOverItsTranscript() async {
    let files = ["--out", scratch("response")] + time
    let trust = ["--trust", scratch("anchors"), "--reader-key", scratch("key.pem")] + time
    let verify =
      ["verify", "response", "--response", scratch("response"), "--transcript", scratch("transcript")] + trust
    for options in [[], ["--authentication", "mac"], ["--handover", "nfc"]] {
      let make = ["mock", "response", "--new-transcript", scratch("transcript"), "--reader-key", scratch("key.pem")]
      #expect(await Run(make + files + options).status == 0)
      #expect(await Run(verify).status == 0)
    }
    let again = ["mock", "response", "--transcript", scratch("transcript")] + files
    #expect(await Run(again + ["--variant", "element-changed"]).status == 0)
    #expect(await Run(verify).status == 1)
  }

  @Test func combinationsThatCannotBeAreUsageErrors() async {
    let out = ["mock", "response", "--out", scratch("response")]
    for options in [
      [], ["--transcript", "a", "--new-transcript", "b"], ["--new-transcript", "b", "--authentication", "mac"],
      ["--new-transcript", "b", "--device-curve", "X25519"], ["--new-transcript", "b", "--seed", "xyz"],
    ] {
      let run = await Run(out + options)
      #expect(run.status == 64)
      #expect(run.hasOneLineOfError)
    }
    let unknown = await makeApple("--variant", "god")
    #expect(unknown.status == 64)
    #expect(unknown.error.contains("did you mean good?"))
  }

  @Test func variantsInExamplesExist() {
    let examples = MockCommand.command.verbs.flatMap(\.examples).flatMap { $0.line.split(separator: " ") }
    for (word, name) in zip(examples, examples.dropFirst()) where word == "--variant" {
      let isThere = MockVariant.named(String(name)) != nil || MockPublishedList.named(String(name)) != nil
      #expect(isThere, "\(name)")
    }
  }

  @Test func variantsAreListedWithTheirCodes() async throws {
    let list = try #require(try await Run("mock", "variants", "--json").json().array)
    #expect(list.count == MockVariant.all.count + MockPublishedList.chosen.count)
    #expect(list.allSatisfy { $0["name"]?.string != nil && $0["codes"]?.array != nil })
    let text = await Run("mock", "variants").output
    for name in MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name) { #expect(text.contains(name)) }
  }

  @Test func listsAreWrittenAsTheirPublisherServesThem() async throws {
    let scratch = try Scratch()
    let run = await Run("mock", "lists", "--lists", "http://127.0.0.1:9100", "--out", scratch("lists"), "--json")
    #expect(run.status == 0, "\(run.error)")
    let lists = try #require(try run.json()["lists"]?.array)
    #expect(lists.count == MockPublishedList.all.count { $0.manner == .serves } + MockList.ofAnchors.count)
    for list in lists {
      let file = try #require(list["file"]?.string)
      #expect(Int64(scratch.read("lists/" + file).count) == list["bytes"]?.integer, "\(file)")
    }
    let listed = scratch.read("lists/lists/status-valid")
    #expect(listed.firstRange(of: Array("http://127.0.0.1:9100/lists/status-valid".utf8)) != nil)
  }

  /// The written list, under the written certificate, is one to trust.
  @Test(arguments: [("vical-good", "vical"), ("lote", "trusted-entities")])
  func aListOfAnchorsVerifiesUnderTheCertificateBesideIt(name: String, format: String) async throws {
    let scratch = try Scratch()
    _ = await Run("mock", "lists", "--out", scratch("lists"))
    let shown = await Run(
      "trust", "show", scratch("lists/anchors/\(name)"), "--signer-anchor", scratch("lists/signers/\(format).pem"))
    #expect(shown.status == 0, "\(shown.error)")
    #expect(shown.output.contains("ACCEPTED"))
  }

  @Test func aVariantsNameSaysWhichListADocumentNames() async {
    let scratch = try? Scratch()
    let run = await Run(
      "mock", "response", "--new-transcript", scratch?("t") ?? "", "--lists", "http://127.0.0.1:9100/",
      "--variant", "status-revoked", "--out", scratch?("r") ?? "")
    #expect(run.status == 0, "\(run.error)")
    #expect(run.output.contains("revocation.document_revoked"))
    let address = Array("http://127.0.0.1:9100/lists/status-revoked".utf8)
    #expect(scratch?.read("r").firstRange(of: address) != nil)
  }

  private func requestJSON(_ request: MockRequest) -> JSON {
    let documents = request.documents.map { document -> JSON in
      [
        "doc_type": .string(document.docType),
        "elements": .array(
          document.elements.map { ["namespace": .string($0.namespace), "identifier": .string($0.identifier)] }),
        "age_over": .array(document.ageOver.map { .integer(Int64($0)) }),
      ]
    }
    return ["documents": .array(documents)]
  }
}

extension MockVariant: CustomTestStringConvertible {
  public var testDescription: String { name }
}
