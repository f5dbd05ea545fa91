import Primitives
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
}
