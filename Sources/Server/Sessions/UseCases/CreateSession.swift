import Base
import Cryptography
import Longfellow
import Mdoc
import Presentation

/// Makes a session: one request for each protocol, each with its own nonce and key, and a client secret that is shown
/// in this reply only.
struct CreateSession {
  let context: ServiceContext

  func run(_ body: JSON, as caller: Caller, claim: IdempotencyClaim?) async throws(ServiceError) -> OperationReply {
    let party = caller.relyingParty
    let input = try CreateSessionInput(
      parsing: body, for: party, offered: Set(context.protocols.keys), publicURL: context.publicURL,
      circuits: context.proofs?.circuits.circuits ?? [])
    try await context.checkQuota(of: party, forSession: true)
    let id: SessionID
    let secret: ClientSecret
    do {
      id = try SessionID.random()
      secret = try ClientSecret.random(of: id)
    } catch {
      throw .cryptoFailed
    }
    let now = context.clock()
    let place = RequestContext(
      session: SessionAddress(relyingParty: party.id, id: id), relyingParty: party, apple: input.apple,
      registration: input.registration, origin: input.origin, publicURL: context.publicURL, now: now)
    var offers: [ProtocolOffer] = []
    for name in input.protocols {
      // The input was checked against these names.
      guard let wallet = context.protocols[name] else { throw ServiceError(.apiProtocolUnsupported) }
      offers.append(try offer(wallet, input.request, in: place))
    }
    let bytes = offers.reduce(body.plainBytes) { $0 + $1.data.bytes.count }
    guard bytes <= Limits.sessionBytes else { throw ServiceError(.apiSessionTooLarge) }
    let record = SessionRecord(
      address: place.session, created: now, expiresAt: now + input.expiresIn,
      clientSecretHash: secret.sha256,
      content: SessionContent(
        request: input.request, origin: input.origin, redirectURI: input.redirectURI, page: input.page,
        intendedUseID: input.registration?.intendedUseID, clientReferenceID: input.clientReferenceID,
        metadata: input.metadata),
      offers: offers)
    let page = input.page.flatMap { _ in place.publicURL.map { PageAddress(publicURL: $0, session: place.session) } }
    let rendered = SessionRendering(isLive: context.isLive, now: now).json(record, clientSecret: secret, page: page)
    var reply = OperationReply(status: 201, body: rendered, session: id)
    let completion = try context.completion(claim, reply)
    do { try await context.store.create(record, finishing: completion) } catch { throw ServiceError(error) }
    context.usage.note(
      StoreUsage(openSessions: 1, bytes: Int64(bytes) + StoreUsage.sessionOverhead), of: party.id)
    reply.isKept = true
    return reply
  }

  private func offer(
    _ wallet: any WalletProtocol, _ request: PresentationRequest, in place: RequestContext
  ) throws(ServiceError) -> ProtocolOffer {
    let outgoing = try wallet.makeRequest(request, in: place)
    let sealed: [UInt8]
    do {
      sealed = try context.sealer.seal(outgoing.material, .challenge(place.session.id, protocolName: wallet.name))
    } catch {
      throw .cryptoFailed
    }
    return ProtocolOffer(protocolName: wallet.name, data: JSONText(outgoing.data), sealedMaterial: sealed)
  }
}

/// The body of `POST /v1/verification_sessions`, under the rules of its relying party.
package struct CreateSessionInput: Sendable {
  package let protocols: [String]
  package let request: PresentationRequest
  package let origin: String?
  package let redirectURI: String?
  /// Nil where the relying party has no page, or the page could not ask by any of the protocols.
  package let page: PageWishes?
  /// The relying party's merchant that asks in-app; nil elsewhere.
  package let apple: AppleConfiguration?
  /// Which of the relying party's registration certificates the requests carry; nil in-app and where it has none.
  package let registration: RegistrationCertificate?
  /// Seconds.
  package let expiresIn: Int64
  package let clientReferenceID: String?
  package let metadata: [SessionContent.MetadataEntry]

  /// - Parameters:
  ///   - offered: the names of the protocols that are built.
  ///   - publicURL: the origin of hosted pages.
  ///   - circuits: those at hand, by which proofs can be asked for.
  package init(
    parsing json: JSON, for relyingParty: RelyingParty, offered: Set<String>, publicURL: String? = nil,
    circuits: [KnownCircuit] = []
  ) throws(ServiceError) {
    var faults = Faults()
    guard let body = CreateSessionBody.shape.read(json, "", &faults) else { throw faults.refusal }
    Self.checkProtocols(body.protocols, offered, &faults)
    protocols = body.protocols
    let families = Set(protocols.compactMap(ProtocolFamily.init(ofProtocol:)))
    // Those that go together have the same rules for what may be asked.
    let family = protocols.first.flatMap(ProtocolFamily.init(ofProtocol:)) ?? .inApp
    let pageOrigin = relyingParty.page == nil ? nil : publicURL
    request = PresentationRequestDecoder(
      for: family, protocols: protocols, retention: relyingParty.policies.retention,
      proofs: .init(circuits: circuits, revocation: relyingParty.policies.revocation)
    ).request(body.asked, &faults)
    if protocols.contains(AnnexBProtocol().name), request.documents.contains(where: { $0.proofs != nil }) {
      faults.add("/documents", "cannot ask for proofs by `\(AnnexBProtocol().name)`", code: .zkNotProvable)
    }
    origin = body.origin
    if origin == nil, families.contains(.web) { faults.add("/origin", "is required") }
    if let origin, origin != pageOrigin, !relyingParty.origins.contains(origin) {
      faults.add("/origin", "is not one of the relying party's configured origins", code: .apiOriginNotAllowed)
    }
    redirectURI = Self.redirectURI(body, families, relyingParty, &faults)
    let canAsk = families.contains(.redirect) || families.contains(.web) && origin == pageOrigin
    page = Self.page(body, isThere: pageOrigin != nil && canAsk, relyingParty, &faults)
    apple = Self.apple(body.appleMerchantID, family, relyingParty, &faults)
    registration = Self.registration(body.intendedUseID, family, relyingParty, &faults)
    // Only where all was read do places in the request and in the input agree.
    if let registration, faults.isEmpty { Self.requireRegistered(request, by: registration, &faults) }
    expiresIn = body.expiresIn
    clientReferenceID = body.clientReferenceID
    metadata = body.metadata
    guard faults.isEmpty else { throw faults.refusal }
  }

  private static func checkProtocols(_ names: [String], _ offered: Set<String>, _ faults: inout Faults) {
    for (index, name) in names.enumerated() {
      if names[..<index].contains(name) { faults.add("/protocols/\(index)", "is there twice") }
      if !offered.contains(name) {
        let known = offered.sorted()
        let those =
          known.isEmpty
          ? "the relying party's configuration offers nothing" : "there are " + known.joined(separator: ", ")
        faults.add(
          "/protocols/\(index)", "is not offered here; \(those)" + Spelling.hint(for: name, among: known),
          code: .apiProtocolUnsupported)
      }
    }
    let others = names.filter { ProtocolFamily(ofProtocol: $0) != .web }
    // A wallet fetches its request by the session's name alone, so there must be only one.
    let isOneBesideWeb = others.count == 1 && ProtocolFamily.besideWeb.contains(others[0])
    if names.count > 1, !others.isEmpty, !isOneBesideWeb {
      faults.add(
        "/protocols",
        "cannot be offered together: only those of the Digital Credentials API, and with them one of "
          + ProtocolFamily.besideWeb.map { "`\($0)`" }.joined(separator: " and "))
    }
  }

  /// `purpose` and `return_url`, which only a page can say and use.
  private static func page(
    _ body: CreateSessionBody, isThere: Bool, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) -> PageWishes? {
    guard isThere else {
      let reason =
        relyingParty.page == nil
        ? "needs a page, and this relying party has none configured"
        : "goes with `openid4vp`, or with the page's own `origin`"
      if body.purpose != nil { faults.add("/purpose", reason) }
      if body.returnURL != nil { faults.add("/return_url", reason) }
      return nil
    }
    if let address = body.returnURL { checkAddress(address, at: "/return_url", relyingParty, &faults) }
    return PageWishes(purpose: body.purpose, returnURL: body.returnURL)
  }

  /// Only a wallet that posts its answer by itself sends the person anywhere.
  private static func redirectURI(
    _ body: CreateSessionBody, _ families: Set<ProtocolFamily>, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) -> String? {
    guard let address = body.redirectURI else {
      let hasOther = !families.contains(.redirect) || body.returnURL != nil
      return hasOther ? nil : relyingParty.openID4VP.redirectURI
    }
    if families.contains(.redirect) {
      let isOwnApp = relyingParty.openID4VP.redirectSchemes.contains { address.hasPrefix($0 + "://") }
      if !isOwnApp || !RedirectURI.isAbsolute(address) {
        checkAddress(address, at: "/redirect_uri", relyingParty, &faults)
      }
    } else {
      faults.add("/redirect_uri", "goes with `openid4vp` by redirect or QR code only")
    }
    return address
  }

  /// An address that a person is sent to must be the relying party's own.
  private static func checkAddress(
    _ address: String, at pointer: String, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) {
    if !RedirectURI.isAbsolute(address) {
      faults.add(pointer, "must be an absolute address without a fragment: it begins with a scheme and `://`")
    } else if RedirectURI.origin(of: address, among: relyingParty.webOrigins) == nil {
      let apps = pointer.hasSuffix("redirect_uri") ? " and of no scheme of `openid4vp.redirect_schemes`" : ""
      faults.add(pointer, "is at none of the relying party's configured origins" + apps, code: .apiOriginNotAllowed)
    }
  }

  /// The relying party's only merchant, or the one that the request names. With several it must name one: the order of
  /// the configuration does not decide whose certificate answers are encrypted to.
  private static func apple(
    _ name: String?, _ family: ProtocolFamily, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) -> AppleConfiguration? {
    let pointer = "/apple_merchant_id"
    guard family == .inApp else {
      if name != nil { faults.add(pointer, "goes with `apple-in-app` only") }
      return nil
    }
    let merchants = relyingParty.apple
    guard let name else {
      if merchants.count > 1 { faults.add(pointer, "is required: there are \(names(of: merchants))") }
      return merchants.count == 1 ? merchants.first : nil
    }
    let found = merchants.first { $0.merchantID == name }
    if found == nil {
      let those = merchants.isEmpty ? "there is none" : "there are \(names(of: merchants))"
      faults.add(pointer, "is no configured merchant of the relying party; \(those)")
    }
    return found
  }

  /// The relying party's only registration certificate, or the one of the intended use that the request names.
  private static func registration(
    _ id: String?, _ family: ProtocolFamily, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) -> RegistrationCertificate? {
    let pointer = "/intended_use_id"
    guard family != .inApp else {
      if id != nil { faults.add(pointer, "does not go with `apple-in-app`") }
      return nil
    }
    let all = relyingParty.registrations
    if id == nil, all.count <= 1 { return all.first }
    let found = all.first { $0.intendedUseID == id }
    if id == nil || found == nil {
      let known = all.compactMap(\.intendedUseID).joined(separator: ", ")
      faults.add(
        pointer,
        "must be one of the relying party's intended uses; " + (all.isEmpty ? "it has none" : "these are \(known)"))
    }
    return found
  }

  /// Refuses what is not registered: a wallet would warn the person of it, or refuse it (ARF, RPRC_21).
  private static func requireRegistered(
    _ request: PresentationRequest, by registration: RegistrationCertificate, _ faults: inout Faults
  ) {
    for (index, document) in request.documents.enumerated() {
      let pointer = "/documents/\(index)"
      guard registration.registers(document.docType) else {
        faults.add(pointer + "/doc_type", "is not registered for this intended use", code: .apiOutsideRegistration)
        continue
      }
      for (place, wanted) in document.namedElements.enumerated() {
        for element in [wanted.element] + wanted.alternatives
        where !registration.registers(element, of: document.docType) {
          let isNamed = place < document.elements.count
          let member = isNamed ? "elements/\(place)" : document.ageOver.isEmpty ? "minimum_age" : "age_over"
          faults.add(
            "\(pointer)/\(member)", "`\(element.identifier)` is not registered for this intended use",
            code: .apiOutsideRegistration)
        }
      }
    }
  }

  private static func names(of merchants: [AppleConfiguration]) -> String {
    merchants.map(\.merchantID).joined(separator: ", ")
  }
}

/// Where a wallet sends the person afterwards: an address of the relying party's own.
package enum RedirectURI {
  /// The origin that the address begins with, byte by byte; nil where it is none of `origins` or no absolute address
  /// without a fragment (RFC 3986, 4.3).
  package static func origin(of address: String, among origins: [String]) -> String? {
    guard isAbsolute(address) else { return nil }
    // After the origin comes a path, a query or nothing: `https://shop.example@evil.example` is no address of the shop.
    return origins.first { origin in
      address == origin || address.hasPrefix(origin + "/") || address.hasPrefix(origin + "?")
    }
  }

  /// The address with a response code: in the fragment, which no server sees, or in the query of an app's address.
  static func adding(_ code: ResponseCode, to address: String) -> String {
    // Only an app's scheme has a dot.
    let isApp = address.prefix { $0 != ":" }.contains(".")
    let mark = !isApp ? "#" : address.contains("?") ? "&" : "?"
    return address + mark + "response_code=" + code.text
  }

  /// The characters of RFC 3986, 2, and no `#`.
  static func isAbsolute(_ address: String) -> Bool {
    let others = Array("-._~:/?[]@!$&'()*+,;=%".utf8)
    return address.contains("://")
      && address.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"):
          true
        default: others.contains(byte)
        }
      }
  }
}
