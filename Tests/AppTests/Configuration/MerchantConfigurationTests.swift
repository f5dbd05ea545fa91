import Base
import PKIX
import Presentation
import Sessions
import TestSupport
import Testing

@testable import App

/// `apple` of a relying party: one merchant or several, with the certificates of their keys.
@Suite(.onOwnThreads) struct MerchantConfigurationTests {
  private static let certified: JSON = [
    "merchant_id": "merchant.example.shop", "team_id": "ABCDE12345",
    "encryption_keys": [["file": "merchant-certified.pem", "certificate": "merchant-certificate.pem"]],
  ]

  /// Reads a configuration with this `apple`.
  private func load(_ apple: JSON) async throws -> RelyingParty {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeMerchantCertificate()
      try folder.writeConfiguration(["relying_parties": [LiveFolder.party.with(apple, at: "/apple")]])
      return try #require(ConfigurationLoader(path: folder.configurationFile).load().relyingParties["shop"])
    }
  }

  private func problem(_ apple: JSON) async throws -> InputError? {
    do {
      _ = try await load(apple)
      return nil
    } catch let error as StartError {
      return error.problems.first
    }
  }

  @Test func `a merchant stands alone or among several, each of another name`() async throws {
    let other = Self.certified.with("merchant.example.bar", at: "/merchant_id").with(
      ["merchant.pem"], at: "/encryption_keys")
    #expect(try await load(Self.certified).apple.map(\.merchantID) == ["merchant.example.shop"])
    let both = try await load([Self.certified, other])
    #expect(both.apple.map(\.merchantID) == ["merchant.example.shop", "merchant.example.bar"])
    #expect(both.apple.map(\.certificates.count) == [1, 0])
    let twice = try await problem([Self.certified, Self.certified])
    #expect(twice?.pointer == "/relying_parties/0/apple/1/merchant_id")
    #expect(try await problem([])?.pointer == "/relying_parties/0/apple")
  }

  @Test(
    arguments: [
      (["/merchant_id": "merchant.example.bar"], "by its UID"), (["/team_id": "ZZZZZ99999"], "by its OU"),
      (["/encryption_keys/0/file": "merchant.pem"], "does not match the private key"),
      (["/encryption_keys/0/certificate": "merchant.pem"], "no certificate in PEM or DER"),
    ] as [([String: JSON], String)])
  func `a certificate names its merchant and team, and has its key`(_ changes: [String: JSON], _ reason: String)
    async throws
  {
    let apple = changes.reduce(Self.certified) { $0.with($1.value, at: $1.key) }
    let found = try #require(try await problem(apple))
    #expect(found.pointer == "/relying_parties/0/apple/encryption_keys/0/certificate")
    #expect(found.detail.contains(reason), "\(found.detail)")
  }

  @Test func `the end of a merchant's certificate is counted, and warned of`() async throws {
    let parties = try RelyingParties([try await load(Self.certified)])
    let end = try #require(parties.all.first?.apple.first?.certificates.first).certificate.validity.upperBound
    func found(_ seconds: Int64) -> PartyCertificates { PartyCertificates(.merchant, of: parties, at: end + seconds) }
    let day: Int64 = 86_400
    #expect(PartyCertificates.shape.write(found(-31 * day)) == ["count": 1, "expired": 0, "expiring": 0])
    #expect(PartyCertificates.shape.write(found(-29 * day)) == ["count": 1, "expired": 0, "expiring": 1])
    #expect(found(-29 * day).nextExpiry == end)
    #expect(PartyCertificates.shape.write(found(1)) == ["count": 1, "expired": 1, "expiring": 0])
    #expect(PartyCertificates.warnings(of: parties, at: end + -31 * day) == [])
    for (seconds, text) in [(-29 * day, "expires at"), (1, "is expired")] {
      let warning = try #require(PartyCertificates.warnings(of: parties, at: end + seconds).first)
      #expect(warning.contains("the merchant certificate") && warning.contains(text), "\(warning)")
    }
  }

  @Test func `readiness and metrics tell of them`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeMerchantCertificate()
      try folder.writeConfiguration(["relying_parties": [LiveFolder.party.with(Self.certified, at: "/apple")]])
      try await folder.serve { _, api, _ in
        #expect(
          try await api.get("/readyz").json["merchant_certificates"] == ["count": 1, "expired": 0, "expiring": 0])
        let metrics = try await api.with(nil).get("/metrics").body
        #expect(metrics.contains("mdoc_merchant_certificates{state=\"valid\"} 1\n"))
        #expect(metrics.contains("\nmdoc_merchant_certificate_next_expiry_timestamp_seconds 4"))
      }
    }
  }

  @Test func `how long values are kept has a bound`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      func policy(_ days: JSON, _ longest: JSON) throws -> RetentionPolicy? {
        let party = LiveFolder.party.with(days, at: "/retain_days").with(longest, at: "/longest_retain_days")
        try folder.writeConfiguration(["relying_parties": [party]])
        return try ConfigurationLoader(path: folder.configurationFile).load().relyingParties["shop"]?.policies.retention
      }
      #expect(try policy(.null, .null) == RetentionPolicy(days: nil, longest: 365))
      #expect(try policy(7, 90) == RetentionPolicy(days: 7, longest: 90))
      #expect(try policy(100, 90) == RetentionPolicy(days: 90, longest: 90))
      #expect(throws: StartError.self) { try policy(0, .null) }
    }
  }
}

/// A key of merchant `merchant.example.shop` of team `ABCDE12345`, with a certificate like Apple's: its subject has UID
/// and OU. It is valid from 2026 to 2125.
enum MerchantFixture {
  static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXEBWwvLC/ZM6qKWd
    mT26znI4VSrLxHNzud9Gy0rf4KChRANCAAQGYawYVfBh9r5FJpYyMP3ZdzGiabVk
    jBwrhkuYdufZhE7FiV/2lV1Ulq9z2Ot5eRQrF304194yWbkndkXs2PIX
    -----END PRIVATE KEY-----

    """

  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBzjCCAXQCAQEwCgYIKoZIzj0EAwIwcjELMAkGA1UEBhMCVVMxDTALBgNVBAoM
    BFNob3AxEzARBgNVBAsMCkFCQ0RFMTIzNDUxGDAWBgNVBAMMD0lkZW50aXR5IEFj
    Y2VzczElMCMGCgmSJomT8ixkAQEMFW1lcmNoYW50LmV4YW1wbGUuc2hvcDAgFw0y
    NjAxMDEwMDAwMDBaGA8yMTI2MDEwMTAwMDAwMFowcjELMAkGA1UEBhMCVVMxDTAL
    BgNVBAoMBFNob3AxEzARBgNVBAsMCkFCQ0RFMTIzNDUxGDAWBgNVBAMMD0lkZW50
    aXR5IEFjY2VzczElMCMGCgmSJomT8ixkAQEMFW1lcmNoYW50LmV4YW1wbGUuc2hv
    cDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAZhrBhV8GH2vkUmljIw/dl3MaJp
    tWSMHCuGS5h259mETsWJX/aVXVSWr3PY63l5FCsXfTjX3jJZuSd2RezY8hcwCgYI
    KoZIzj0EAwIDSAAwRQIgN6mzVNXUVH14DSZPl31Py1q6v01UOtdgaw2tylZIwXoC
    IQCBErptumW/pdkcZ81WoghDa/c9LaGwR2DO5bMazAOhWQ==
    -----END CERTIFICATE-----

    """
}
