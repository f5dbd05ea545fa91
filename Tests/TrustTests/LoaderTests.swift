import Base
import FoundationEssentials
import PKIX
import Testing
import Trust

@testable import Mock

/// Anchors from files and folders: either everything in them is valid, or nothing is loaded.
@Suite struct LoaderTests {
  let fixture: TrustFixture
  let loader = TrustAnchorLoader(defaultDocTypes: [TrustFixture.mDL])

  init() throws { fixture = try TrustFixture() }

  @Test func anAnchorWithoutSettingsHasTheDefaults() throws {
    try fixture.write(PEM.encode(certificate: fixture.rootDER()), to: "root.pem")
    let anchor = try #require(try loader.load([fixture.folder]).first)
    #expect(anchor.docTypes == [TrustFixture.mDL])
    #expect(anchor.extendedKeyUsages == nil && anchor.crlAddresses == .named)
    #expect(anchor.maxPathLength == 0 && anchor.relaxed.isEmpty && anchor.tier == .live)
    let any = try TrustAnchorLoader(defaultDocTypes: nil).load([fixture.folder])
    #expect(any.map(\.docTypes) == [nil])
    let evaluation = try TrustStore(anchors: any, allowsTestCertificates: true)
      .evaluate(chain: fixture.chain(), docType: "any.type", at: fixture.now, skew: 0)
    #expect(evaluation.isTrusted)
    #expect(evaluation.checks.first { $0.code == .profileAnchorUnscoped }?.outcome == .warning)
  }

  @Test(arguments: [
    ("{}", CRLAddresses.named), (#"{"crl_addresses": "https"}"#, .https), (#"{"allow_http": false}"#, .https),
    (#"{"allow_http": true}"#, .named), (#"{"allow_http": false, "crl_addresses": "named"}"#, .named),
  ])
  func settingsSayWhereRevocationListsMayBeAskedFor(settings: String, expected: CRLAddresses) throws {
    try fixture.write(fixture.rootDER(), to: "root.der")
    try fixture.write(settings, to: "root.json")
    #expect(try loader.load([fixture.folder]).first?.crlAddresses == expected)
    // A source's setting applies to authorities without their own setting.
    let strict = TrustAnchorLoader(defaultDocTypes: nil, crlAddresses: .https)
    let isSaid = settings.contains("crl_addresses")
    #expect(try strict.load([fixture.folder]).first?.crlAddresses == (isSaid ? expected : .https))
  }

  @Test func aPinnedSignerMayBeRelievedOfTheCAFlag() throws {
    try fixture.write(fixture.rootDER(), to: "root.der")
    try fixture.write(#"{"kind": "document_signer", "relax": ["trust.certificate.is_ca"]}"#, to: "root.json")
    #expect(try loader.load([fixture.folder]).first?.relaxed == [.certificateIsCA])
  }

  @Test func settingsStandBesideTheAnchor() throws {
    try fixture.write(fixture.rootDER(), to: "root.der")
    try fixture.write(
      """
      { "doc_types": ["a", "b"], "ekus": ["1.2.3"], "max_path_length": 1, "tier": "test",
        "source": "by post", "allow_http": true, "jwt_status_lists": true,
        "relax": ["trust.certificate.extended_key_usage", "trust.anchor_expired"] }
      """, to: "root.json")
    for path in [fixture.folder, fixture.folder + "/", fixture.folder + "/root.der"] {
      let anchor = try #require(try loader.load([path]).first)
      #expect(anchor.docTypes == ["a", "b"])
      #expect(anchor.extendedKeyUsages == ["1.2.3"])
      #expect(anchor.maxPathLength == 1 && anchor.tier == .test && anchor.allowsPlainHTTP)
      #expect(anchor.allowsJWTStatusLists)
      #expect(anchor.source.hasSuffix("/root.der: by post"))
      #expect(anchor.relaxed == [.certificateExtendedKeyUsage, .anchorExpired])
    }
  }

  @Test(arguments: [
    "", "[]", "{", "null", #"{"doc_types": "a"}"#, #"{"doc_types": []}"#, #"{"doc_types": [1]}"#, #"{"ekus": null}"#,
    #"{"doc_types": ["a", 1]}"#,
    #"{"max_path_length": -1}"#, #"{"max_path_length": 9}"#, #"{"max_path_length": "1"}"#,
    #"{"max_path_length": true}"#, #"{"max_path_length": 0.5}"#, #"{"tier": "prod"}"#, #"{"source": ""}"#,
    #"{"allow_http": 1}"#, #"{"jwt_status_lists": "yes"}"#, #"{"crl_addresses": "http"}"#,
    #"{"relax": ["trust.certificate.is_ca"]}"#, #"{"tier": 1}"#,
    #"{"relax": "all"}"#, #"{"relax": ["all"]}"#, #"{"docTypes": ["a"]}"#, #"{"Doc_types": ["a"]}"#,
    #"{"skip_signature": true}"#, #"{"kind": "signer"}"#, #"{"kind": 1}"#,
    #"{"kind": "document_signer", "max_path_length": 1}"#,
  ])
  func settingsThatAreNotUnderstoodAreRefused(text: String) throws {
    try fixture.write(fixture.rootDER(), to: "root.der")
    try fixture.write(text, to: "root.json")
    #expect(throws: TrustLoadError.self) { try loader.load([fixture.folder]) }
  }

  @Test func settingsPinADocumentSigner() throws {
    try fixture.write(Array(fixture.chain()[0]), to: "signer.der")
    try fixture.write(#"{ "kind": "document_signer", "doc_types": ["\#(TrustFixture.mDL)"] }"#, to: "signer.json")
    let anchors = try loader.load([fixture.folder])
    #expect(anchors.map(\.kind) == [.documentSigner])
    let store = try TrustStore(anchors: anchors, allowsTestCertificates: true)
    #expect(try store.failures(fixture.chain(), at: fixture.now) == [])
  }

  private static let groups: [CodeGroup] = [
    .cbor, .response, .proof, .issuerAuthentication, .certificatePath, .issuerSignature, .mobileSecurityObject, .items,
    .validity, .deviceAuthentication, .revocation, .acceptance, .trustLists,
  ]

  @Test(arguments: groups.flatMap(\.codes))
  func onlyListedChecksCanBeRelaxed(code: Code) throws {
    try fixture.write(fixture.rootDER(), to: "root.der")
    try fixture.write(#"{"relax": ["\#(code.rawValue)"]}"#, to: "root.json")
    let anchors = try? loader.load([fixture.folder])
    let relaxable = TrustAnchor.relaxable.subtracting(TrustAnchor.relaxableForSigners)
    #expect((anchors != nil) == relaxable.contains(code))
    #expect(
      TrustAnchor(certificate: try fixture.root().certificate, relaxed: [code]).relaxed.count == (anchors?.count ?? 0))
  }

  /// With a typing mistake in its name, `tier: test` would be lost and the anchor would be live.
  @Test func settingsThatBelongToNoAnchorAreRefused() throws {
    try fixture.write(fixture.rootDER(), to: "root-test.der")
    try fixture.write(#"{"tier": "test"}"#, to: "root_test.json")
    #expect(throws: TrustLoadError.self) { try loader.load([fixture.folder]) }
  }

  @Test func aDotInAFoldersNameBeginsNoEnding() throws {
    // The fixture's folder has a dot in its name; its "ending" would make the settings file /tmp/mdoc.json.
    try fixture.write(fixture.rootDER(), to: "root")
    try fixture.write(#"{"tier": "test"}"#, to: "root.json")
    #expect(try loader.load([fixture.folder + "/root"]).map(\.tier) == [.test])
  }

  @Test func whatIsNoCertificateIsRefused() throws {
    let der = try fixture.rootDER()
    for content in [[], Array("hello".utf8), Array(der.dropLast()), der + [0]] {
      try fixture.write(content, to: "root.pem")
      #expect(throws: TrustLoadError.self) { try loader.load([fixture.folder]) }
    }
    let absent = #expect(throws: TrustLoadError.self) { try loader.load([fixture.folder + "/absent.pem"]) }
    #expect(absent?.problem == "there is no such file or folder")
  }

  @Test func severalCertificatesInOneFileShareItsSettings() throws {
    let text = try PEM.encode(certificate: fixture.rootDER()) + PEM.encode(certificate: fixture.rootDER(.notCA))
    try fixture.write("0 s:CN=written by a tool\r\n" + text, to: "roots.pem")
    try fixture.write(#"{"doc_types": ["a"]}"#, to: "roots.json")
    #expect(try loader.load([fixture.folder]).map(\.docTypes) == [["a"], ["a"]])
  }

  @Test func filesOfOtherKindsAreLeftAlone() throws {
    try fixture.write("notes", to: "README.md")
    #expect(try loader.load([fixture.folder]).isEmpty)
  }
}
