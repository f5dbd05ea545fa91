import Base
import TestSupport
import Testing

@testable import MdocTool

/// `mdoc trust check`: certificates by the profile of their role.
@Suite struct TrustCheckTests {
  private let scratch: Scratch
  private let time = ["--at", "2026-11-20"]

  init() async throws {
    scratch = try Scratch()
    #expect(await Run(["mock", "anchors", "--out", scratch("anchors")] + time).status == 0)
  }

  @Test func anAuthorityByTheProfileIsAccepted() async throws {
    let run = await Run(["trust", "check", scratch("anchors/iaca.pem"), "--strict"] + time)
    #expect(run.status == 0)
    #expect(run.output.contains("Role       iaca (ISO/IEC 18013-5, B.1.2), guessed: it has the CA flag"))
    #expect(run.output.contains("ACCEPTED  1 certificate."))
  }

  @Test func aDeviationWarnsAndRejectsWhenStrict() async throws {
    let check = ["trust", "check", scratch("anchors/iaca-path-length-1.pem")] + time
    let lenient = await Run(check)
    #expect(lenient.status == 0)
    #expect(lenient.output.contains("warning  trust.profile.path_length  ISO/IEC 18013-5:2021, B.1.2"))
    #expect(lenient.output.contains("path length 1"))
    #expect(lenient.output.contains("What to do: Report it to the issuing authority"))
    let strict = await Run(check + ["--strict", "--json"])
    #expect(strict.status == 1)
    let json = try strict.json()
    #expect(json["accepted"] == false && json["strict"] == true)
    let checks = try #require(json["certificates"]?.array?.first?["checks"]?.array)
    let warned = checks.filter { $0["outcome"] == "warning" }
    #expect(warned.map { $0["code"] } == ["trust.profile.path_length"])
    #expect(warned.first?["remedy"]?.string?.isEmpty == false && warned.first?["detail"] == "path length 1")
  }

  @Test(arguments: [
    ("iaca-expired", "trust.certificate.expired"), ("iaca-not-yet-valid", "trust.certificate.expired"),
    ("iaca-broken-self-signature", "trust.certificate.signature_invalid"),
    ("iaca-name-constrained", "trust.certificate.critical_extension"),
  ])
  func whatIsUnusableIsRejected(name: String, code: String) async throws {
    let run = await Run(["trust", "check", scratch("anchors/\(name).pem"), "--json"] + time)
    #expect(run.status == 1)
    let checks = try #require(try run.json()["certificates"]?.array?.first?["checks"]?.array)
    #expect(checks.filter { $0["outcome"] == "failed" }.map { $0["code"]?.string } == [code])
  }

  @Test func severalFilesAreOneChainAndTheRoleIsTheLeafs() async throws {
    let files = ["iaca", "iaca-other-doc-type"].map { scratch("anchors/\($0).pem") }
    let both = await Run(["trust", "check"] + files + ["--json"] + time)
    #expect(both.status == 0)
    #expect(try both.json()["certificates"]?.array?.count == 2)
    let one = try scratch.write("both.pem", scratch.read("anchors/iaca.pem") + scratch.read("anchors/iaca-expired.pem"))
    let run = await Run(["trust", "check", one, "--as", "document-signer", "--json"] + time)
    #expect(run.status == 1)
    let certificates = try #require(try run.json()["certificates"]?.array)
    #expect(certificates.map { $0["source"]?.string } == ["\(one), certificate 1", "\(one), certificate 2"])
    #expect(certificates.allSatisfy { $0["role"] == "document-signer" && $0["guessed_by"] == .null })
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func aPublishedKeyIsNamedWithItsPlace() async throws {
    let file = PublishedVectors.folder + "/isomdl-certs/owf_multipaz_iaca_p384.pem"
    let text = await Run(["trust", "check", file] + time)
    #expect(text.output.contains("live mode never trusts it: its key is a published test key"))
    let json = try await Run(["trust", "check", file, "--json"] + time).json()
    #expect(json["certificates"]?.array?.first?["published_key"]?.string?.contains("multipaz") == true)
  }

  @Test func aCertificateThatIsNoneIsAFindingAndAFileWithoutOneAnError() async throws {
    let broken = try scratch.write("broken.der", [0x30, 0x03, 0x02, 0x01, 0x00])
    let run = await Run(["trust", "check", broken, "--json"] + time)
    #expect(run.status == 1)
    let check = try #require(try run.json()["certificates"]?.array?.first?["checks"]?.array?.first)
    #expect(check["code"] == "trust.certificate.malformed")
    let empty = try scratch.write("empty.pem", "nothing here")
    for file in [empty, scratch("absent")] {
      let run = await Run("trust", "check", file)
      #expect(run.status == 65 && run.hasOneLineOfError)
    }
    #expect(await Run("trust", "check").status == 64)
    #expect(await Run("trust", "check", broken, "--as", "king").status == 64)
  }
}
