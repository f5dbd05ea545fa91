import Base
import Mock
import Vectors

extension CorpusCase.Form {
  /// OpenID4VP over the Digital Credentials API. All its protocols there have the same transcript, so one stands for
  /// all.
  static let browser = CorpusCase.Form.openID4VP(protocolName: "openid4vp-v1-unsigned")
  static let redirect = CorpusCase.Form.openID4VP(protocolName: "openid4vp")
  static let annexB = CorpusCase.Form.openID4VP(protocolName: VectorSession.OpenID4VP.annexB)
}

extension Corpus {
  /// Right answers over the web protocols: every way, every curve, MACs if the protocol allows them, several documents.
  static var overWeb: [CorpusCase] { ways + curves + macs + severalDocuments }

  private static let annexC = "annex-c"
  private static let openID4VP = "openid4vp"

  private static var ways: [CorpusCase] {
    let ways: [(id: String, summary: String, form: CorpusCase.Form)] = [
      ("openid4vp-good", "over the Digital Credentials API, by an unsigned request", .browser),
      ("openid4vp-signed-good", "by a signed request", .openID4VP(protocolName: "openid4vp-v1-signed")),
      (
        "openid4vp-multisigned-good", "by a request with several signatures",
        .openID4VP(protocolName: "openid4vp-v1-multisigned")
      ),
      (
        "openid4vp-clear-good", "in clear, as was asked",
        .openID4VP(protocolName: "openid4vp-v1-unsigned", isEncrypted: false)
      ),
      ("openid4vp-redirect-good", "by redirect or QR code", .redirect),
      (
        "openid4vp-redirect-clear-good", "by redirect or QR code, in clear, as was asked",
        .openID4VP(protocolName: "openid4vp", isEncrypted: false)
      ),
      ("openid4vp-annex-b-good", "by the older profile of ISO/IEC TS 18013-7, Annex B", .annexB),
    ]
    return ways.map { way in
      .make(way.id, group: openID4VP, "Nothing is wrong; OpenID4VP \(way.summary).", form: way.form) {
        $0.reference = "OpenID4VP 1.0, B.2"
      }
    } + [
      .make("annex-c-good", group: annexC, "Nothing is wrong; over org-iso-mdoc.", form: .annexC) {
        $0.reference = "ISO/IEC TS 18013-7:2025, Annex C"
      }
    ]
  }

  /// Right answers with issuer and device keys on every curve that can sign.
  private static var curves: [CorpusCase] {
    let variants = (MockVariant.groups.first { $0.name == "controls" }?.variants ?? []).filter { variant in
      ["issuer-", "device-"].contains { variant.name.hasPrefix($0) } && variant.summary.contains(" is on ")
    }
    return variants.flatMap { variant in
      [
        CorpusCase(variant, group: annexC, form: .annexC, id: "\(variant.name)-annex-c"),
        CorpusCase(variant, group: openID4VP, form: .browser, id: "\(variant.name)-openid4vp"),
      ]
    }
  }

  /// Right answers with a device MAC. Its reader key is the encryption key (OpenID4VP 1.0, B.2.5). Annex C has no
  /// reader key, so it has no such case.
  private static var macs: [CorpusCase] {
    let good: [(id: String, name: String)] = [
      ("openid4vp-device-mac-good", "openid4vp-v1-unsigned"), ("openid4vp-redirect-device-mac-good", "openid4vp"),
      ("openid4vp-annex-b-device-mac-good", VectorSession.OpenID4VP.annexB),
    ]
    let wrong = MockVariant.all.filter { $0.applicability == .deviceMAC }
    let unexpected = MockVariant.named("device-mac").map { variant in
      [
        CorpusCase(variant, group: annexC, form: .annexC, id: "device-mac-annex-c"),
        CorpusCase(
          variant, group: openID4VP, form: .openID4VP(protocolName: "openid4vp-v1-unsigned", isEncrypted: false),
          id: "device-mac-openid4vp-clear"),
      ]
    }
    return good.map { id, name in
      .make(
        id, group: openID4VP, "Nothing is wrong; the device sends a MAC for the key that the answer is encrypted to.",
        form: .openID4VP(protocolName: name, usesMAC: true)
      ) { $0.reference = "OpenID4VP 1.0, B.2.5" }
    } + (unexpected ?? [])
      + wrong.map { variant in
        CorpusCase(
          variant, group: openID4VP, form: .openID4VP(protocolName: "openid4vp-v1-unsigned", usesMAC: true),
          id: "\(variant.name)-openid4vp")
      }
  }

  private static var severalDocuments: [CorpusCase] {
    [(annexC, CorpusCase.Form.annexC), (openID4VP, .browser), ("\(openID4VP)-redirect", .redirect)].flatMap {
      name, form -> [CorpusCase] in
      let group = form == .annexC ? annexC : openID4VP
      return [
        .make("\(name)-any-of", group: group, "One of two documents, any of which will do.", form: form) {
          $0.request = .anyOf
        },
        .make("\(name)-all-documents", group: group, "Both documents are asked for and returned.", form: form) {
          $0.request = .anyOf
          $0.requiresAllDocuments = true
        },
        .make(
          "\(name)-all-documents-one-missing", group: group, "Both documents are asked for, one is returned.",
          cases: form == .annexC ? "" : "D15", codes: [form == .annexC ? .documentMissing : .vpTokenIncomplete],
          form: form
        ) {
          $0.request = .anyOf
          $0.requiresAllDocuments = true
          $0.answersFirstOnly = true
        },
      ]
    }
  }
}

extension CorpusMaker {
  /// The web session that all cases share.
  private func webSession(isEncrypted: Bool = true) throws -> MockWebSession {
    let host = "verifier.example"
    var session = MockWebSession(
      encryptionKey: webKey, nonce: Array(0..<32), origin: "https://\(host)",
      reader: try authority.reader(dnsName: host, at: now), responseURI: "https://\(host)/response",
      state: "af0ifjsldkj-S6_WzA2Mj")
    session.isEncrypted = isEncrypted
    return session
  }

  /// - Parameter agreed: the part of the request that the person agrees to.
  func webAnswer(_ made: CorpusCase, agreed: MockRequest) throws -> MadeAnswer {
    guard case .openID4VP(let name, let isEncrypted, let usesMAC) = made.form else {
      let session = try webSession()
      let data = try session.data(
        for: VectorSession.annexCName, made.request, requiresAll: made.requiresAllDocuments)
      let answer = try wallet.answer(
        digitalCredential: VectorSession.annexCName, data: data, origin: session.origin, request: agreed,
        variant: made.variant, at: now)
      let bytes = answer.data["response"]?.string.flatMap(Base64.decodeURLSafe) ?? []
      return MadeAnswer(bytes: bytes, deviceResponses: answer.deviceResponses)
    }
    let session = try webSession(isEncrypted: isEncrypted)
    let authentication: MockWebAuthentication = usesMAC ? .mac : .signature
    let answer: MockWebResponse
    if VectorSession.OpenID4VP.overBrowser.contains(name) {
      answer = try wallet.answer(
        digitalCredential: name,
        data: session.data(for: name, made.request, requiresAll: made.requiresAllDocuments), origin: session.origin,
        request: agreed, authentication: authentication, variant: made.variant, at: now)
    } else {
      let object =
        try name == VectorSession.OpenID4VP.annexB
        ? session.annexBRequestObject(made.request)
        : session.requestObject(made.request, requiresAll: made.requiresAllDocuments)
      answer = try wallet.answer(
        requestObject: object, request: agreed, authentication: authentication, variant: made.variant, at: now)
    }
    return MadeAnswer(bytes: answer.data.serialized(), deviceResponses: answer.deviceResponses)
  }

  func annexC() throws -> VectorSession.AnnexC {
    let session = try webSession()
    var known = VectorSession.AnnexC()
    known.encryptionInfo = session.encryptionInfo
    known.origin = session.origin
    known.recipientKey = try webKey.scalar().exposed()
    return known
  }

  func openID4VP(_ name: String, isEncrypted: Bool) throws -> VectorSession.OpenID4VP {
    let session = try webSession(isEncrypted: isEncrypted)
    var known = VectorSession.OpenID4VP(protocolName: name)
    known.nonce = session.nonceText
    if VectorSession.OpenID4VP.overBrowser.contains(name) {
      known.origin = session.origin
    } else {
      known.clientID = name == VectorSession.OpenID4VP.annexB ? session.reader.dnsName : session.clientID
      known.responseURI = session.responseURI
      known.state = session.state
    }
    if isEncrypted { (known.encryptionKey, known.keyID) = (try webKey.scalar().exposed(), session.keyID) }
    return known
  }
}
