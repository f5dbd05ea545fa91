import App
import Base
import Cryptography
import FoundationEssentials
import Mock
import Testing

@testable import MdocTool

/// `--html` and `--all` of `mdoc verify`.
@Suite struct VerifyPageTests {
  private let scratch: Scratch

  init() async throws {
    scratch = try Scratch()
    _ = await Run("mock", "anchors", "--out", scratch("anchors"))
  }

  private func verify(variant: String = "good", person: JSON? = nil, _ more: String...) async throws -> Run {
    var words = ["--new-transcript", scratch("t"), "--variant", variant, "--out", scratch("r")]
    if let person { words += ["--person", try scratch.write("person", person.serialized())] }
    let made = await Run(["mock", "response"] + words)
    try #require(made.status == 0, "\(made.error)")
    return await Run(
      ["verify", "response", "--response", scratch("r"), "--transcript", scratch("t"), "--trust", scratch("anchors")]
        + more)
  }

  private var page: String { String(decoding: scratch.read("page"), as: UTF8.self) }

  private func request(_ elements: String...) -> String {
    let names = elements.map { "{\"namespace\":\"org.iso.18013.5.1\",\"identifier\":\"\($0)\"}" }
    return "{\"documents\":[{\"doc_type\":\"org.iso.18013.5.1.mDL\",\"elements\":[\(names.joined(separator: ","))]}]}"
  }

  @Test func `A page has the verdict, the request, the values, the files and every check, and no script`() async throws
  {
    let run = try await verify("--html", scratch("page"), "--request", request("given_name", "portrait"))
    #expect(run.status == 0, "\(run.error)")
    #expect(page.contains("<h1 class=\"verdict good\">VERIFIED at "))
    #expect(page.contains("<h2>Asked for</h2>") && page.contains("<dd>given_name, portrait</dd>"))
    #expect(page.contains("<dt>given_name</dt><dd>Ada</dd>") && page.contains("mdoc Mock Document Signer"))
    #expect(page.contains("<img src=\"data:image/jpeg;base64,"))
    #expect(!page.contains("<script") && !page.contains("script-src"))
    #expect(page.contains("content=\"default-src 'none'; style-src 'sha256-"))
    for file in ["r", "t"] { #expect(page.contains(Hex.encode(HashAlgorithm.sha256.hash(scratch.read(file))))) }
    let json = try await verify("--json", "--request", request("given_name", "portrait")).json()
    let checks =
      (json["report"]?["checks"]?.array ?? []) + (json["report"]?["documents"]?.array?.first?["checks"]?.array ?? [])
    #expect(checks.count > 80)
    for check in checks {
      let code = try #require(check["code"]?.string)
      #expect(page.contains("<code>\(code)</code> <small>\(check["clause"]?.string ?? "none")"), "\(code)")
    }
    #expect(page.ranges(of: "<details>").count > 8 && !page.contains("<details open>"))
  }

  @Test func `A portrait that nobody asked for is not shown as an image`() async throws {
    #expect(try await verify("--html", scratch("page")).status == 0)
    #expect(page.contains("<dt>portrait</dt><dd>image/jpeg, ") && !page.contains("<img"))
    #expect(try await verify("--html", scratch("page"), "--request", request("given_name")).status == 0)
    #expect(!page.contains("<dt>portrait</dt>") && !page.contains("<img"))
  }

  @Test func `A rejected response shows no value, and the group of each failed check is open`() async throws {
    let run = try await verify(variant: "device-signature-zero", "--html", scratch("page"))
    #expect(run.status == 1)
    #expect(page.contains("<h1 class=\"verdict bad\">REJECTED at ") && !page.contains("Morgan"))
    #expect(page.ranges(of: "<details open>").count == 1)
    let group = try #require(page.ranges(of: "<details open>").first).upperBound
    let first = try #require(page[group...].ranges(of: "<tr class=\"failed\">").first)
    #expect(page[group..<first.lowerBound].ranges(of: "<tr").isEmpty, "failed checks come first")
    #expect(page.contains(Code.deviceSignatureInvalid.entry.remedy.replacing("'", with: "&#39;")))
  }

  @Test func `Values have no effect on the page`() async throws {
    let person = try JSON(parsing: Array(await Run("mock", "person").output.utf8))
    let text = String(decoding: person.serialized(), as: UTF8.self)
      .replacing("\"Ada\"", with: "\"<script>alert(1)</script>\\\"'&\\u202eadA\"")
    #expect(
      try await verify(
        person: JSON(parsing: Array(text.utf8)), "--html", scratch("page"), "--request",
        request("given_name")
      ).status == 0)
    let shown = "<dd>&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u{202e}adA</dd>"
    #expect(page.contains("<dt>given_name</dt>\(shown)"))
    #expect(!page.contains("<script") && !page.unicodeScalars.contains { $0.isHiddenControl })
  }

  @Test func `Only its owner may read a page`() async throws {
    #expect(try await verify("--html", scratch("page")).status == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: scratch("page"))[.posixPermissions]
    #expect("\(mode ?? 0)" == "384", "0600")
    let failed = try await verify("--html", scratch("none/page"))
    #expect(failed.status == 65 && failed.hasOneLineOfError)
  }

  @Test func `Text counts what passed by group, and shows each check with --all`() async throws {
    let run = try await verify()
    #expect(run.output.split(separator: "\n").count < 50 && !run.output.contains("mdoc.issuer_auth.missing"))
    #expect(run.output.contains("  passed   Issuer authentication (8 passed, 1 not run)\n"))
    #expect(run.output.contains("  passed   Mobile security object (5)\n") && run.output.contains("--all shows"))
    let all = try await verify("--all")
    #expect(all.output.contains("mdoc.issuer_auth.missing") && !all.output.contains("--all shows"))
    // The responses are made one after the other, so their times may differ; the checks do not.
    func codes(_ run: Run) -> [Substring] { run.output.matches(of: /"code": ?"[a-z0-9_.]+"/).map(\.output) }
    let folded = codes(try await verify("--json", "--at", "2026-12-01"))
    let whole = codes(try await verify("--json", "--all", "--at", "2026-12-01"))
    #expect(folded.count > 50 && folded == whole)
  }

  @Test func `Text shows failed checks and warnings whole`() async throws {
    let failed = try await verify(variant: "device-signature-zero", "--at", "2040-01-01").output
    for code in [Code.anchorExpired, .expired, .deviceSignatureInvalid] {
      #expect(failed.contains("  FAILED   \(code.entry.summary)\n           \(code.rawValue) · \(code.entry.clause)\n"))
    }
    let warned = try await verify(variant: "elements-none").output
    #expect(warned.contains("  warning  \(Code.nothingDisclosed.entry.summary)"))
    #expect(warned.contains("           \(Code.nothingDisclosed.rawValue) · "))
  }
}
