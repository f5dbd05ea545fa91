import Base
import CBOR
import Cryptography
import TestSupport
import Testing

@testable import MdocTool

/// `mdoc verify response` on the worked example of ISO/IEC 18013-5, Annex D.
@Suite(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
struct VerifyResponseTests {
  private struct Manifest: Decodable {
    struct Keys: Decodable { let eReaderKey: Key }
    struct Key: Decodable { let d: String }
    let keys: Keys
  }

  private let folder = PublishedVectors.folder + "/iso18013-5-annexD"
  private let scratch: Scratch
  private let readerKey: String

  init() throws {
    scratch = try Scratch()
    let manifest: Manifest = try PublishedVectors.json("iso18013-5-annexD/manifest.json")
    readerKey = try scratch.write("reader.hex", manifest.keys.eReaderKey.d + "\n")
  }

  private func verify(transcript: String? = nil, _ more: String...) async -> Run {
    await Run(
      [
        "verify", "response", "--response", folder + "/D.4.1.2-device-response.cbor",
        "--transcript", transcript ?? folder + "/D.5.1-session-transcript.cbor",
        "--trust", folder + "/D.5.2-iaca-cert.der", "--at", "2020-12-01T00:00:00Z", "--json",
      ] + more)
  }

  @Test func itVerifiesWithItsDeviceMac() async throws {
    let run = await verify("--reader-key", readerKey)
    #expect(run.status == 0)
    let document = try #require(try run.json()["result"]?["documents"]?.array?.first)
    #expect(document["device_authentication"] == "mac")
    #expect(document["elements"]?["org.iso.18013.5.1"]?.object?.count == 6)
  }

  @Test func aRequestMayBeADCQLQuery() async throws {
    func query(_ element: String) -> String {
      """
      {"credentials": [{"id": "a", "format": "mso_mdoc", "meta": {"doctype_value": "org.iso.18013.5.1.mDL"},
        "claims": [{"path": ["org.iso.18013.5.1", "\(element)"]}]}]}
      """
    }
    let run = await verify("--reader-key", readerKey, "--request", query("family_name"))
    #expect(run.status == 0)
    let document = try #require(try run.json()["result"]?["documents"]?.array?.first)
    #expect(document["elements"]?["org.iso.18013.5.1"]?.object?.map(\.name) == ["family_name"])
    let missing = await verify("--reader-key", readerKey, "--request", query("height"))
    #expect(missing.status == 1)
    #expect(try missing.json()["last_error"]?["code"] == "policy.element_missing")
    let other = #"{"credentials": [{"id": "a", "format": "dc+sd-jwt", "meta": {"vct_values": ["v"]}}]}"#
    let refused = await verify("--reader-key", readerKey, "--request", other)
    #expect(refused.status == 64 && refused.error.contains("/credentials/0/format"))
  }

  /// As the HTTP API takes it: PEM, or the scalar in base64url on the curve of the session's key.
  @Test func theReaderKeyMayBeInBase64URL() async throws {
    let scalar = try #require(Hex.decode(String(decoding: scratch.read("reader.hex").dropLast(), as: UTF8.self)))
    let key = try scratch.write("reader.b64", Base64.encodeURLSafe(scalar) + "\n")
    #expect(await verify("--reader-key", key).status == 0)
    let parts = try await run(response + parts() + request + ["--reader-key", key])
    #expect(parts.status == 0)
    let short = await verify("--reader-key", try scratch.write("short", Base64.encodeURLSafe(Array(scalar.dropLast()))))
    #expect(short.status == 65 && short.error.contains("a scalar on P-256 in hexadecimal or base64url"))
  }

  @Test func theReaderKeyIsOnTheCurveOfTheSession() async throws {
    let secret = [UInt8](repeating: 0x11, count: 48)
    let key = try PrivateKey(curve: .p384, scalar: secret)
    let pem = try scratch.write("p384.pem", key.pem())
    let scalar = try scratch.write("p384", Base64.encodeURLSafe(secret))
    _ = await Run("mock", "anchors", "--out", scratch("anchors"))
    let made = await Run(
      "mock", "response", "--new-transcript", scratch("t"), "--authentication", "mac", "--reader-key", pem,
      "--device-curve", "P-384", "--out", scratch("r"))
    try #require(made.status == 0, "\(made.error)")
    let run = await Run(
      "verify", "response", "--response", scratch("r"), "--transcript", scratch("t"), "--trust", scratch("anchors"),
      "--reader-key", scalar)
    #expect(run.status == 0, "\(run.output) \(run.error)")
  }

  @Test func aRequestThatIsNotJSONSaysWhere() async throws {
    let file = try scratch.write("request.json", "{\n  \"documents\": [}\n")
    let run = await verify("--reader-key", readerKey, "--request", file)
    #expect(run.status == 65 && run.error == "mdoc: request \(file): is not valid JSON at line 2, column 17\n")
  }

  @Test func theTaggedTranscriptIsTheSame() async {
    let tagged = folder + "/D.5.1-session-transcript-bytes.cbor"
    #expect(await verify(transcript: tagged, "--reader-key", readerKey).status == 0)
  }

  @Test func withoutTheReaderKeyTheMacIsRefused() async throws {
    let run = await verify()
    #expect(run.status == 1)
    #expect(try run.json()["last_error"]?["code"] == "mdoc.device_auth.mac_not_allowed")
  }

  @Test func aTranscriptThatIsNoneIsOurFault() async throws {
    let files = [
      scratch("absent"), try scratch.write("empty", ""), try scratch.write("text", "no transcript"),
      try scratch.write("map", [0xa0]), try scratch.write("short", [0x82, 0xf6, 0xf6]),
    ]
    for file in files {
      let run = await verify(transcript: file)
      #expect(run.status == 65)
      #expect(run.hasOneLineOfError)
      #expect(run.output.isEmpty)
    }
  }

  /// A proof of noon, at ten o'clock of the same day.
  @Test func aProofOfALaterHourNeedsItsFlag() async throws {
    let circuits = ["--circuits", PublishedVectors.folder + "/longfellow/circuits"]
    let request = [
      "--request", #"{"documents":[{"doc_type":"org.iso.18013.5.1.mDL","age_over":[21],"zk":"required"}]}"#,
    ]
    let noon = ["--at", "2026-11-20T12:00:00Z"]
    #expect(await Run(["mock", "anchors", "--out", scratch("anchors")] + noon).status == 0)
    let made = await Run(
      ["mock", "response", "--new-transcript", scratch("t"), "--out", scratch("r")] + circuits + request + noon)
    #expect(made.status == 0, "\(made.error)")
    let words =
      ["verify", "response", "--response", scratch("r"), "--transcript", scratch("t"), "--trust", scratch("anchors")]
      + circuits + request + ["--at", "2026-11-20T10:00:00Z", "--json"]
    let strict = await Run(words)
    #expect(strict.status == 1)
    #expect(try strict.json()["last_error"]?["code"] == "zk.timestamp_in_future")
    let run = await Run(words + ["--zk-end-of-day"])
    #expect(run.status == 0, "\(run.output) \(run.error)")
    #expect(try run.json()["result"]?["documents"]?.array?.first?["proven_by"] == "zero_knowledge")
  }

  // MARK: Parts of the transcript

  /// The parts that the transcript is made of, as files.
  private func parts() throws -> [String] {
    let transcript = try CBORItem(parsing: PublishedVectors.bytes("iso18013-5-annexD/D.5.1-session-transcript.cbor"))
    let elements = try #require(transcript.elements.map { Array($0) })
    let files = try elements[..<2].enumerated().map { index, element in
      try scratch.write("part\(index)", Array(try #require(element.content(ofTag: 24)?.bytes)))
    }
    return [
      "--device-engagement", files[0], "--e-reader-key", files[1], "--handover", "nfc", "--nfc-select",
      folder + "/D.3.3-nfc-handover-select.bin",
    ]
  }

  private var request: [String] { ["--nfc-request", folder + "/D.3.2-nfc-handover-request.bin"] }

  private func run(_ words: [String]) async -> Run {
    await Run(
      [
        "verify", "response", "--trust", folder + "/D.5.2-iaca-cert.der", "--at", "2020-12-01T00:00:00Z", "--json",
      ] + words)
  }

  private var response: [String] { ["--response", folder + "/D.4.1.2-device-response.cbor"] }

  @Test func thePartsOfTheTranscriptDoAsWell() async throws {
    let run = try await run(response + parts() + request + ["--reader-key", readerKey])
    #expect(run.status == 0)
    #expect(try run.json()["result"]?["documents"]?.array?.first?["device_authentication"] == "mac")
  }

  @Test func theEngagementMayBeTheTextOfAQRCode() async throws {
    var words = try parts() + request
    let engagement = try PublishedVectors.bytes("iso18013-5-annexD/D.3.1-device-engagement-qr.cbor")
    words[1] = try scratch.write("qr", "mdoc:" + Base64.encodeURLSafe(engagement) + "\n")
    let run = await run(response + words + ["--reader-key", readerKey])
    // It is readable, but the response is for another engagement.
    #expect(try run.json()["last_error"]?["code"] == "mdoc.device_auth.mac_invalid")
  }

  @Test func theEncryptedMessageDoesAsWell() async throws {
    let message = ["--session-data", folder + "/D.5.1-session-data.cbor"]
    #expect(try await run(message + parts() + request + ["--reader-key", readerKey]).status == 0)
    let isStatic = try await run(message + parts() + ["--reader-key", readerKey])
    #expect(isStatic.status == 1)
    #expect(try isStatic.json()["last_error"]?["code"] == "envelope.decryption_failed")
    let withoutKey = try await run(message + parts() + request)
    #expect(withoutKey.status == 64 && withoutKey.hasOneLineOfError)
  }

  @Test func anotherReaderKeyIsRefused() async throws {
    let other = try scratch.write("other.hex", String(repeating: "11", count: 32))
    let run = try await run(response + parts() + request + ["--reader-key", other])
    #expect(run.status == 1)
    #expect(try run.json()["last_error"]?["code"] == "proximity.reader_key_mismatch")
  }

  @Test func optionsThatDoNotGoTogetherAreAUsageError() async throws {
    let transcript = ["--transcript", folder + "/D.5.1-session-transcript.cbor"]
    let parts = try parts()
    let message = ["--session-data", folder + "/D.5.1-session-data.cbor"]
    let isQR = parts[..<4] + ["--handover", "qr"] + parts[6...]
    let wrong: [[String]] = [
      response, transcript, parts, message + transcript, response + transcript + parts, response + message + parts,
      response + Array(parts[..<2]), response + Array(parts[..<4]), response + Array(parts[..<6]),
      response + Array(parts[2...]), response + Array(isQR),
    ]
    for words in wrong {
      let run = await run(words)
      #expect(run.status == 64, "\(words)")
      #expect(run.hasOneLineOfError)
    }
  }

  @Test func partsThatAreNoneAreOurFault() async throws {
    var words = try parts()
    let text = try scratch.write("text", "no engagement")
    for index in [1, 3] {
      let good = words[index]
      words[index] = text
      let run = await run(response + words)
      #expect(run.status == 65 && run.hasOneLineOfError)
      words[index] = good
    }
  }
}
