import Base
import TestSupport
import Testing

@testable import MdocTool

/// `mdoc verify apple` on Apple's published sample.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct VerifyAppleTests {
  private let folder = PublishedVectors.folder + "/apple-in-app/sample"
  private let nonce: String

  init() throws {
    let parameters = try PublishedVectors.bytes("apple-in-app/sample/session_transcript_parameters.txt")
    let line = try #require(String(decoding: parameters, as: UTF8.self).split(separator: "\n").first)
    nonce = String(line.dropFirst("Nonce: ".count))
  }

  private func verify(
    envelope: String? = nil, key: String? = nil, trust: String? = nil, at time: String = "2022-06-01T00:00:00Z",
    _ more: String...
  ) async -> Run {
    await Run(
      [
        "verify", "apple", "--envelope", envelope ?? folder + "/hpke_envelope.cbor", "--nonce", nonce,
        "--merchant-id", "PassKit_Identity_Test_Merchant_ID", "--team-id", "PassKit_Identity_Test_Team_ID",
        "--key", key ?? folder + "/merchant_encryption_private_scalar.hex",
        "--trust", trust ?? folder + "/issuer_root.crt", "--at", time,
      ] + more)
  }

  @Test func theSampleVerifiesWithAllItsElements() async throws {
    let run = await verify("--json")
    #expect(run.status == 0)
    let json = try run.json()
    #expect(Set(json.object?.map(\.name) ?? []) == ["status", "last_error", "result", "report", "nothing_disclosed"])
    #expect(json["status"] == "verified")
    #expect(json["last_error"] == .null)
    let elements = try #require(json["result"]?["documents"]?.array?.first?["elements"]?.object)
    #expect(elements.reduce(0) { $0 + ($1.value.object?.count ?? 0) } == 22)
  }

  @Test func theTextShowsVerdictElementsAndChecks() async throws {
    let run = await verify("--all")
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("VERIFIED at 2022-06-01T00:00:00Z\n"))
    #expect(run.output.contains("given_name              Jane\n"))
    #expect(run.output.contains("portrait                image/jpeg, 1042 bytes\n"))
    #expect(
      run.output.contains(
        """
          passed   Every returned element matches its signed digest
                   mdoc.digest.mismatch · ISO/IEC 18013-5:2021, 9.3.1

        """))
    #expect(run.output.contains("not run  revocation.signer_revoked · "))
    #expect(!run.output.contains("\u{1b}"))
    #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test(
    arguments: [
      ("2022-03-31T22:48:31Z", "0", nil), ("2022-03-31T22:48:30Z", "0", "mdoc.validity.not_yet_valid"),
      ("2023-03-22T22:48:31Z", "0", nil), ("2023-03-22T22:48:32Z", "0", "mdoc.validity.expired"),
      ("2023-03-22T22:49:31Z", "60", nil), ("2023-03-22T22:49:32Z", "60", "mdoc.validity.expired"),
    ] as [(String, String, String?)])
  func itIsRefusedOutsideItsWindow(time: String, skew: String, code: String?) async throws {
    let run = await verify(at: time, "--clock-skew", skew, "--json")
    #expect(run.status == (code == nil ? 0 : 1))
    let json = try run.json()
    let codes = json["last_error"]?["reasons"]?.array?.compactMap { $0["code"]?.string } ?? []
    #expect(code.map { codes.contains($0) } ?? codes.isEmpty)
    if code != nil { #expect(json["result"] == .null) }
  }

  @Test func onlyWhatIsAskedIsShown() async throws {
    let scratch = try Scratch()
    let request =
      #"{"documents":[{"doc_type":"org.iso.18013.5.1.mDL","accept_expired":true,"#
      + #""elements":[{"namespace":"org.iso.18013.5.1","identifier":"family_name"}]}]}"#
    let file = try scratch.write("request.json", request)
    for source in [request, file] {
      let json = try await verify("--request", source, "--json").json()
      let document = try #require(json["result"]?["documents"]?.array?.first)
      #expect(document["elements"] == ["org.iso.18013.5.1": ["family_name": "Doe"]])
    }
    let declined = await verify("--request", request.replacing("family_name", with: "eye_colour"))
    #expect(declined.status == 1)
    #expect(declined.output.hasPrefix("DECLINED"))
    #expect(!declined.output.contains("Jane"))
  }

  @Test func strictRejectsWhatElseWarns() async {
    #expect(await verify("--strict").status == 1)
  }

  @Test func rawHexAndBase64AreOneAnswer() async throws {
    let scratch = try Scratch()
    let bytes = try PublishedVectors.hex("apple-in-app/sample/hpke_envelope.cbor")
    let base64 = Base64.encode(bytes)
    let wrapped = stride(from: 0, to: base64.utf8.count, by: 76)
      .map { String(base64.dropFirst($0).prefix(76)) }.joined(separator: "\r\n")
    let files = [
      try scratch.write("raw", bytes), try scratch.write("base64", wrapped + "\n"),
      try scratch.write("url", Base64.encodeURLSafe(bytes)), try scratch.write("hex", Hex.encode(bytes).uppercased()),
    ]
    for file in files { #expect(await verify(envelope: file).status == 0, "\(file)") }
  }

  @Test func garbledAnswersAreRejectedWhateverTheyHold() async throws {
    let scratch = try Scratch()
    let bytes = try PublishedVectors.hex("apple-in-app/sample/hpke_envelope.cbor")
    let contents: [[UInt8]] = [
      [], [0xff], Array("not an answer".utf8), Array("zz".utf8), Array("abc".utf8), Array(bytes.dropLast()),
      bytes + [0], [UInt8](repeating: 0x5b, count: 40), [UInt8](repeating: 0, count: 2 << 20),
    ]
    for (index, content) in contents.enumerated() {
      let run = await verify(envelope: try scratch.write("answer", content))
      #expect(run.status == 1, "\(index)")
      #expect(run.output.hasPrefix("REJECTED"))
      #expect(run.error.isEmpty)
    }
  }

  @Test func ourOwnFilesMustBeReadable() async throws {
    let scratch = try Scratch()
    let empty = try scratch.write("empty", "")
    let noise = try scratch.write("noise", "nothing of the kind")
    let settings = try scratch.write("anchor.json", #"{"unknown": 1}"#)
    let anchor = try scratch.write("anchor.pem", PublishedVectors.bytes("apple-in-app/sample/issuer_root.crt"))
    #expect(!settings.isEmpty)
    for path in [scratch("absent"), empty, noise, scratch.path, anchor] {
      let run = await verify(trust: path)
      #expect(run.status == 65)
      #expect(run.hasOneLineOfError)
      #expect(run.error.contains(scratch.path))
    }
    for path in [scratch("absent"), empty, noise, scratch.path] {
      #expect(await verify(key: path).status == 65)
      #expect(await verify("--request", path).status == 65)
    }
    #expect(await verify(envelope: scratch("absent")).status == 65)
    #expect(await verify(envelope: scratch.path).status == 65)
  }

  @Test func mistypedValuesAreUsageErrors() async {
    #expect(await verify(at: "yesterday").status == 64)
    #expect(await verify("--clock-skew", "-1").status == 64)
    #expect(await verify("--request", "{").status == 64)
    #expect(await verify("--request", #"{"documents": [], "more": 1}"#).error.contains("/more is unknown"))
    #expect(await verify("--nonce", "00").error.contains("--nonce is given twice"))
  }
}
