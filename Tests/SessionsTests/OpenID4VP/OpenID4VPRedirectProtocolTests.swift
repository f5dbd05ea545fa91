import Base
import Cryptography
import Mdoc
import Mock
import Testing

@testable import Sessions

@Suite("OpenID4VP by redirect or QR code, and its older profile")
struct OpenID4VPRedirectProtocolTests {
  static let url = "https://verifier.example"
  static let annexB = OpenID4VPConfiguration(offersAnnexB: true)
  static let protocols: [any FetchedRequestProtocol] = [OpenID4VPRedirectProtocol(), AnnexBProtocol()]

  @Test("the page gets the address that opens a wallet")
  func data() async throws {
    let fixture = try OpenID4VPServiceFixture(openID4VP: OpenID4VPConfiguration(scheme: "haip-vp"))
    let session = try await fixture.create("openid4vp")
    let id = try #require(session["id"]?.string)
    let uri = "https://verifier.example/v1/wallet/shop/\(id)/request"
    #expect(
      session.requestData("openid4vp") == [
        "request_uri": .string(uri), "request_uri_method": "post", "client_id": "x509_san_dns:verifier.example",
        "authorization_request": .string(
          "haip-vp://?client_id=x509_san_dns%3Averifier.example&request_uri="
            + "https%3A%2F%2Fverifier.example%2Fv1%2Fwallet%2Fshop%2F\(id)%2Frequest&request_uri_method=post"),
      ])
    #expect(session["digital_credential_requests"] == [])
  }

  @Test("other members of a response are dropped")
  func additions() throws {
    for wallet in Self.protocols {
      let data: JSON = ["response": "a.b.c", "state": "s", "note": "Jane Doe", "deep": [[["x"]]]]
      guard case .response(.parameters(let kept)) = try wallet.decode(data, at: "/data") else {
        Issue.record("no response")
        return
      }
      #expect(kept == ["response": "a.b.c", "state": "s"])
    }
  }

  @Test("the older profile has a scheme of its own")
  func olderProfile() throws {
    let fixture = try OpenID4VPServiceFixture(
      openID4VP: OpenID4VPConfiguration(offersAnnexB: true, scheme: "haip-vp"))
    let context = try fixture.context(publicURL: Self.url)
    let request = OpenID4VPServiceFixture.request
    let data = try AnnexBProtocol().makeRequest(request, in: context).data
    #expect(data["authorization_request"]?.string?.hasPrefix("mdoc-openid4vp://?client_id=verifier.example&") == true)
  }

  @Test("the two are not offered together: wallets fetch the request of one session at one address")
  func alone() async throws {
    let fixture = try OpenID4VPServiceFixture(openID4VP: Self.annexB)
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.create("openid4vp", "openid4vp-iso-18013-7-annex-b")
    }
    #expect(error?.code == .apiInvalidRequest && error?.pointers.map(\.pointer) == ["/protocols"])
  }

  @Test("the object is signed again at each fetch, with the same nonce and the wallet's own", arguments: [0, 1])
  func objects(index: Int) throws {
    let wallet = Self.protocols[index]
    let fixture = try OpenID4VPServiceFixture(openID4VP: Self.annexB)
    let context = try fixture.context(publicURL: Self.url)
    let request = OpenID4VPServiceFixture.request
    let made = try wallet.makeRequest(request, in: context)
    let first = try wallet.requestObject(made.material, for: request, wallet: PostedByWallet(nil), in: context)
    let second = try wallet.requestObject(
      made.material, for: request, wallet: PostedByWallet(["wallet_nonce": "wallet nonce"]), in: context)
    #expect(first != second)
    let (one, two) = (try payload(first), try payload(second))
    #expect(one["nonce"] != nil && one["nonce"] == two["nonce"] && one["state"] == two["state"])
    #expect(one["wallet_nonce"] == nil && two["wallet_nonce"] == "wallet nonce")
    #expect(
      one["response_uri"]?.string == "https://verifier.example/v1/wallet/shop/\(context.session.id.text)/response")
  }

  @Test("a wallet's nonce has a bound", arguments: [0, 1])
  func nonceLength(index: Int) throws {
    let wallet = Self.protocols[index]
    let fixture = try OpenID4VPServiceFixture(openID4VP: Self.annexB)
    let context = try fixture.context(publicURL: Self.url)
    let request = OpenID4VPServiceFixture.request
    let made = try wallet.makeRequest(request, in: context)
    let material = made.material.exposed()
    func code(_ nonce: String) -> Code? {
      do throws(ServiceError) {
        _ = try wallet.requestObject(
          SecretBytes(copying: material), for: request, wallet: PostedByWallet(["wallet_nonce": .string(nonce)]),
          in: context)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(String(repeating: "x", count: 512)) == nil)
    #expect(code(String(repeating: "x", count: 513)) == .apiInvalidRequest)
  }

  @Test("there is none without an address, a reader of its host, or a certificate that is valid", arguments: [0, 1])
  func preconditions(index: Int) throws {
    let wallet = Self.protocols[index]
    func code(
      readers: [String] = ["*verifier.example"], publicURL: String? = Self.url, days: Int64 = 0,
      _ configuration: OpenID4VPConfiguration = Self.annexB
    ) throws -> Code? {
      let fixture = try OpenID4VPServiceFixture(readers: readers, openID4VP: configuration)
      let context = try fixture.context(at: fixture.clock.now + days * 86_400, publicURL: publicURL)
      do throws(ServiceError) {
        _ = try wallet.makeRequest(OpenID4VPServiceFixture.request, in: context)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(try code() == nil)
    #expect(try code(publicURL: "https://VERIFIER.example:8443") == nil)
    #expect(try code(publicURL: nil) == .apiProtocolUnsupported)
    #expect(try code(publicURL: "https://other.example") == .apiProtocolUnsupported)
    #expect(try code(readers: []) == .apiProtocolUnsupported)
    #expect(try code(days: 400) == .readerCertificateExpired)
    if index == 0 {
      // A hash names no host.
      #expect(try code(readers: ["verifier.example"], publicURL: "https://other.example") == nil)
    } else {
      #expect(try code(readers: ["verifier.example"]) == nil)
      #expect(try code(OpenID4VPConfiguration()) == .apiProtocolUnsupported)
    }
  }

  @Test("a reader that is gone or expired meanwhile signs nothing", arguments: [0, 1])
  func replacedReaders(index: Int) throws {
    let wallet = Self.protocols[index]
    let request = OpenID4VPServiceFixture.request
    let before = try OpenID4VPServiceFixture(openID4VP: Self.annexB)
    let made = try wallet.makeRequest(request, in: before.context(publicURL: Self.url))
    let material = made.material.exposed()
    func code(_ context: RequestContext) -> Code? {
      do throws(ServiceError) {
        _ = try wallet.requestObject(
          SecretBytes(copying: material), for: request, wallet: PostedByWallet(nil), in: context)
        return nil
      } catch {
        return error.code
      }
    }
    let after = try OpenID4VPServiceFixture(readers: ["*other.example"], openID4VP: Self.annexB)
    #expect(try code(after.context(publicURL: Self.url)) == .apiProtocolUnsupported)
    let late = before.clock.now + 400 * 86_400
    #expect(try code(before.context(at: late, publicURL: Self.url)) == .readerCertificateExpired)
    let error = #expect(throws: ServiceError.self) {
      try wallet.requestObject(
        SecretBytes(copying: [1, 2, 3]), for: request, wallet: PostedByWallet(nil),
        in: before.context(publicURL: Self.url))
    }
    #expect(error?.code == .apiInternal)
  }

  @Test("a form has only text, and one response or error", arguments: [0, 1])
  func forms(index: Int) throws {
    let wallet = Self.protocols[index]
    let wrong: [(JSON, String)] = [
      ([:], "/data"), (["state": "x"], "/data"), (["response": "a", "vp_token": "{}"], "/data"),
      (["vp_token": [:]], "/data/vp_token"), (["response": "a", "state": 1], "/data/state"),
    ]
    for (data, pointer) in wrong {
      let error = #expect(throws: ServiceError.self) { try wallet.decode(data, at: "/data") }
      #expect(error?.code == .apiInvalidRequest && error?.pointers.map(\.pointer) == [pointer])
    }
    let refusal = try wallet.decode(["error": "invalid_client", "state": "x"], at: "/data")
    guard case .refusal(.walletInvalidClient, nil) = refusal
    else {
      Issue.record("an error is no refusal")
      return
    }
    guard case .response = try wallet.decode(["vp_token": "{}", "state": "x", "iss": "w"], at: "/data") else {
      Issue.record("a token is no response")
      return
    }
  }

  private func payload(_ object: [UInt8]) throws -> JSON {
    let parts = String(decoding: object, as: UTF8.self).split(separator: ".")
    return try JSON(parsing: try #require(Base64.decodeURLSafe(String(parts[1]))))
  }
}
