import Base
import CBOR
import Cryptography

extension MockVariant {
  /// OpenID4VP answers in which the device signed for another session: with another nonce, key, origin, client or
  /// response address, or with another form of handover.
  @MockVariantList static var handovers: [MockVariant] {
    for fault in OriginFault.allCases {
      handover(
        "origin-\(fault.rawValue)", "The wallet answered \(fault.summary).", "D01", .openID4VPDigitalCredentials
      ) { $0.origin = fault.applied(to: $0.origin) }
    }
    handover("nonce-other", "The wallet answered another nonce.", "S06", .openID4VP) { $0.nonce += "A" }
    handover(
      "thumbprint-null", "The answer is encrypted, and the handover has no thumbprint of the key.", "D11",
      .openID4VPEncrypted
    ) { $0.thumbprint = .null }
    handover("thumbprint-text", "The thumbprint in the handover is text.", "D11", .openID4VPEncrypted) {
      if case .bytes(let thumbprint) = $0.thumbprint { $0.thumbprint = .text(Base64.encodeURLSafe(thumbprint)) }
    }
    handover("thumbprint-other-key", "The thumbprint in the handover is of another key.", "D11", .openID4VPEncrypted) {
      $0.thumbprint = .bytes(MockJWK.thumbprint(of: try $0.seed.key("another verifier", on: .p256).publicKey))
    }
    handover("handover-draft-18", "The handover is that of draft 18.", "D12", .openID4VP) { $0.handover = .draft18 }
    handover("handover-draft-24", "The handover is that of draft 24.", "D12", .openID4VP) { $0.handover = .draft24 }
    handover(
      "handover-redirect", "The handover is OpenID4VPHandover, over the Digital Credentials API.", "D13",
      .openID4VPDigitalCredentials
    ) {
      $0.handover = .redirect
      $0.responseURI = $0.origin + "/response"
    }
    handover(
      "handover-digital-credentials", "The handover is OpenID4VPDCAPIHandover, after a redirect.", "D13",
      .openID4VPRedirect
    ) { $0.handover = .digitalCredentialsAPI }
    handover("client-id-other", "The wallet answered another client.", "D14", .openID4VPRedirect) {
      $0.clientID = "x509_san_dns:other.example"
    }
    handover("client-id-without-prefix", "The client_id in the handover lacks its prefix.", "D14", .openID4VPRedirect) {
      $0.clientID = String($0.clientID.drop { $0 != ":" }.dropFirst())
    }
    handover("response-uri-other", "The response_uri in the handover is another.", "D14", .openID4VPRedirect) {
      $0.responseURI += "/other"
    }
  }

  /// Wrong answers of ISO/IEC TS 18013-7, Annex B.
  @MockVariantList static var annexB: [MockVariant] {
    MockVariant(
      "annex-b-handover-1.0", "The handover is that of OpenID4VP 1.0.", cases: "D12", codes: [.deviceSignatureInvalid],
      applicability: .annexB, .openID4VP { $0.handover = .redirect })
    MockVariant(
      "annex-b-mdoc-nonce-other", "The device signed another mdoc nonce than `apu` says.",
      codes: [.deviceSignatureInvalid], applicability: .annexB,
      .jwe { $0["apu"] = .string(Base64.encodeURLSafe(Array("another mdoc nonce".utf8))) })
  }

  private static func handover(
    _ name: String, _ summary: String, _ cases: String, _ applicability: Applicability,
    _ change: @escaping MockChange<OpenID4VPDraft>
  ) -> MockVariant {
    MockVariant(
      "openid4vp-\(name)", summary, cases: cases, codes: [.deviceSignatureInvalid], applicability: applicability,
      .openID4VP(change))
  }
}

/// Wrong origins that look like the right one (row D01). Origins are compared as text.
enum OriginFault: String, CaseIterable, Sendable {
  case host, scheme, port
  case letterCase = "case"
  case slash, prefix

  /// Completes "The wallet answered …".
  var summary: String {
    switch self {
    case .host: "another host"
    case .scheme: "the same host over http"
    case .port: "another port of the host"
    case .letterCase: "the origin in upper case"
    case .slash: "the origin with a slash at its end"
    case .prefix: "the origin with the prefix `web-origin:`"
    }
  }

  func applied(to origin: String) -> String {
    let host = origin.drop { $0 != "/" }.dropFirst(2)
    return switch self {
    case .host: "https://other.\(host)"
    case .scheme: "http://\(host)"
    case .port: "https://\(host):8443"
    case .letterCase: "https://\(host.uppercased())"
    case .slash: origin + "/"
    case .prefix: "web-origin:" + origin
    }
  }
}
