import Base
import Mdoc
import Mock
import PKIX
import Presentation
import Testing

@testable import MdocTool

/// `mdoc verify request`: where the request comes from, and what is printed. The rules have tests of their own.
@Suite struct VerifyRequestTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private let client = "redirect_uri%3Ahttps%3A%2F%2Fshop.example%2Fr"

  private func link(nonce: String = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA", more: String = "") -> String {
    let query = #"{"credentials":[{"id":"a","format":"mso_mdoc","meta":{"doctype_value":"eu.europa.ec.av.1"}}]}"#
    return "av://?client_id=\(client)&response_uri=https%3A%2F%2Fshop.example%2Fr&response_type=vp_token"
      + "&response_mode=direct_post&nonce=\(nonce)&dcql_query=\(query)\(more)"
  }

  private func findings(_ run: Run) throws -> [String] {
    (try run.json()["checks"]?.array ?? []).filter { ["failed", "warning"].contains($0["outcome"]?.string) }
      .compactMap { $0["code"]?.string }
  }

  @Test func `a link by value is judged, and what is wrong is named with its clause and remedy`() async throws {
    let right = await Run("verify", "request", link(), "--html", scratch("page"))
    #expect(right.status == 0 && right.output.hasPrefix("RIGHT at "), "\(right.output)\(right.error)")
    #expect(right.output.contains("redirect_uri:https://shop.example/r"))
    let broken = await Run("verify", "request", link(nonce: "a%20b"))
    #expect(broken.status == 1 && broken.output.hasPrefix("BROKEN at ") && broken.output.contains("What to do: "))
    #expect(broken.output.contains("request.nonce_malformed") && broken.output.contains("OpenID4VP 1.0, 5.2"))
    let json = try await Run("verify", "request", link(more: "&redirect_uri=https://a.example"), "--json").json()
    #expect(json["right"] == false && json["wallet_error"] == "invalid_request" && json["profile"] == "openid4vp")
    let inFile = await Run("verify", "request", try scratch.write("link", link() + "\n"), "--json")
    #expect(inFile.status == 0)
    #expect(try inFile.json()["wallet_error"]?.isNull == true)
  }

  @Test func `a request object is judged with its link, its nonce, its profile and its roots`() async throws {
    let now = Timestamp(secondsSince1970: 1_795_000_000)
    let mock = try MockAuthority(seed: [1]).reader(dnsName: "shop.example", at: now)
    let reader = try ReaderIdentity(key: mock.key, certificates: mock.certificates.map { try Certificate(der: $0) })
    let challenge = try OpenID4VPChallenge(
      freshFor: .client(id: reader.clientID, responseURI: "https://shop.example/r"), isEncrypted: true)
    let object = try OpenID4VPRequest(.licence, challenge: challenge).signed(by: reader, walletNonce: "n-1")
    let file = try scratch.write("request.jwt", object)
    let root = try scratch.write("root.pem", PEM.encode(certificate: mock.root))
    let link = "haip-vp://?client_id=\(reader.clientID)&request_uri=https://shop.example/q"
    func verify(_ more: String...) async -> Run {
      await Run(["verify", "request", file, "--at", "\(now)", "--json", "--link", link] + more)
    }
    let right = await verify("--wallet-nonce", "n-1", "--root", root, "--profile", "haip")
    #expect(right.status == 0, "\(right.output)\(right.error)")
    #expect(try findings(right) == [])
    #expect(try right.json()["signer"]?.string?.contains("CN=shop.example") == true)
    #expect(try findings(await verify()) == ["request.wallet_nonce_mismatch"])
    let other = try scratch.write(
      "other.pem",
      PEM.encode(
        certificate: MockAuthority(seed: [2]).reader(
          dnsName: "a.example", at: now
        ).root))
    let stranger = await verify("--wallet-nonce", "n-1", "--root", other)
    #expect(try findings(stranger) == ["reader_auth.untrusted"] && stranger.status == 1)
    #expect(try stranger.json()["wallet_error"] == "invalid_client")
    let text = await Run("verify", "request", file, "--at", "\(now)", "--link", link, "--wallet-nonce", "n-2")
    #expect(text.status == 1 && text.output.contains("request.wallet_nonce_mismatch"))
  }

  @Test func `an entry of a session's requests is judged as it is`() async throws {
    let challenge = try OpenID4VPChallenge(freshFor: .origin("https://shop.example"), isEncrypted: true)
    let data = OpenID4VPRequest(.licence, challenge: challenge).unsigned
    let entry = try scratch.write("a", JSON.members(["protocol": "openid4vp-v1-unsigned", "data": data]).serialized())
    let right = await Run("verify", "request", entry, "--origin", "https://shop.example", "--json")
    #expect(right.status == 0)
    #expect(try findings(right) == [])
    let wrong = try scratch.write("b", JSON.members(["protocol": "openid4vp-v1-signed", "data": data]).serialized())
    #expect(try findings(await Run("verify", "request", wrong, "--json")) == ["request.protocol_mismatch"])
    let annexC = try AnnexCChallenge(freshFor: "https://shop.example")
    let device = Base64.encodeURLSafe(DeviceRequest(.licence).encoded)
    let iso = try scratch.write(
      "c",
      JSON.members([
        "protocol": "org-iso-mdoc",
        "data": ["deviceRequest": .string(device), "encryptionInfo": .string(annexC.encryptionInfo)],
      ]).serialized())
    #expect(await Run("verify", "request", iso, "--origin", "https://shop.example").status == 0)
    #expect(await Run("verify", "request", iso, "--encryption-info", "AAAA").status == 1)
    let fetched = try scratch.write(
      "d", #"{"data":{"authorization_request":"openid4vp://?request_uri=https://a.example"}}"#)
    #expect(await Run("verify", "request", fetched).status == 64)
  }

  @Test func `a link by reference is not fetched, and the help says who does`() async throws {
    let run = await Run("verify", "request", "openid4vp://?client_id=a&request_uri=https://shop.example/q")
    #expect(run.status == 64 && run.hasOneLineOfError && run.error.contains("mdoc wallet"))
    #expect(await Run("verify", "request", link(), "--link", "no link").status == 64)
    let nothing = try scratch.write("nothing", #"{"data": {}}"#)
    #expect(await Run("verify", "request", nothing).status == 65)
    let unsigned = try scratch.write("unsigned", #"{"response_type": "vp_token"}"#)
    let root = try scratch.write(
      "root",
      PEM.encode(
        certificate: MockAuthority(seed: [1]).reader(
          dnsName: "a.example", at: Timestamp(secondsSince1970: 1_795_000_000)
        ).root))
    #expect(await Run("verify", "reader", unsigned, "--root", root).status == 65)
  }
}

extension PresentationRequest {
  fileprivate static let licence = PresentationRequest(documents: [
    DocumentRequest(docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "given_name"))])
  ])
}
