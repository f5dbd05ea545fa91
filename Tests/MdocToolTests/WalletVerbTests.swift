import Base
import Cryptography
import FoundationEssentials
import HTTP
import PKIX
import TestMode
import Testing

@testable import MdocTool
@testable import Mock

/// `mdoc wallet` against a server in test mode.
@Suite struct WalletVerbTests {
  private struct Verifier {
    let mode: TestServer
    let client: LoopbackClient

    init() throws {
      mode = try TestServer.start(TestModeOptions())
      client = LoopbackClient(port: mode.server.listen.port, token: mode.apiKey)
    }

    func session(_ protocolName: String, elements: [String] = ["given_name"]) async throws -> JSON {
      let elements = elements.map { name -> JSON in
        ["namespace": .string(MockNamespace.mDL), "identifier": .string(name)]
      }
      let isOfPage = protocolName.hasPrefix("openid4vp-v1") || protocolName == "org-iso-mdoc"
      let origin: JSON? = isOfPage ? .string(mode.origins[0]) : nil
      let created = try await client.post(
        "/v1/verification_sessions",
        .members([
          "protocols": [.string(protocolName)], "origin": origin,
          "documents": [["doc_type": .string(MockDocType.mDL), "elements": .array(elements)]],
        ]))
      #expect(created.status == 201, "\(created.body)")
      return created.body
    }

    func link(_ session: JSON) throws -> String {
      try #require(session["requests"]?.array?.first?["data"]?["authorization_request"]?.string)
    }

    /// The session's status, and the code of its rejection.
    func end(of session: JSON) async throws -> [String] {
      let body = try await client.get("/v1/verification_sessions/\(session["id"]?.string ?? "")").body
      return [body["status"]?.string, body["last_error"]?["code"]?.string].compactMap { $0 }
    }

    func stop() async { await mode.server.stop(drainSeconds: 0) }
  }

  @Test(arguments: ["openid4vp", "openid4vp-iso-18013-7-annex-b"])
  func `A link is answered, rightly and wrongly`(protocolName: String) async throws {
    let verifier = try Verifier()
    let right = try await verifier.session(protocolName)
    let run = await Run("wallet", "--yes", "--json", try verifier.link(right))
    #expect(run.status == 0, "\(run.output) \(run.error)")
    let json = try run.json()
    #expect(json["answered"] == "good" && json["status"] == 200 && json["checks"]?.array?.isEmpty == true, "\(json)")
    #expect(try await verifier.end(of: right) == ["verified"])

    let wrong = try await verifier.session(protocolName)
    let other = await Run("wallet", "--yes", "--variant", "device-signature-zero", try verifier.link(wrong))
    #expect(other.output.contains("device-signature-zero") && other.output.contains("given_name"), "\(other.output)")
    #expect(try await verifier.end(of: wrong).first == "failed")
    await verifier.stop()
  }

  @Test func `A wallet with a signer of another authority is that authority's`() async throws {
    let (verifier, scratch) = (try Verifier(), try Scratch())
    let authority = verifier.mode.authority
    let now = Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970))
    let signer = try MockSigner(authority: authority, under: authority.certificateIssuer(.good), at: now)
    try scratch.write("key", Hex.encode(signer.key.scalar().exposed()))
    try scratch.write("chain", PEM.encode(certificate: authority.documentSigner(at: now)))
    let options = ["wallet", "--yes", "--issuer-key", scratch("key"), "--issuer-chain"]
    let session = try await verifier.session("openid4vp")
    let run = await Run(options + [scratch("chain"), try verifier.link(session)])
    #expect(run.status == 0, "\(run.output) \(run.error)")
    #expect(try await verifier.end(of: session) == ["verified"])
    try scratch.write("other", PEM.encode(certificate: authority.anchor(at: now).certificate))
    let other = await Run(options + [scratch("other"), try verifier.link(session)])
    #expect(other.status == 65 && other.error.contains("is not the key of"), "\(other.error)")
    await verifier.stop()
  }

  @Test func `A request that must be refused is refused, unless its code is named`() async throws {
    let verifier = try Verifier()
    let session = try await verifier.session("openid4vp")
    let link = try verifier.link(session).replacing(/client_id=[^&]*/, with: "client_id=x509_hash%3AAAAA")
    let refused = await Run("wallet", "--yes", "--json", link)
    #expect(refused.status == 1, "\(refused.output) \(refused.error)")
    #expect(try refused.json()["error"] == "invalid_request", "\(refused.output)")
    #expect(try refused.json()["status"] == nil, "nothing is sent to a party that is not known")
    #expect(try await verifier.end(of: session) == ["requires_input"])
    let answered = await Run("wallet", "--yes", "--despite", "request.client_id_mismatch", link)
    #expect(answered.status == 0, "\(answered.output) \(answered.error)")
    #expect(try await verifier.end(of: session) == ["verified"])
    await verifier.stop()
  }

  @Test func `What is required and lacking is refused, and the verifier learns it`() async throws {
    let verifier = try Verifier()
    let session = try await verifier.session("openid4vp", elements: ["given_name", "no_such_element"])
    let run = await Run("wallet", "--yes", "--json", try verifier.link(session))
    #expect(run.status == 1)
    #expect(try run.json()["error"] == "access_denied", "\(run.output)")
    #expect(try await verifier.end(of: session).first == "canceled")
    await verifier.stop()
  }

  @Test func `Transaction data of an unknown type is refused with its own error`() async throws {
    let listener = try ScriptedListener(replies: [
      nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    ])
    let asked = parameters(listener, query: #"{"credentials":[\#(Self.mdoc)]}"#)
    let link = "openid4vp://?" + FormEncoding.text(of: asked + [("transaction_data", #"["eyJ0eXBlIjoieCJ9"]"#)])
    let run = await Run("wallet", "--yes", "--json", link)
    #expect(run.status == 1, "\(run.output) \(run.error)")
    #expect(try run.json()["error"] == "invalid_transaction_data", "\(run.output)")
    #expect(try run.json()["status"] == 200)
  }

  @Test(arguments: ["openid4vp-v1-signed", "openid4vp-v1-unsigned", "openid4vp-v1-multisigned", "org-iso-mdoc"])
  func `A page's request is answered into a file`(protocolName: String) async throws {
    let (verifier, scratch) = (try Verifier(), try Scratch())
    let session = try await verifier.session(protocolName)
    try scratch.write("request", (session["requests"]?.array?.first ?? .null).serialized())
    let arguments = ["wallet", "--yes", "--request", scratch("request"), "--out", scratch("response")]
    let origin = verifier.mode.origins[0]
    let run = await Run(arguments + ["--origin", origin])
    #expect(run.status == 0, "\(run.output) \(run.error)")
    let submitted = try await verifier.client.post(
      "/v1/verification_sessions/\(session["id"]?.string ?? "")/submit", JSON(parsing: scratch.read("response")))
    #expect(submitted.body["status"] == "verified", "\(submitted.body)")
    if protocolName.hasSuffix("signed"), !protocolName.contains("unsigned") {
      let elsewhere = await Run(arguments + ["--origin", "https://evil.example", "--json"])
      #expect(elsewhere.status == 1 && elsewhere.output.contains("reader_auth.origin_mismatch"), "\(elsewhere.output)")
    }
    await verifier.stop()
  }

  @Test(
    arguments: [
      (["openid4vp://?client_id=a&request_uri=https://verifier.example/request"], "--i-may-test verifier.example"),
      (["no-such-file.png"], "neither a link"), ([], "either a link or --request"),
      (["--despite", "request.nothing", "openid4vp://?client_id=a"], "no code of a request request.nothing"),
      (["--issuer-key", "key.pem", "openid4vp://?client_id=a"], "--issuer-key and --issuer-chain together"),
      (["--request", "request.json"], "--origin"), (["--request", "r", "--origin", "https://a.example"], "--out"),
      (["--i-may-test", "https://a.example", "openid4vp://?client_id=a"], "only a host"),
      (["--yes", "--device-curve", "X25519", "openid4vp://?client_id=a"], "cannot sign"),
    ])
  func `What cannot be done is said`(arguments: [String], message: String) async {
    let run = await Run(["wallet"] + arguments)
    #expect(run.status == 64, "\(run.output)")
    #expect(run.hasOneLineOfError && run.error.contains(message), "\(run.error)")
  }

  /// The parameters of an unsigned request for one mDL element, to a listener.
  private func parameters(_ listener: ScriptedListener, query: String) -> [(name: String, value: String)] {
    let metadata = #"{"vp_formats_supported":{"mso_mdoc":{"issuerauth_alg_values":[-7],"deviceauth_alg_values":[-7]}}}"#
    return [
      ("client_id", "redirect_uri:\(listener.url)"), ("response_uri", listener.url), ("response_type", "vp_token"),
      ("response_mode", "direct_post"), ("nonce", "n-0S6_WzA2Mj-0123456789"), ("dcql_query", query),
      ("client_metadata", metadata),
    ]
  }

  private static let mdoc =
    #"{"id":"a","format":"mso_mdoc","meta":{"doctype_value":"org.iso.18013.5.1.mDL"},"#
    + #""claims":[{"path":["org.iso.18013.5.1","given_name"]}]}"#

  @Test func `A document of another format may stand beside, and a lost redirect loses no reply`() async throws {
    let body = #"{"redirect_uri":"http://127.0.0.1:1/"}"#
    let listener = try ScriptedListener(replies: [
      nil,
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body,
    ])
    let other = #"{"id":"b","format":"dc+sd-jwt","meta":{"vct_values":["x"]},"claims":[{"path":["y"]}]}"#
    let query = #"{"credentials":[\#(other),\#(Self.mdoc)],"credential_sets":[{"options":[["b"],["a"]]}]}"#
    let run = await Run(
      "wallet", "--yes", "--json", "openid4vp://?" + FormEncoding.text(of: parameters(listener, query: query)))
    #expect(run.status == 0, "\(run.output) \(run.error)")
    let json = try run.json()
    #expect(json["answered"] == "good" && json["status"] == 200, "\(json)")
    #expect(json["redirect_reply"]?.string?.contains("connect") == true, "\(json)")
  }

  @Test func `Variants that need another certificate are not for a given signer`() async throws {
    let (verifier, scratch) = (try Verifier(), try Scratch())
    let authority = verifier.mode.authority
    let now = Timestamp(secondsSince1970: Int64(Date().timeIntervalSince1970))
    let signer = try MockSigner(authority: authority, under: authority.certificateIssuer(.good), at: now)
    try scratch.write("key", Hex.encode(signer.key.scalar().exposed()))
    try scratch.write("chain", PEM.encode(certificate: authority.documentSigner(at: now)))
    let session = try await verifier.session("openid4vp")
    let run = await Run([
      "wallet", "--yes", "--variant", "signer-expired", "--issuer-key", scratch("key"), "--issuer-chain",
      scratch("chain"), try verifier.link(session),
    ])
    #expect(run.status == 64 && run.error.contains("certificate other than"), "\(run.error)")
    await verifier.stop()
  }

  @Test func `Without a terminal nothing is answered unasked`() async throws {
    let verifier = try Verifier()
    let session = try await verifier.session("openid4vp")
    let run = await Run("wallet", "--json", try verifier.link(session))
    #expect(run.status == 64 && run.error.contains("--yes"), "\(run.error)")
    #expect(try await verifier.end(of: session) == ["requires_input"])
    await verifier.stop()
  }
}
