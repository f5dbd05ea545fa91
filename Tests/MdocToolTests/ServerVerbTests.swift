import Base
import Testing

@testable import MdocTool

/// `mdoc demo` and the command line of `mdoc serve`.
@Suite struct ServerVerbTests {
  @Test func theDemonstrationVerifiesAndRefuses() async {
    let run = await Run("demo")
    #expect(run.status == 0, "\(run.error)")
    #expect(run.error.isEmpty)
    #expect(run.output.contains("VERIFIED at "))
    #expect(run.output.contains("given_name       Ada\n"))
    for code in ["mdoc.digest.mismatch", "session.already_used", "envelope.transcript_mismatch"] {
      #expect(run.output.contains(code))
    }
  }

  @Test func theDemonstrationGivesWhatTheServerReplied() async throws {
    let json = try await Run("demo", "--json").json()
    #expect(json["verified"]?["status"] == "verified")
    #expect(json["verified"]?["livemode"] == false)
    #expect(json["tampered"]?["last_error"]?["code"] == "mdoc.digest.mismatch")
    #expect(json["tampered"]?["result"] == .null)
    #expect(json["replayed"]?["code"] == "session.already_used")
    #expect(json["replayed_elsewhere"]?["last_error"]?["code"] == "envelope.transcript_mismatch")
  }

  @Test(
    arguments: [
      [], ["--config", "a.json", "--test-mode"], ["--config", "a.json", "--listen", "127.0.0.1:1"],
      ["--test-mode", "--listen", "0.0.0.0:8080"], ["--test-mode", "--listen", "8080"], ["--test-mode", "--seed", "x"],
      ["--test-mode", "--migrate"], ["--test-mode", "--store", "postgresql://db.example/mdoc"],
      ["--test-mode", "--store", "mysql://db.example/mdoc"],
    ])
  func serveTakesOneModeAndBindsTestModeToLoopback(options: [String]) async {
    let run = await Run(["serve"] + options)
    #expect(run.status == 64)
    #expect(run.hasOneLineOfError)
  }
}
