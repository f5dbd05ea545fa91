import Base
import Cryptography
import Glibc
import PKIX
import Presentation
import Sessions
import TestSupport
import Testing

@testable import App
@testable import Mock

/// `readers`, `openid4vp` and `public_url` of the configuration file.
@Suite struct ReaderConfigurationTests {
  /// Runs the body with the path of a configuration with these members replaced, beside a reader's files.
  private func withReader<R>(_ changes: [String: JSON], _ body: (String) throws -> R) async throws -> R {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader()
      try folder.writeConfiguration(changes)
      return try body(path + "/mdoc.json")
    }
  }

  private static func party(_ reader: [String: JSON] = [:], openID4VP: JSON? = nil) -> JSON {
    [LiveFolder.partyWithReader(reader, openID4VP.map { [JSON.Member("openid4vp", $0)] } ?? [])]
  }

  private func load(_ path: String) throws -> ServerConfiguration { try ConfigurationLoader(path: path).load() }

  @Test func `a reader is read with its chain and its name`() async throws {
    let party = Self.party(["client_id": "x509_san_dns:shop.example"])
    try await withReader(["relying_parties": party, "public_url": "https://shop.example"]) { path in
      let configuration = try load(path)
      let reader = try #require(configuration.relyingParties["shop"]?.readers.first)
      #expect(reader.clientIdentifier == .dnsName("shop.example") && reader.certificates.count == 1)
      #expect(configuration.publicURL == "https://shop.example")
      #expect(configuration.relyingParties["shop"]?.openID4VP == .init())
      #expect(configuration.warnings == [])
    }
  }

  @Test func `the anchor at the chain's end is left out, with a warning`() async throws {
    try await withReader(["relying_parties": Self.party(["certificates": "reader-with-root.pem"])]) { path in
      let configuration = try load(path)
      let reader = try #require(configuration.relyingParties["shop"]?.readers.first)
      #expect(reader.certificates.count == 1 && reader.clientIdentifier == .certificateHash)
      #expect(configuration.warnings.map { $0.contains("reader-with-root.pem: the trust anchor at the end") } == [true])
    }
  }

  /// HAIP 1.0, 5: the signer's certificate MUST NOT be self-signed.
  @Test func `a self-signed reader certificate is warned of`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader()
      let key = try PrivateKey(generatingOn: .p256)
      let issuer = CertificateIssuer(
        name: CertificateName(country: nil, state: nil, organization: "Shop", commonName: "shop.example"), key: key)
      let now = Timestamp.systemNow()
      let own = CertificateTemplate(
        issuer: issuer.name, notBefore: now - 60, notAfter: now + 300 * 86_400, subject: issuer.name,
        publicKeyInfo: SubjectPublicKeyInfo.der(of: key.publicKey),
        extensions: [.subjectKeyIdentifier(issuer.keyIdentifier)] + SelfMadeReader.profile(host: "shop.example"))
      try folder.write("reader.pem", key.pem())
      try folder.write("reader-chain.pem", Array(PEM.encode(certificate: own.signed(by: key)).utf8))
      try folder.writeConfiguration(["relying_parties": Self.party()])
      let warnings = ConfigurationCheck(path: folder.configurationFile).warnings
      #expect(warnings.contains { $0.contains("reader-chain.pem: the certificate is self-signed") }, "\(warnings)")
      try folder.writeReader()
      #expect(!ConfigurationCheck(path: folder.configurationFile).warnings.contains { $0.contains("self-signed") })
    }
  }

  /// Both certificates of `mdoc init`'s reader name it; nothing in front of the server needs to serve it.
  @Test func `the readers' revocation list is served, and its end is warned of`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let now = Timestamp.systemNow()
      let reader = try SelfMadeReader(
        name: "shop", host: "shop.example", revocationList: "https://shop.example/reader.crl", at: now)
      try folder.write("reader.crl", reader.revocationList)
      try folder.writeConfiguration(["reader_crl": "reader.crl"])
      #expect(ConfigurationCheck(path: folder.configurationFile).warnings == [])
      try await folder.serve { _, api, _ in
        let reply = try await api.with(nil).get("/reader.crl")
        #expect(reply.status == 200 && reply.header("Content-Type") == "application/pkix-crl")
        let list = try VerifiedCRL(
          verifying: reply.head.bytes, issuer: Certificate(der: reader.authority), at: now)
        #expect(!list.contains(serial: try Certificate(der: reader.certificate).serialNumber))
      }
      let old = try SelfMadeReader(
        name: "shop", host: "shop.example", revocationList: "https://shop.example/reader.crl", at: now - 380 * 86_400)
      try folder.write("reader.crl", old.revocationList)
      let warnings = ConfigurationCheck(path: folder.configurationFile).warnings
      #expect(warnings.count == 1 && warnings.first?.contains("the readers' revocation list expires at") == true)
      try folder.write("reader.crl", [0x30, 0x00])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems.map(\.pointer) == ["/reader_crl"])
      try folder.writeConfiguration()
      try await folder.serve { _, api, _ in
        let reply = try await api.with(nil).get("/reader.crl")
        #expect(reply.status == 404 && reply.code == "api.not_found")
      }
    }
  }

  @Test(
    arguments: [
      (["key": "merchant.pem"], "key"), (["key": "nowhere.pem"], "key"), (["key": "mdoc.json"], "key"),
      (["key": .null], "key"), (["certificates": "nowhere.pem"], "certificates"),
      (["certificates": "mdoc.json"], "certificates"), (["certificates": "mock-reader.pem"], "certificates"),
      (["certificates": "twice.pem"], "certificates"), (["certificates": "root-first.pem"], "key"),
      (["client_id": "x509_san_dns:other.example"], "client_id"), (["client_id": "x509_san_dns:"], "client_id"),
      (["client_id": "did:web:shop.example"], "client_id"), (["client_id": 7], "client_id"), (["name": "x"], "name"),
    ] as [([String: JSON], String)])
  func `a fault of a reader names its member`(changes: [String: JSON], member: String) async throws {
    try await withReader(["relying_parties": Self.party(changes)]) { path in
      let error = #expect(throws: StartError.self) { try load(path) }
      let place = "\(path): /relying_parties/0/readers/0/\(member):"
      #expect(error?.message.hasPrefix(place) == true, "\(error?.message ?? "")")
      #expect(error?.exitCode == 78)
    }
  }

  @Test func `what deviates from the profile is a warning`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader { $0[oid: CertificateExtension.extendedKeyUsageOID] = nil }
      try folder.writeConfiguration(["relying_parties": Self.party()])
      let warnings = try load(folder.configurationFile).warnings
      let code = Code.certificateExtendedKeyUsage.rawValue
      #expect(warnings.contains { $0.hasPrefix("\(path)/reader-chain.pem: \(code)") }, "\(warnings)")
    }
  }

  @Test func `OpenID4VP is configured for each relying party`() async throws {
    let openID4VP: JSON = [
      "encrypted_responses": false, "annex_b": true, "scheme": "haip-vp", "eu_age_verification": ["eu.europa.ec.av.1"],
    ]
    let changes: [String: JSON] = [
      "relying_parties": Self.party(openID4VP: openID4VP), "public_url": "https://id.example",
    ]
    try await withReader(changes) { path in
      let configuration = try load(path)
      let read = try #require(configuration.relyingParties["shop"]?.openID4VP)
      #expect(
        read
          == .init(
            encryptsResponses: false, offersAnnexB: true, scheme: "haip-vp",
            ageVerificationDocTypes: ["eu.europa.ec.av.1"]))
      #expect(configuration.warnings.contains { $0.contains("/openid4vp/encrypted_responses") })
      #expect(
        configuration.warnings.contains { $0.contains("/openid4vp/eu_age_verification: these requests are unsigned") })
      #expect(configuration.warnings.count == 2)
    }
  }

  @Test(
    arguments: [
      (["redirect_schemes": ["shop"]], "redirect_schemes/0"),
      (["redirect_schemes": ["javascript"]], "redirect_schemes/0"),
      (["redirect_schemes": ["com.example", "https"]], "redirect_schemes/1"),
      (["redirect_schemes": ["com..example"]], "redirect_schemes/0"),
      (["redirect_schemes": ["com.example."]], "redirect_schemes/0"),
      (["redirect_schemes": ["Com.example"]], "redirect_schemes/0"),
      (["redirect_schemes": ["com.example://"]], "redirect_schemes/0"),
      (["wallet_origins": ["https://wallet.example/"]], "wallet_origins/0"),
      (["wallet_origins": ["*", "https://*.example"]], "wallet_origins/1"),
      (["wallet_origins": ["android:apk-key-hash:E8lSX1zJMPBZ9G_zpnfxfmfh-d0q2qEYz-2bgNeUKCU"]], "wallet_origins/0"),
      (["scheme": "https://"], "scheme"), (["scheme": "Openid4vp"], "scheme"), (["scheme": "4vp"], "scheme"),
      (["a/b~c": 1], "a~1b~0c"), (["annex_b": 1], "annex_b"), (["encrypted_responses": "no"], "encrypted_responses"),
      (["mode": "x"], "mode"),
      (["eu_age_verification": [""]], "eu_age_verification/0"),
      (["trusted_authorities": ["0a"]], "trusted_authorities"),
    ] as [(JSON, String)])
  func `a fault of OpenID4VP names its member`(value: JSON, member: String) async throws {
    try await withReader(["relying_parties": Self.party(openID4VP: value)]) { path in
      let error = #expect(throws: StartError.self) { try load(path) }
      #expect(error?.problems.map(\.pointer) == ["/relying_parties/0/openid4vp/\(member)"])
    }
  }

  @Test func `accepted issuers are read by document type, and unknown ones are warned of`() async throws {
    func party(_ issuers: JSON) -> JSON { [LiveFolder.partyWithReader([:], [.init("accepted_issuers", issuers)])] }
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader()
      try folder.writeConfiguration()
      let anchor = try #require(try load(folder.configurationFile).anchors.first)
      let known = Hex.encode(try #require(anchor.certificate.extensions.subjectKeyIdentifier))
      for (issuers, unknown) in [
        (["org.iso.18013.5.1.mDL": [.string(known.uppercased())]], nil),
        (["org.iso.18013.5.1.mDL": [.string(known), "0a0b"]], "org.iso.18013.5.1.mDL: 1 of 2 identifiers match no"),
        // Known, but not for this type.
        (["eu.europa.ec.av.1": [.string(known)]], "eu.europa.ec.av.1: 1 of 1 identifiers match no"),
      ] as [(JSON, String?)] {
        try folder.writeConfiguration(["relying_parties": party(issuers)])
        let check = ConfigurationCheck(path: folder.configurationFile)
        #expect(check.problems == [])
        #expect(
          check.warnings.map { $0.contains(unknown ?? "-") } == (unknown == nil ? [] : [true]), "\(check.warnings)")
        let read = try load(folder.configurationFile).relyingParties["shop"]?.acceptedIssuers
        #expect(read?.values.first?.first == (issuers.object?[0].value.array?[0].string).flatMap(Hex.decode))
        try await folder.serve { _, _, log in
          #expect(log.text.contains("accepted_issuers") == (unknown != nil))
        }
      }
      let many = JSON.array((0...1_000).map { .string(Hex.encode([UInt8($0 >> 8), UInt8($0 & 255)])) })
      for (issuers, place) in [
        ([:], ""), (["m/d~l": []], "/m~1d~0l"), (["m/dl": ["xy"]], "/m~1dl/0"), (["mdl": []], "/mdl"),
        (["mdl": ["xy"]], "/mdl/0"), (["mdl": ["0a", 7]], "/mdl/1"), (["mdl": ["0"]], "/mdl/0"),
        (["mdl": [.string(String(repeating: "0a", count: 65))]], "/mdl/0"), (["mdl": many], "/mdl"), (["0a"], ""),
      ] as [(JSON, String)] {
        try folder.writeConfiguration(["relying_parties": party(issuers)])
        let problems = ConfigurationCheck(path: folder.configurationFile).problems
        #expect(problems.map(\.pointer) == ["/relying_parties/0/accepted_issuers" + place])
      }
    }
  }

  /// An extension of a reader's certificate with these bytes as its value.
  private static func named(_ value: [UInt8]?) -> (inout CertificateTemplate) -> Void {
    { leaf in
      guard let value else { return }
      leaf.extensions.append(
        CertificateExtension(oid: GoogleWalletMetadata.extensionOID, isCritical: false, value: value))
    }
  }

  @Test func `a reader's metadata for Google Wallet fit its certificate`() async throws {
    func octets(_ hash: String) throws -> [UInt8] { [0x04, 0x20] + (try #require(Hex.decode(hash))) }
    let (right, text) = (try octets(GoogleWalletFixture.sha256), GoogleWalletFixture.text)
    try await withFolder { path in
      let folder = try LiveFolder(path)
      for (value, metadata, problem, warning) in [
        (right, text, nil, nil), (nil, nil, nil, nil),
        (try octets(GoogleWalletFixture.innerSHA256), text, "differs from the certificate's", nil),
        (Array(right.dropFirst(2)), text, "differs from the certificate's", nil),
        (right + [0], text, "differs from the certificate's", nil),
        (right, GoogleWalletFixture.other, "differs from the certificate's", nil),
        (right, text + "=", "must be base64url", nil), (right, "oA", "must be a CBOR map in tag 24", nil),
        (right, nil, nil, "set google_wallet_metadata to the string"),
        (nil, text, nil, "has no extension 1.3.6.1.4.1.11129.10.1"),
      ] as [([UInt8]?, String?, String?, String?)] {
        try folder.writeReader(Self.named(value))
        let member: [String: JSON] = metadata.map { ["google_wallet_metadata": .string($0)] } ?? [:]
        try folder.writeConfiguration(["relying_parties": Self.party(member)])
        let check = ConfigurationCheck(path: folder.configurationFile)
        #expect(check.problems.map { $0.detail.hasPrefix(problem ?? "-") } == (problem == nil ? [] : [true]))
        let pointer = "/relying_parties/0/readers/0/google_wallet_metadata"
        #expect(check.problems.allSatisfy { $0.pointer == pointer })
        #expect(
          check.warnings.map { $0.contains(warning ?? "-") } == (warning == nil ? [] : [true]), "\(check.warnings)")
      }
      try folder.writeReader()
      func reader(_ text: String) -> JSON {
        ["key": "reader.pem", "certificates": "reader-chain.pem", "google_wallet_metadata": .string(text)]
      }
      let both: JSON = [reader(text), reader(GoogleWalletFixture.other)]
      try folder.writeConfiguration(["relying_parties": [LiveFolder.party.with(both, at: "/readers")]])
      #expect(try load(folder.configurationFile).relyingParties["shop"]?.readers.count == 2)
      #expect(
        ConfigurationCheck(path: folder.configurationFile).warnings.contains {
          $0.contains("/readers/1/google_wallet_metadata differs from an earlier reader's")
        })
    }
  }

  @Test(
    arguments: [
      "https://id.example/", "https://id.example/path", "http://id.example", "ftp://id.example", "id.example",
      "https://ID.example", "https://id.example:0", "https://user@id.example", "",
    ])
  func `a public address is an origin, and encrypted`(address: String) async throws {
    try await withReader(["public_url": .string(address)]) { path in
      let error = #expect(throws: StartError.self) { try load(path) }
      #expect(error?.message.hasPrefix("\(path): /public_url:") == true)
    }
  }

  @Test func `a reader that is named otherwise than the public address is a warning`() async throws {
    let party = Self.party(["client_id": "x509_san_dns:shop.example"])
    try await withReader(["relying_parties": party, "public_url": "http://127.0.0.1:8080"]) { path in
      let warnings = try load(path).warnings
      #expect(warnings.map { $0.contains("x509_san_dns:shop.example") } == [true])
    }
  }
  @Test func `what is set for wallets that cannot come to the server is a warning`() async throws {
    let settings: JSON = [
      "eu_age_verification": ["eu.europa.ec.av.1"], "redirect_uri": "https://shop.example/done",
      "wallet_origins": ["*"],
    ]
    for address in [nil, "https://id.example"] {
      var changes: [String: JSON] = ["relying_parties": Self.party(openID4VP: settings)]
      changes["public_url"] = address.map { .string($0) }
      try await withReader(changes) { path in
        let warnings = try load(path).warnings
        for member in ["eu_age_verification", "redirect_uri", "wallet_origins"] {
          let isWarned = warnings.contains { $0.contains("openid4vp.\(member) has no effect without public_url") }
          #expect(isWarned == (address == nil), "\(member)")
        }
      }
    }
  }
}
