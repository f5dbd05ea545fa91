import Base
import CBOR
import Cryptography
import Mdoc
import Mock
import PKIX
import TestSupport
import Testing

@testable import Presentation

/// Requests to wallets: each rule broken by itself gives its own code, and our own requests break none.
@Suite struct RequestRulesTests {
  let fixture: OpenID4VPFixture
  let reader: ReaderIdentity
  let root: Certificate

  init() throws {
    fixture = try OpenID4VPFixture()
    reader = try fixture.reader(by: .dnsName("verifier.example"))
    root = try Certificate(der: fixture.setup.authority.reader(dnsName: "verifier.example", at: fixture.setup.now).root)
  }

  private var now: Timestamp { fixture.setup.now }

  // MARK: Right requests

  /// A right request in parts that can be changed.
  private struct Draft {
    var claims: JSON
    /// Nil for an unsigned request.
    var header: JSON?
    /// Whether the general JSON serialization has the signature.
    var isGeneral = false
    var key: PrivateKey
    var arrival = RequestJudgement.Arrival()
    var profile = RequestJudgement.Profile.openID4VP
    var isRooted = true
    var device: (bytes: [UInt8], info: String?)?

    subscript(_ path: String) -> JSON? {
      get { claims.value(at: path) }
      set { claims = claims.setting(newValue, at: path) }
    }

    mutating func link(_ parameters: String, scheme: String = "openid4vp") {
      arrival.link = AuthorizationLink("\(scheme)://?\(parameters)")
    }

    func content() throws -> RequestJudgement.Content {
      if let device { return .deviceRequest(device.bytes, encryptionInfo: device.info) }
      guard let header else { return .parameters(claims) }
      let object = try CompactJWS.sign(claims.serialized(), header: header.object ?? [], with: key)
      return .object(isGeneral ? Self.general([object]) : object)
    }

    /// The general JSON serialization of compact JWS with the same payload.
    static func general(_ objects: [[UInt8]]) -> [UInt8] {
      let parts = objects.map {
        String(decoding: $0, as: UTF8.self).split(separator: ".").map { JSON.string(String($0)) }
      }
      let signatures = parts.map { JSON.object([.init("protected", $0[0]), .init("signature", $0[2])]) }
      return JSON.object([.init("payload", parts[0][1]), .init("signatures", .array(signatures))]).serialized()
    }

    /// Moves the client identifier into the signer's header.
    mutating func generalize() {
      header = header?.setting(self["client_id"], at: "client_id")
      self["client_id"] = nil
      isGeneral = true
      if arrival.protocolName != nil { arrival.protocolName = "openid4vp-v1-multisigned" }
    }
  }

  private enum Kind: CaseIterable { case link, haip, page, unsignedPage, age, annexB, device }

  private static let byReference = "request_uri=https%3A%2F%2Fverifier.example%2Fr&request_uri_method=post"

  private func draft(_ base: Kind) throws -> Draft {
    func signed(_ text: String, by reader: ReaderIdentity) throws -> Draft {
      let parts = text.split(separator: ".").prefix(2).map { Base64.decodeURLSafe(String($0)) ?? [] }
      return Draft(claims: try JSON(parsing: parts[1]), header: try JSON(parsing: parts[0]), key: reader.key)
    }
    func request(_ recipient: OpenID4VPRecipient, isEncrypted: Bool = true) -> OpenID4VPRequest {
      OpenID4VPRequest(fixture.request, challenge: fixture.challenge(recipient, isEncrypted: isEncrypted))
    }
    switch base {
    case .link:
      var draft = try signed(request(OpenID4VPFixture.server).signed(by: reader, walletNonce: "n-1"), by: reader)
      draft.arrival.walletNonce = "n-1"
      draft.arrival.mediaType = "application/oauth-authz-req+jwt"
      draft.link("client_id=x509_san_dns%3Averifier.example&" + Self.byReference)
      return draft
    case .haip:
      let reader = try fixture.reader()
      var draft = try signed(request(OpenID4VPFixture.server).signed(by: reader), by: reader)
      draft.profile = .haip
      draft.link("client_id=\(reader.clientID)&" + Self.byReference, scheme: "haip-vp")
      return draft
    case .page:
      let metadata = try GoogleWalletMetadata(GoogleWalletFixture.text)
      let reader = try ReaderIdentity(
        key: reader.key, certificates: reader.certificates, googleWalletMetadata: metadata)
      var draft = try signed(request(OpenID4VPFixture.page).signed(by: reader), by: reader)
      draft.arrival = .init(protocolName: "openid4vp-v1-signed", origin: "https://shop.example")
      return draft
    case .unsignedPage:
      return Draft(
        claims: request(OpenID4VPFixture.page).unsigned, key: reader.key,
        arrival: .init(protocolName: "openid4vp-v1-unsigned", origin: "https://shop.example"))
    case .age:
      let address = "http://127.0.0.1:8080/v1/wallet/shop/vs_1/response"
      let recipient = OpenID4VPRecipient.client(id: "redirect_uri:" + address, responseURI: address)
      let parameters = request(recipient, isEncrypted: false).linkParameters
      let query = parameters.map { "\($0.name)=\($0.value.percentEncoded)" }.joined(separator: "&")
      let link = try #require(AuthorizationLink("av://?" + query))
      return Draft(claims: .object(link.parameters), key: reader.key, arrival: .init(link: link))
    case .annexB:
      let recipient = OpenID4VPRecipient.client(
        id: "verifier.example", responseURI: "https://verifier.example/v1/wallet/shop/vs_1/response")
      let made = AnnexBRequest(fixture.request, challenge: fixture.challenge(recipient))
      var draft = try signed(#require(made).signed(by: reader), by: reader)
      draft.link("client_id=verifier.example&" + Self.byReference, scheme: "mdoc-openid4vp")
      return draft
    case .device:
      let challenge = try AnnexCChallenge(freshFor: "https://shop.example")
      let made = try DeviceRequest(fixture.request, signedBy: reader, over: challenge.transcript)
      return Draft(
        claims: [], key: reader.key, arrival: .init(protocolName: "org-iso-mdoc", origin: "https://shop.example"),
        device: (made.encoded, challenge.encryptionInfo))
    }
  }

  private func judge(_ draft: Draft) throws -> RequestJudgement {
    RequestJudgement(
      of: try draft.content(), arrived: draft.arrival, roots: draft.isRooted ? [root] : [], at: now,
      profile: draft.profile)
  }

  private func findings(_ judgement: RequestJudgement) -> [Check] {
    judgement.checks.filter { $0.outcome == .failed || $0.outcome == .warning }
  }

  @Test(arguments: Kind.allCases, [true, false])
  private func `our own request has no fault and no warning`(base: Kind, isRooted: Bool) throws {
    var draft = try draft(base)
    draft.isRooted = isRooted
    let judgement = try judge(draft)
    #expect(findings(judgement) == [])
    let isSigned = base != .age && base != .unsignedPage
    #expect((judgement.client.certificates.first?.sha256 == reader.leaf.sha256) == isSigned)
    #expect((judgement.claims == nil) == (base == .device))
    let trust = judgement.checks.first { $0.code == .readerUntrusted }?.outcome
    #expect(trust == (isSigned ? isRooted ? .passed : .notRun : nil))
  }

  @Test func `requests for proofs, for several documents and of several readers are right`() throws {
    for wanted in [OpenID4VPFixture.bothDocuments, OpenID4VPFixture.anyDocument] {
      let request = OpenID4VPRequest(wanted, challenge: fixture.challenge())
      let object = try request.signed(by: [reader, try fixture.reader("other.example")]).serialized()
      let judgement = RequestJudgement(
        of: .object(object), arrived: .init(protocolName: "openid4vp-v1-multisigned", origin: "https://shop.example"),
        roots: [root], at: now)
      #expect(findings(judgement) == [])
    }
  }

  // MARK: Broken requests

  private struct Row: Sendable, CustomTestStringConvertible {
    let code: String
    let base: Kind
    let change: @Sendable (inout Draft) throws -> Void

    init(_ code: String, _ base: Kind, _ change: @escaping @Sendable (inout Draft) throws -> Void) {
      (self.code, self.base, self.change) = (code, base, change)
    }

    var testDescription: String { "\(code), \(base)" }
  }

  private static let first = "dcql_query/credentials/0/"
  private static let key = "client_metadata/jwks/keys/0/"
  private static let descriptor = "presentation_definition/input_descriptors/0/"
  private static let field = descriptor + "constraints/fields/0/"
  private static let encryptions = "client_metadata/encrypted_response_enc_values_supported"

  private static let rows: [Row] = [
    Row("protocol_mismatch", .page) { $0.arrival.protocolName = "openid4vp-v1-multisigned" },
    Row("protocol_mismatch", .unsignedPage) { $0.arrival.protocolName = "openid4vp" },
    Row("protocol_mismatch", .link) { draft in
      let id = draft["client_id"]
      draft.generalize()
      draft["client_id"] = id
    },
    Row("protocol_mismatch", .haip) { draft in
      draft.generalize()
      draft.arrival.link = nil
      draft.profile = .openID4VP
    },
    Row("protocol_mismatch", .page) { draft in
      let id = draft["client_id"]
      draft.generalize()
      draft["client_id"] = id
    },
    Row("protocol_mismatch", .device) { $0.arrival.protocolName = "openid4vp-v1-signed" },
    Row("media_type", .link) { $0.arrival.mediaType = "application/jwt" },
    Row("link_malformed", .link) { $0.link("client_id=x509_san_dns%3Averifier.example&request=a&" + byReference) },
    Row("link_malformed", .link) {
      $0.link("client_id=x509_san_dns%3Averifier.example&client_id=x509_san_dns%3Averifier.example&" + byReference)
    },
    Row("link_malformed", .link) {
      $0.link("client_id=x509_san_dns%3Averifier.example&request=a&request_uri_method=get")
    },
    Row("link_malformed", .link) { $0.link("client_id=x509_san_dns%3Averifier.example&\(byReference)#a") },
    Row("link_malformed", .link) { $0.link(byReference) },
    Row("link_malformed", .age) { draft in
      let query = (draft["dcql_query"]?.text() ?? "").percentEncoded
      let rest = draft.arrival.link?.parameters.filter { $0.name != "dcql_query" }.map { "\($0.name)=a" } ?? []
      let id = "client_id=" + (draft["client_id"]?.string ?? "").percentEncoded
      let others = rest.filter { !$0.hasPrefix("client_id=") } + [id, "dcql_query=" + query, "dcql%5Fquery=" + query]
      draft.link(others.joined(separator: "&"), scheme: "av")
    },
    Row("request_uri_method_unknown", .link) {
      $0.link(
        "client_id=x509_san_dns%3Averifier.example&request_uri=https://verifier.example/r&request_uri_method=POST")
    },
    Row("uri_invalid", .link) {
      $0.link("client_id=x509_san_dns%3Averifier.example&request_uri=http://verifier.example/r")
    },
    Row("uri_invalid", .haip) { $0["response_uri"] = "https://verifier.example/r#a" },
    Row("uri_invalid", .haip) { $0["response_uri"] = nil },
    Row("uri_invalid", .haip) { $0["response_uri"] = "http://127.evil.example/r" },
    Row("link_surplus", .link) { $0.link("client_id=x509_san_dns%3Averifier.example&nonce=a&" + byReference) },
    Row("client_id_mismatch", .link) { $0.link("client_id=x509_san_dns%3Aother.example&" + byReference) },
    Row("signer_chain", .link) { draft in
      let leaf = draft.header?.value(at: "x5c/0")
      draft.header = draft.header?.setting(leaf, at: "x5c/1")
      draft.isRooted = false
    },
    Row("parameter_malformed", .link) { $0["state"] = 5 },
    Row("parameter_malformed", .link) { $0["response_type"] = "code" },
    Row("parameter_malformed", .link) { $0["iat"] = "now" },
    Row("parameter_malformed", .page) { $0["exp"] = "tomorrow" },
    Row("parameter_malformed", .page) { $0["expected_origins"] = ["https://shop.example", 5] },
    Row("parameter_malformed", .age) { $0["client_id"] = nil },
    Row("parameter_malformed", .link) { $0["client_metadata"] = "{}" },
    Row("parameter_unknown", .link) { $0["purpose"] = "fun" },
    Row("parameter_unknown", .link) { $0["client_metadata/gw_rp_metadata_bytes"] = "AAAA" },
    Row("parameter_unknown", .page) { $0[first + "claims/0/intent"] = true },
    Row("parameter_unknown", .page) { $0[first + "trusted_authorities"] = [["type": "x5c", "values": ["a+b="]]] },
    Row("parameter_unknown", .page) { draft in
      draft[first + "claims"] = [["id": "a", "path": ["n", "a"]], ["id": "b", "path": ["n", "b"]]]
      draft[first + "claim_sets"] = [["a"]]
    },
    Row("parameter_obsolete", .link) { $0["client_id_scheme"] = "x509_san_dns" },
    Row("query_missing", .link) { $0["scope"] = "org.example.licence" },
    Row("query_missing", .unsignedPage) { $0["dcql_query"] = nil },
    Row("claim_misplaced", .link) { $0["iss"] = "https://verifier.example" },
    Row("claim_misplaced", .link) { $0["request_uri"] = "https://verifier.example/r" },
    Row("response_mode", .link) { $0["response_mode"] = "fragment" },
    Row("response_mode", .unsignedPage) { $0["response_mode"] = "query.jwt" },
    Row("response_mode", .annexB) { $0["response_mode"] = "direct_post" },
    Row("redirect_uri_with_direct_post", .link) { $0["redirect_uri"] = "https://verifier.example/done" },
    Row("client_id_surplus", .unsignedPage) { $0["client_id"] = "web-origin:https://shop.example" },
    Row("client_id_prefix_unknown", .age) { draft in
      draft.link("client_id=a%3Ab", scheme: "openid4vp")
      draft["client_id"] = "a:b"
    },
    Row("client_id_prefix_unknown", .link) { draft in
      draft.link("client_id=verifier_attestation%3Ashop&" + byReference)
      draft["client_id"] = "verifier_attestation:shop"
    },
    Row("client_id_prefix_unknown", .annexB) { $0["client_id_scheme"] = "entity_id" },
    Row("signature_forbidden", .link) { draft in
      let address = draft["response_uri"]?.string ?? ""
      draft["client_id"] = .string("redirect_uri:" + address)
      draft.link("client_id=redirect_uri:\(address)&" + byReference)
    },
    Row("signature_missing", .link) { $0.header = nil },
    Row("age_verification_link", .age) { draft in
      draft["response_mode"] = "direct_post.jwt"
      draft["client_metadata/jwks"] = ["keys": [Self.agreementKey]]
    },
    Row("age_verification_link", .age) { draft in
      draft.link("client_id=\(draft["client_id"]?.string ?? "")&" + byReference, scheme: "av")
    },
    Row("response_uri_not_of_client", .link) { $0["response_uri"] = "https://evil.example/verifier.example" },
    Row("response_uri_not_of_client", .annexB) { $0["response_uri"] = "https://evil.example/" },
    Row("response_uri_not_of_client", .age) { $0["response_uri"] = "http://127.0.0.1:8080/other" },
    Row("expired", .link) { $0["exp"] = 1_000 },
    Row("expired", .link) { $0["exp"] = .double(1_000.5) },
    Row("expired", .page) { $0["nbf"] = 90_000_000_000 },
    Row("issued_at", .link) { $0["iat"] = 1_000 },
    Row("nonce_malformed", .page) { $0["nonce"] = nil },
    Row("nonce_malformed", .page) { $0["nonce"] = "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhG+A==" },
    Row("nonce_malformed", .link) { $0["state"] = "a b" },
    Row("nonce_malformed", .link) { $0["state"] = "" },
    Row("nonce_weak", .unsignedPage) { $0["nonce"] = "abcdefgh" },
    Row("nonce_weak", .unsignedPage) { $0["nonce"] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
    Row("nonce_weak", .unsignedPage) { $0["nonce"] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQR" },
    Row("wallet_nonce_mismatch", .link) { $0["wallet_nonce"] = "n-2" },
    Row("wallet_nonce_mismatch", .link) { $0["wallet_nonce"] = nil },
    Row("wallet_nonce_mismatch", .link) { $0.arrival.walletNonce = nil },
    Row("vp_formats", .link) { $0["client_metadata/vp_formats_supported"] = nil },
    Row("vp_formats", .link) { $0["client_metadata/vp_formats_supported/mso_mdoc"] = [] },
    Row("vp_formats", .page) { $0["client_metadata/vp_formats_supported/mso_mdoc/deviceauth_alg_values"] = [-1] },
    Row("vp_formats", .page) { $0["client_metadata/vp_formats_supported/mso_mdoc/issuerauth_alg_values"] = ["ES256"] },
    Row("vp_formats", .haip) { $0["client_metadata/vp_formats_supported/mso_mdoc/issuerauth_alg_values"] = [-35] },
    Row("vp_formats", .annexB) { $0["client_metadata/vp_formats/mso_mdoc/alg"] = [] },
    Row("encryption_key", .link) { $0["client_metadata/jwks"] = nil },
    Row("encryption_key", .page) { $0[key + "kid"] = nil },
    Row("encryption_key", .page) { $0[key + "alg"] = nil },
    Row("encryption_key", .page) { $0[key + "use"] = "sig" },
    Row("encryption_key", .annexB) { $0[key + "d"] = "AAAA" },
    Row("encryption_key", .page) {
      $0["client_metadata/jwks/keys/1"] = ["kty": "oct", "kid": "2", "alg": "A256KW"]
    },
    Row("encryption_key", .page) { $0["client_metadata/jwks/keys/1"] = ["k": "AAAA", "kid": "2", "alg": "A256KW"] },
    Row("encryption_method", .page) { $0[encryptions] = ["A512GCM"] },
    Row("encryption_method", .annexB) { $0["client_metadata/authorization_encrypted_response_alg"] = "RSA-OAEP" },
    Row("encryption_method", .annexB) { $0["client_metadata/authorization_encrypted_response_enc"] = "A512GCM" },
    Row("dcql_malformed", .page) { $0["dcql_query/credentials"] = [] },
    Row("dcql_malformed", .page) { $0[first + "format"] = nil },
    Row("dcql_malformed", .page) { $0[first + "multiple"] = "no" },
    Row("dcql_malformed", .page) { $0[first + "meta/doctype_value"] = ["org.iso.18013.5.1.mDL"] },
    Row("dcql_malformed", .page) { $0[first + "trusted_authorities"] = [["type": 1, "values": ["a"]]] },
    Row("dcql_malformed", .page) { $0[first + "trusted_authorities"] = [["type": "aki", "values": ["a+b="]]] },
    Row("dcql_malformed", .page) { $0[first + "trusted_authorities"] = [["type": "aki", "values": []]] },
    Row("dcql_id", .unsignedPage) { $0[first + "claims/0/id"] = "a.b" },
    Row("dcql_id", .unsignedPage) { draft in
      draft["dcql_query/credential_sets"] = nil
      draft["dcql_query/credentials/1/id"] = draft[first + "id"]
    },
    Row("dcql_id", .page) { $0[first + "claim_sets"] = [["a"]] },
    Row("dcql_claims", .link) { $0[first + "claims/0/path"] = ["given_name"] },
    Row("dcql_claims", .link) { $0[first + "claims/0/path"] = ["org.iso.18013.5.1", .null] },
    Row("dcql_claims", .link) { $0[first + "claims/0/path"] = ["org.iso.18013.5.1", ""] },
    Row("dcql_claims", .link) { $0[first + "claims/0/path"] = ["", "given_name"] },
    Row("dcql_claims", .link) { $0[first + "claims/0/values"] = ["a", .null] },
    Row("dcql_claims", .link) { $0[first + "claims/0/values"] = [["a": 1]] },
    Row("dcql_claims", .link) { $0[first + "claims/0/values"] = [.double(1.5)] },
    Row("dcql_claims", .link) { $0[first + "claims/0/intent_to_retain"] = "true" },
    Row("dcql_claims", .link) { draft in draft[first + "claims/1/path"] = draft[first + "claims/0/path"] },
    Row("dcql_sets", .link) { $0["dcql_query/credential_sets/0/options"] = [["document_7"]] },
    Row("dcql_sets", .link) { $0["dcql_query/credential_sets"] = [] },
    Row("dcql_sets", .page) { draft in
      draft[first + "claims"] = nil
      draft[first + "claim_sets"] = [["a"]]
    },
    Row("dcql_sets", .page) { draft in
      draft[first + "claims"] = [["id": "a", "path": ["n", "a"]]]
      draft[first + "claim_sets"] = [["a", "b"]]
    },
    Row("format_unsupported", .page) { draft in
      draft["dcql_query"] = ["credentials": [["id": "a", "format": "dc+sd-jwt", "meta": ["vct_values": ["a"]]]]]
    },
    Row("presentation_definition", .annexB) { $0["presentation_definition/input_descriptors"] = [] },
    Row("presentation_definition", .annexB) { $0["presentation_definition"] = nil },
    Row("presentation_definition", .annexB) { $0["presentation_definition/id"] = nil },
    Row("presentation_definition", .annexB) {
      $0["presentation_definition/input_descriptors/0/constraints/limit_disclosure"] = nil
    },
    Row("presentation_definition", .annexB) { $0[field + "path"] = ["$['a']"] },
    Row("presentation_definition", .annexB) { $0[field + "path"] = ["$['a']['']"] },
    Row("presentation_definition", .annexB) { $0[field + "path"] = ["$['a']['b']['c']"] },
    Row("presentation_definition", .annexB) { $0[field + "path"] = ["$['a']['b'c']"] },
    Row("presentation_definition", .annexB) { $0[descriptor + "format/mso_mdoc"] = ["alg": []] },
    Row("presentation_definition", .annexB) { draft in
      draft["presentation_definition/input_descriptors/1"] = draft.claims.value(
        at: "presentation_definition/input_descriptors/0")
    },
    Row("transaction_data_malformed", .link) { $0["transaction_data"] = "AAAA" },
    Row("transaction_data_malformed", .link) { draft in
      let entry = Base64.encodeURLSafe(Array(#"{"type":"a","credential_ids":["x"]}"#.utf8))
      draft["transaction_data"] = [.string(entry)]
    },
    Row("transaction_data_unknown", .page) { draft in
      let entry = Base64.encodeURLSafe(Array(#"{"type":"a","credential_ids":["document_0"]}"#.utf8))
      draft["transaction_data"] = [.string(entry)]
    },
    Row("verifier_info_malformed", .link) { $0["verifier_info"] = [["data": "AAAA"]] },
    Row("verifier_info_malformed", .link) {
      $0["verifier_info"] = [["format": "jwt", "data": "AAAA", "credential_ids": []]]
    },
    Row("verifier_info_malformed", .link) {
      $0["verifier_info"] = [["format": "jwt", "data": "AAAA", "credential_ids": ["document_7"]]]
    },
    Row("haip_client_id", .link) { $0.profile = .haip },
    Row("haip_delivery", .haip) { draft in
      let id = draft["client_id"]?.string ?? ""
      draft.link("client_id=\(id)&request=a", scheme: "haip-vp")
    },
    Row("haip_encryption", .haip) { $0[encryptions] = ["A128GCM"] },
    Row("haip_encryption", .haip) { $0["response_mode"] = "direct_post" },
    Row("haip_encryption", .haip) { $0["client_metadata/jwks/keys"] = [Self.largerKey] },
    Row("items_malformed", .device) { draft in
      draft.device?.bytes = try Self.deviceRequest(["docType": "d", "nameSpaces": ["n": ["e": "yes"]]])
    },
    Row("items_malformed", .device) { $0.device?.bytes = try Self.deviceRequest(["nameSpaces": ["n": ["e": true]]]) },
    Row("items_malformed", .device) { $0.device?.bytes = try Self.deviceRequest(["docType": "d", "nameSpaces": [:]]) },
    Row("items_malformed", .device) { draft in
      draft.device?.bytes = try Self.deviceRequest(["docType": "", "nameSpaces": ["n": ["e": true]]])
    },
    Row("items_malformed", .device) { draft in
      draft.device?.bytes = try Self.deviceRequest(["docType": "d", "nameSpaces": ["": ["e": true]]])
    },
    Row("items_malformed", .device) { draft in
      draft.device?.bytes = try Self.deviceRequest(["docType": "d", "nameSpaces": ["n": ["": true]]])
    },
    Row("items_malformed", .device) { $0.device?.bytes = try deviceRequest(useCases: "all") },
    Row("items_malformed", .device) { draft in
      draft.device?.bytes = try deviceRequest(useCases: [["mandatory": true, "documentSets": [[99]]]])
    },
    Row("items_malformed", .device) { $0.device?.bytes = try deviceRequest(useCases: [["documentSets": [[0]]]]) },
    Row("version", .device) { draft in
      draft.device?.bytes = try Self.deviceRequest(["docType": "d", "nameSpaces": ["n": ["e": true]]], version: "1.1")
    },
    Row("encryption_info", .device) { draft in
      draft.device = (try Self.deviceRequest(["docType": "d", "nameSpaces": ["n": ["e": true]]]), "AAAA")
    },
    Row("encryption_info", .device) { draft in
      draft.device = (try Self.deviceRequest(["docType": "d", "nameSpaces": ["n": ["e": true]]]), nil)
    },
  ]

  private static let agreementKey: JSON = [
    "kty": "EC", "crv": "P-256", "kid": "1", "alg": "ECDH-ES",
    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  ]

  /// The base point of P-384.
  private static let largerKey: JSON = [
    "kty": "EC", "crv": "P-384", "kid": "1", "alg": "ECDH-ES",
    "x": "qofKIr6LBTeOscce8yCtdG4dO2KLp5uYWfdB4IJUKjhVAvJdv1UpbDpUXjhydgq3",
    "y": "NhfeSpYmLG9dnpi_kpLcKfj0Hb0omhR86doxE7XwuMAKYLHOHX6BnXpDHXyQ6g5f",
  ]

  /// An unsigned DeviceRequest for one document.
  private static func deviceRequest(
    _ items: CBORValue = ["docType": "d", "nameSpaces": ["n": ["e": true]]], version: CBORValue = "1.0",
    useCases: CBORValue? = nil
  ) throws -> [UInt8] {
    let info = useCases.map { (key: CBORValue("deviceRequestInfo"), value: CBORValue.embedded(["useCases": $0])) }
    return CBORValue.map(
      [
        (key: "version", value: info == nil ? version : "1.1"),
        (key: "docRequests", value: [["itemsRequest": .embedded(items)]]),
      ] + (info.map { [$0] } ?? [])
    ).encoded()
  }

  @Test func `a comparison that cannot be made does not pass`() throws {
    var draft = try draft(.link)
    draft.link(Self.byReference)
    #expect(try judge(draft).checks.first { $0.code == .requestClientMismatch }?.outcome == .notRun)
    draft = try self.draft(.link)
    draft["wallet_nonce"] = 5
    #expect(try judge(draft).checks.first { $0.code == .requestWalletNonce }?.outcome == .notRun)
  }

  @Test func `documents are not listed for a request that states which of them are enough`() throws {
    #expect(try DeviceRequest.documents(requestedBy: Self.deviceRequest()).count == 1)
    let request = try Self.deviceRequest(useCases: [["mandatory": true, "documentSets": [[0]]]])
    #expect(throws: DeviceRequestError.self) { try DeviceRequest.documents(requestedBy: request) }
  }

  @Test(arguments: rows)
  private func `one fault gives one code`(row: Row) throws {
    var draft = try draft(row.base)
    try row.change(&draft)
    let judgement = try judge(draft)
    let code = Code(named: "request." + row.code)
    #expect(findings(judgement).map(\.code) == [code], "\(findings(judgement))")
    #expect(judgement.faults.isEmpty == code.entry.isWarning)
  }

  @Test func `every rule is broken once`() {
    #expect(Set(CodeGroup.requests.codes.map(\.rawValue)) == Set(Self.rows.map { "request." + $0.code }))
  }

  @Test func `dates may be far away or have fractions, and claims have values`() throws {
    var draft = try draft(.link)
    draft["exp"] = 9_999_999_999
    draft["nbf"] = .double(1_000.5)
    draft[Self.first + "claims/0/values"] = ["a", 1, true]
    #expect(try findings(judge(draft)) == [])
    draft["exp"] = .double(1e300)
    #expect(try findings(judge(draft)) == [])
    var device = try self.draft(.device)
    device.device?.bytes = try Self.deviceRequest(useCases: [["mandatory": true, "documentSets": [[0]]]])
    #expect(try findings(judge(device)) == [])
  }

  @Test func `Annex B is not for the Digital Credentials API`() throws {
    var draft = try draft(.page)
    draft["dcql_query"] = nil
    draft["presentation_definition"] = try self.draft(.annexB)["presentation_definition"]
    #expect(try judge(draft).faults.map(\.code) == [.requestParameterObsolete, .requestQueryMissing])
  }

  @Test func `of several signers, each is judged by its header, and the first valid one is the client`() throws {
    var draft = try draft(.page)
    draft.generalize()
    let right = try judge(draft)
    let id = draft.header?.value(at: "client_id")?.string
    #expect(findings(right) == [] && right.isClientKnown && id != nil && right.client.id == id)
    // A client identifier in the payload switches off no check.
    draft["client_id"] = "redirect_uri:https://evil.example/"
    draft.header = draft.header?.setting("x509_san_dns:evil.example", at: "client_id")
    let wrong = try judge(draft)
    #expect(wrong.faults.map(\.code).contains(.readerClientMismatch) && wrong.client.id == nil && !wrong.isClientKnown)
    // The first signer is unknown to the wallet.
    draft = try self.draft(.page)
    draft.generalize()
    let stranger = try fixture.reader("other.example")
    let x5c: JSON = .array(stranger.certificates.map { .string(Base64.encode($0.der)) })
    let header = draft.header?.setting(x5c, at: "x5c").setting(.string(stranger.clientID), at: "client_id")
    let objects = [
      try CompactJWS.sign(draft.claims.serialized(), header: header?.object ?? [], with: stranger.key),
      try CompactJWS.sign(draft.claims.serialized(), header: draft.header?.object ?? [], with: draft.key),
    ]
    let second = RequestJudgement(
      of: .object(Draft.general(objects)), arrived: draft.arrival, roots: [reader.leaf], at: now)
    #expect(second.faults == [] && second.client.id == id)
    #expect(second.client.certificates.first?.sha256 == reader.leaf.sha256)
  }

  /// Faults that leave open whose request it is. The request with any other fault may be answered with an error.
  @Test(arguments: rows)
  private func `no error is posted for an unknown client`(row: Row) throws {
    var draft = try draft(row.base)
    try row.change(&draft)
    let judgement = try judge(draft)
    let isNamed = draft["response_uri"] == nil || draft.isGeneral || draft["client_id"]?.string != nil
    let unknown: Set = [
      "protocol_mismatch", "link_malformed", "uri_invalid", "client_id_mismatch", "signer_chain",
      "client_id_prefix_unknown", "signature_forbidden", "signature_missing", "response_uri_not_of_client",
      "wallet_nonce_mismatch",
    ]
    #expect(judgement.isClientKnown == (isNamed && !unknown.contains(row.code)), "\(row.code)")
  }

  /// An authority's certificate beside its reader's warns, and HAIP refuses it.
  @Test(arguments: RequestJudgement.Profile.allCases)
  func `an authority's own certificate is not sent`(profile: RequestJudgement.Profile) throws {
    var draft = try draft(.haip)
    draft.header = draft.header?.setting(.string(Base64.encode(root.der)), at: "x5c/1")
    draft.profile = profile
    let judgement = try judge(draft)
    #expect(findings(judgement).map(\.code) == [.requestSignerChain])
    #expect(judgement.faults.isEmpty == (profile == .openID4VP))
  }

  @Test func `a signer is judged as by mdoc verify reader`() throws {
    func codes(_ change: (inout Draft) throws -> Void) throws -> [Code] {
      var draft = try draft(.page)
      try change(&draft)
      return try findings(judge(draft)).map(\.code)
    }
    #expect(try codes { $0.key = try PrivateKey(generatingOn: .p256) } == [.readerSignatureInvalid])
    #expect(try codes { $0.arrival.origin = "https://evil.example" } == [.readerOriginMismatch])
    #expect(try codes { $0["client_id"] = "x509_hash:AAAA" } == [.readerClientMismatch])
    #expect(try codes { $0["aud"] = "https://wallet.example" } == [.readerAudience])
    #expect(try codes { $0["aud"] = ["https://a.example", "https://self-issued.me/v2"] } == [])
    let stranger = RequestJudgement(
      of: try draft(.haip).content(), roots: [try fixture.reader("a.example").leaf], at: now)
    #expect(stranger.faults.map(\.code).contains(.readerUntrusted))
    let late = RequestJudgement(of: try draft(.haip).content(), at: now + 400 * 86_400)
    #expect(late.faults.map(\.code) == [.readerUntrusted])
    #expect(!stranger.isClientKnown && !late.isClientKnown)
    let nothing = RequestJudgement(of: .object([1]), at: now)
    #expect(!nothing.isClientKnown)
    #expect(nothing.faults.map(\.code) == [.readerRequestMalformed] && nothing.claims == nil)
  }

  // MARK: Links and errors

  @Test func `a link is read as wallets read it`() throws {
    let link = try #require(AuthorizationLink("OpenID4VP://?client_id=a%3Ab+c&request_uri=x&request_uri_method=post#f"))
    #expect(link.scheme == "openid4vp" && link.clientID == "a:b c" && link.requestURI == "x" && link.wantsPost)
    let value = try #require(AuthorizationLink("https://wallet.example/a?dcql_query=%7B%22credentials%22%3A%5B%5D%7D"))
    #expect(value["dcql_query"] == ["credentials": []] && value.request == nil && !value.wantsPost)
    for text in ["", "request.jwt", "openid4vp://", "?client_id=a", "a b://?c=d", "1a://?b=c", "a://?b=%zz"] {
      #expect(AuthorizationLink(text) == nil, "\(text)")
    }
  }

  @Test func `an address of a verifier is a URI with a host and a port`() {
    for text in [
      "https://shop.example", "HTTPS://shop.example:443/a%2Fb?c=d", "http://127.0.0.1:8080/", "http://[::1]:1/",
      "http://localhost",
    ] {
      #expect(VerifierAddress(text)?.isAllowed == true, "\(text)")
    }
    for text in ["http://127.0.0.256/", "http://127.0.0.-0/", "http://127.0.0/", "http://[::2]/", "https://a.b/#c"] {
      #expect(VerifierAddress(text)?.isAllowed == false, "\(text)")
    }
    for text in [
      "https://shop.example:evil.com/", "https://shop.example:99999/", "https://shop.example:80;.evil.example/",
      "https://shop.example:+80/", "https://shop.example:/", "https://a@shop.example/", "http://[::1]evil.example/",
      "http://[::1", "http://127.+0.0.1/", "https://shop.example/%zz", "https://shop.example/%2",
      "https://shop.example/\\", "https://shop.example/^", "https://shop.example/{}", "https://shop.example/|",
      "https://shop.example/a b", "https://shop.example/\u{e9}", "https://", "https:///a", "ftp://shop.example/",
    ] {
      #expect(VerifierAddress(text) == nil, "\(text)")
    }
  }

  @Test func `a broken request is answered with the standard's error`() {
    let errors: [(Code, WalletError)] = [
      (.readerUntrusted, .invalidClient), (.requestFormatUnsupported, .formatsNotSupported),
      (.requestURIMethodUnknown, .invalidRequestURIMethod), (.requestTransactionDataUnknown, .invalidTransactionData),
      (.requestRedirectURI, .invalidRequest), (.readerSignatureInvalid, .invalidRequest),
    ]
    for (code, error) in errors { #expect(WalletError(for: code) == error) }
    for error in WalletError.allCases { #expect(Code(walletError: error.rawValue) == error.code) }
  }
}

extension String {
  /// Every byte percent-encoded, save letters and digits.
  fileprivate var percentEncoded: String {
    utf8.map { byte in
      let isPlain =
        byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
      return isPlain ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte])
    }.joined()
  }
}

extension JSON {
  fileprivate func value(at path: String) -> JSON? {
    path.split(separator: "/").reduce(JSON?.some(self)) { value, name in
      value?[String(name)] ?? value?.array.flatMap { array in Int(name).flatMap { $0 < array.count ? array[$0] : nil } }
    }
  }

  /// The value with another at the path; nil removes it. An index after an array's end appends.
  fileprivate func setting(_ value: JSON?, at path: String) -> JSON {
    let parts = path.split(separator: "/", maxSplits: 1).map(String.init)
    let old = self.value(at: parts[0])
    let new = parts.count == 1 ? value : (old ?? .object([])).setting(value, at: parts[1])
    if var array = self.array, let index = Int(parts[0]) {
      array.replaceSubrange(index..<min(index + 1, array.count), with: new.map { [$0] } ?? [])
      return .array(array)
    }
    let members = object ?? []
    guard old != nil else { return .object(members + (new.map { [Member(parts[0], $0)] } ?? [])) }
    return .object(members.compactMap { $0.name == parts[0] ? new.map { Member(parts[0], $0) } : $0 })
  }
}
