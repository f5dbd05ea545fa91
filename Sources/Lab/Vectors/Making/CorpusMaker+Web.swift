import Base
import Mock

extension CorpusMaker {
  /// The one web session of all cases.
  private func webSession(isEncrypted: Bool = true) throws -> MockWebSession {
    let host = "verifier.example"
    var session = MockWebSession(
      encryptionKey: webKey, nonce: Array(0..<32), origin: "https://\(host)",
      reader: try authority.reader(dnsName: host, at: now), responseURI: "https://\(host)/response",
      state: "af0ifjsldkj-S6_WzA2Mj")
    session.isEncrypted = isEncrypted
    return session
  }

  /// - Parameter agreed: what the person agrees to.
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
    let answer: MockWebAnswer
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
    return .init(
      encryptionInfo: session.encryptionInfo, origin: session.origin, recipientKey: try webKey.scalar().exposed())
  }

  func openID4VP(_ name: String, isEncrypted: Bool) throws -> VectorSession.OpenID4VP {
    let session = try webSession(isEncrypted: isEncrypted)
    let isOverBrowser = VectorSession.OpenID4VP.overBrowser.contains(name)
    return .init(
      protocolName: name, nonce: session.nonceText,
      channel: isOverBrowser
        ? .digitalCredentialsAPI(origin: session.origin)
        : .redirect(
          clientID: name == VectorSession.OpenID4VP.annexB ? session.reader.dnsName : session.clientID,
          responseURI: session.responseURI, state: session.state),
      encryption: isEncrypted ? .init(key: try webKey.scalar().exposed(), keyID: session.keyID) : nil)
  }
}
