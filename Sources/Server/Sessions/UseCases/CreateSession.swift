import Base
import Cryptography
import Longfellow
import Mdoc
import Presentation

extension VerificationService {
  /// `POST /v1/verification_sessions`: 201. Only this reply shows the client secret.
  package func createSession(
    _ body: JSON, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try await execute(idempotency, caller) { claim throws(ServiceError) in
      try await create(body, for: caller.relyingParty, claim)
    }
  }

  private func create(
    _ body: JSON, for party: RelyingParty, _ claim: IdempotencyClaim?
  ) async throws(ServiceError) -> Reply {
    let input = try NewSession(
      parsing: body, for: party, offered: Set(protocols.keys), publicURL: publicURL, circuits: circuits?.circuits ?? [])
    try await checkQuota(of: party, forSession: true)
    let id: SessionID
    let secret: ClientSecret
    do {
      id = try SessionID.random()
      secret = try ClientSecret.random(of: id)
    } catch { throw .cryptoFailed }
    let now = clock()
    let context = RequestContext(
      session: SessionAddress(relyingParty: party.id, id: id), relyingParty: party, apple: input.apple,
      registration: input.registration, origin: input.body.origin, publicURL: publicURL, now: now)
    let isSigned = input.body.protocols.contains { protocols[$0]?.signsAtOnce == true }
    let offers = try await using(isSigned ? party.readers.map(\.key) : []) { () throws(ServiceError) in
      var offers: [ProtocolOffer] = []
      for name in input.body.protocols { offers.append(try self.offer(name, input.content.request, in: context)) }
      return offers
    }
    let bytes = offers.reduce(body.plainBytes) { $0 + $1.data.bytes.count }
    guard bytes <= Limits.sessionBytes else { throw ServiceError(.apiSessionTooLarge) }
    let record = SessionRecord(
      address: context.session, created: now, expiresAt: now + input.body.expiresIn, clientSecretHash: secret.sha256,
      content: input.content, offers: offers)
    let page = input.content.page.flatMap { _ in publicURL.map { PageAddress(publicURL: $0, session: context.session) }
    }
    var reply = Reply(201, json: rendering.json(record, clientSecret: secret, page: page), session: id)
    let completion = try completion(claim, reply)
    try await stored { store throws(StoreError) in try await store.create(record, finishing: completion) }
    estimates.note(StoreUsage(openSessions: 1, bytes: Int64(bytes) + StoreUsage.sessionOverhead), of: party.id)
    reply.isKept = true
    return reply
  }

  private func offer(
    _ name: String, _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> ProtocolOffer {
    guard let wallet = protocols[name] else { throw ServiceError(.apiProtocolUnsupported) }
    let outgoing = try wallet.makeRequest(request, in: context)
    do {
      let sealed = try sealer.seal(outgoing.material, .challenge(context.session.id, protocolName: name))
      return ProtocolOffer(protocolName: name, data: JSONText(outgoing.data), sealedMaterial: sealed)
    } catch { throw .cryptoFailed }
  }
}

/// A new session: the request body, checked against the relying party's rules.
package struct NewSession: Sendable {
  let body: CreateSessionBody
  package let content: SessionContent
  let apple: AppleConfiguration?
  /// The registration certificate of the requests; nil in-app and if the relying party has none.
  let registration: RegistrationCertificate?

  package init(
    parsing json: JSON, for party: RelyingParty, offered: Set<String>, publicURL: String? = nil,
    circuits: [KnownCircuit] = []
  ) throws(ServiceError) {
    var faults = Faults()
    guard var body = CreateSessionBody.shape.read(json, "", &faults) else { throw faults.refusal }
    body.expand(by: party, &faults)
    self.body = body
    Self.checkProtocols(body.protocols, offered, &faults)
    let families = Set(body.protocols.compactMap(ProtocolFamily.init(ofProtocol:)))
    // Protocols that are offered together have the same rules.
    let family = body.protocols.first.flatMap(ProtocolFamily.init(ofProtocol:)) ?? .inApp
    let pageOrigin = party.page == nil ? nil : publicURL
    let request = PresentationRequestDecoder(
      for: family, protocols: body.protocols, retention: party.policies.retention, circuits: circuits,
      revocation: party.policies.revocation
    ).request(body.asked, &faults)
    if body.protocols.contains(AnnexBProtocol().name), request.documents.contains(where: { $0.proofs != nil }) {
      faults.add("/documents", "cannot request proofs by `\(AnnexBProtocol().name)`", code: .zkNotProvable)
    }
    if body.origin == nil, families.contains(.web) { faults.add("/origin", "is required") }
    if let origin = body.origin, origin != pageOrigin, !party.origins.contains(origin) {
      faults.add("/origin", "is not one of the relying party's `origins`", code: .apiOriginNotAllowed)
    }
    let redirectURI = Self.redirectURI(body, families, party, &faults)
    let canAsk = families.contains(.redirect) || families.contains(.web) && body.origin == pageOrigin
    let page = Self.page(body, isThere: pageOrigin != nil && canAsk, party, &faults)
    apple = Self.apple(body.appleMerchantID, family, party, &faults)
    let registration = Self.registration(body.intendedUseID, family, party, &faults)
    self.registration = registration
    // The request and the input have the same indexes only if every document was read.
    if let registration, faults.isEmpty { Self.requireRegistered(request, by: registration, &faults) }
    content = SessionContent(
      request: request, origin: body.origin, redirectURI: redirectURI, page: page,
      intendedUseID: registration?.intendedUseID, clientReferenceID: body.clientReferenceID, metadata: body.metadata)
    guard faults.isEmpty else { throw faults.refusal }
  }

  private static func checkProtocols(_ names: [String], _ offered: Set<String>, _ faults: inout Faults) {
    for (index, name) in names.enumerated() {
      if names[..<index].contains(name) { faults.add("/protocols/\(index)", "is a duplicate") }
      if !offered.contains(name) {
        let known = offered.sorted()
        let those =
          known.isEmpty
          ? "the relying party's configuration offers no protocol" : "there are " + known.joined(separator: ", ")
        faults.add(
          "/protocols/\(index)", "is not offered here; \(those)" + Spelling.hint(for: name, among: known),
          code: .apiProtocolUnsupported)
      }
    }
    let others = names.filter { ProtocolFamily(ofProtocol: $0) != .web }
    // A wallet fetches its request by the session's id only. A session may therefore have only one such request.
    let isOneBesideWeb = others.count == 1 && ProtocolFamily.besideWeb.contains(others[0])
    if names.count > 1, !others.isEmpty, !isOneBesideWeb {
      faults.add(
        "/protocols",
        "cannot be offered together: offer protocols of the Digital Credentials API, and at most one of "
          + ProtocolFamily.besideWeb.map { "`\($0)`" }.joined(separator: " and "))
    }
  }

  /// Reads `purpose` and `return_url`, which only the hosted page uses.
  private static func page(
    _ body: CreateSessionBody, isThere: Bool, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) -> HostedPageOptions? {
    guard isThere else {
      let reason =
        relyingParty.page == nil
        ? "needs a page, but this relying party has none configured" : "needs `openid4vp`, or the page's own `origin`"
      if body.purpose != nil { faults.add("/purpose", reason) }
      if !body.translations.isEmpty { faults.add("/purpose_translations", reason) }
      if body.returnURL != nil { faults.add("/return_url", reason) }
      return nil
    }
    if let address = body.returnURL { checkAddress(address, at: "/return_url", relyingParty, &faults) }
    if body.purpose == nil, !body.translations.isEmpty {
      faults.add("/purpose_translations", "needs `purpose`, which is shown in every other language")
    }
    return HostedPageOptions(purpose: body.purpose, translations: body.translations, returnURL: body.returnURL)
  }

  /// Only a wallet that posts the response itself redirects the person.
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
      faults.add("/redirect_uri", "is allowed only with `openid4vp` by redirect or QR code")
    }
    return address
  }

  /// The page and wallets may send a person only to the relying party's own addresses.
  private static func checkAddress(
    _ address: String, at pointer: String, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) {
    if !RedirectURI.isAbsolute(address) {
      faults.add(pointer, "must be an absolute address without a fragment: it begins with a scheme and `://`")
    } else if RedirectURI.origin(of: address, among: relyingParty.webOrigins) == nil {
      let apps = pointer.hasSuffix("redirect_uri") ? ", or have a scheme of `openid4vp.redirect_schemes`" : ""
      faults.add(pointer, "must be at one of the relying party's `origins`" + apps, code: .apiOriginNotAllowed)
    }
  }

  /// The requested merchant, or the only merchant. The order of merchants must not decide which merchant's certificate
  /// encrypts responses.
  private static func apple(
    _ name: String?, _ family: ProtocolFamily, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) -> AppleConfiguration? {
    let pointer = "/apple_merchant_id"
    guard family == .inApp else {
      if name != nil { faults.add(pointer, "is allowed only with `apple-in-app`") }
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
      faults.add(pointer, "is not a configured merchant of the relying party; \(those)")
    }
    return found
  }

  /// The registration certificate of the requested intended use, or the only certificate of the relying party.
  private static func registration(
    _ id: String?, _ family: ProtocolFamily, _ relyingParty: RelyingParty, _ faults: inout Faults
  ) -> RegistrationCertificate? {
    let pointer = "/intended_use_id"
    guard family != .inApp else {
      if id != nil { faults.add(pointer, "is not allowed with `apple-in-app`") }
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

  /// Refuses unregistered elements, since a wallet warns the person or refuses the request (ARF, RPRC_21).
  private static func requireRegistered(
    _ request: PresentationRequest, by registration: RegistrationCertificate, _ faults: inout Faults
  ) {
    for (number, document) in request.documents.enumerated() {
      let pointer = "/documents/\(number)"
      guard registration.registers(document.docType) else {
        faults.add(pointer + "/doc_type", "is not registered for this intended use", code: .apiOutsideRegistration)
        continue
      }
      for (index, wanted) in document.namedElements.enumerated() {
        for element in [wanted.element] + wanted.alternatives
        where !registration.registers(element, of: document.docType) {
          let isNamed = index < document.elements.count
          let member = isNamed ? "elements/\(index)" : document.ageOver.isEmpty ? "minimum_age" : "age_over"
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

/// The relying party's address to which a wallet sends the person after its response.
package enum RedirectURI {
  /// The origin of the address. Nil if the address is not absolute (RFC 3986, 4.3), or if its origin is not byte for
  /// byte one of `origins`.
  package static func origin(of address: String, among origins: [String]) -> String? {
    guard isAbsolute(address) else { return nil }
    // A path, a query or nothing follows the origin: `https://shop.example@evil.example` is not an address of the shop.
    return origins.first { origin in
      address == origin || address.hasPrefix(origin + "/") || address.hasPrefix(origin + "?")
    }
  }

  /// Adds a response code to the fragment, which no server sees. For an app's address, adds it to the query.
  static func adding(_ code: ResponseCode, to address: String) -> String {
    // Only an app's scheme has a dot.
    let isApp = address.prefix { $0 != ":" }.contains(".")
    let mark = !isApp ? "#" : address.contains("?") ? "&" : "?"
    return address + mark + "response_code=" + code.text
  }

  /// True if the address contains `://` and only the characters of RFC 3986, 2, without `#`.
  static func isAbsolute(_ address: String) -> Bool {
    address.contains("://")
      && address.utf8.allSatisfy { $0.isAlphanumeric || "-._~:/?[]@!$&'()*+,;=%".utf8.contains($0) }
  }
}

package struct CreateSessionBody: Equatable, Sendable {
  let protocols: [String]
  private(set) var asked: PresentationInput
  let template: String?
  let origin: String?
  let redirectURI: String?
  let purpose: String?
  let translations: [NamedText]
  let returnURL: String?
  let appleMerchantID: String?
  let intendedUseID: String?
  /// Seconds.
  let expiresIn: Int64
  let clientReferenceID: String?
  let metadata: [NamedText]

  package static let shape = Shape.object(
    "CreateVerificationSession", "A request to a person's wallet.",
    {
      CreateSessionBody(
        protocols: $0, asked: PresentationInput(documents: $1, requiresAllDocuments: $2, purposeHint: $3),
        template: $4, origin: $5, redirectURI: $6, purpose: $7, translations: $8, returnURL: $9, appleMerchantID: $10,
        intendedUseID: $11, expiresIn: $12, clientReferenceID: $13, metadata: $14)
    },
    Field(
      "protocols", \.protocols, protocols,
      """
      The protocols to offer, each once. The wallet responds once, by one of them. `apple-in-app`, \
      `iso-18013-5-proximity` and `openid4vp-iso-18013-7-annex-b` are each offered without others. `org-iso-mdoc` and \
      `openid4vp-v1-…` can be offered together, along with one of `openid4vp` and `openid4vp-eu-age-verification`. The \
      latter allows only its configured document types and short requests, and no `intent_to_retain`.
      """),
    PresentationInput.documents(\.asked, isOptional: true), PresentationInput.allDocuments(\.asked),
    PresentationInput.purposeHint(\.asked),
    .optional(
      "template", \.template, .text(),
      "Instead of `documents`, `all_documents` and `purpose_hint`: the name of one of the relying party's templates."),
    .optional(
      "origin", \.origin, .text(),
      """
      The origin of the requesting page or Android app: one of the relying party's `origins`, exactly as configured. \
      Required with `org-iso-mdoc` and `openid4vp-v1-…`.
      """),
    .optional(
      "redirect_uri", \.redirectURI, address,
      """
      Where the wallet sends the person afterwards: an address at one of the relying party's origins, without a \
      fragment; the response code is added as the fragment. Or an app's address with one of its `redirect_schemes`; \
      the code is then added to the query. Only with a protocol by redirect or QR code.
      """),
    .optional(
      "purpose", \.purpose, .text(1...Limits.purposeCharacters),
      "The purpose in your own words, shown on the hosted page. Only for a session with a hosted page."),
    .optional(
      "purpose_translations", \.translations, .translations, or: [],
      "The purpose in further languages. The hosted page shows it in the person's language, otherwise `purpose`."),
    .optional(
      "return_url", \.returnURL, address,
      """
      Where the hosted page sends the person afterwards: an address at one of the relying party's origins, without a \
      fragment; the session's id and the response code are added to the query. Only for a session with a hosted \
      page.
      """),
    .optional(
      "apple_merchant_id", \.appleMerchantID, .text(),
      "The Apple merchant of the request. Only with `apple-in-app`; required there if the relying party has several."
    ),
    .optional(
      "intended_use_id", \.intendedUseID, .text(),
      """
      Selects the registration certificate that the requests carry. Required if the relying party has several. It must \
      register all requested elements. Not with `apple-in-app`.
      """),
    .optional(
      "expires_in", \.expiresIn, .integer(Limits.sessionLifetimeRange), or: Limits.sessionLifetime,
      "Seconds for which the session accepts a response."),
    .optional(
      "client_reference_id", \.clientReferenceID, .text(1...Limits.metadataValueCharacters),
      "Your own id for this session. Replies about the session include it."),
    .optional("metadata", \.metadata, .metadata, or: [], "Further texts that you want to store with the session."))

  /// Replaces a template's name with its request.
  fileprivate mutating func expand(by party: RelyingParty, _ faults: inout Faults) {
    guard let template else {
      if asked.documents.isEmpty { faults.add("/documents", "is required, unless `template` names a request") }
      return
    }
    if asked != .none { faults.add("/template", "excludes `documents`, `all_documents` and `purpose_hint`") }
    guard let found = party.templates[template] else {
      faults.add("/template", "is not one of the relying party's `templates`")
      return
    }
    asked = found.input
  }

  /// Any text is allowed: the server decides which protocols it offers.
  private static let protocols = Shape.text().described(
    by: .oneOf("PresentationProtocol", ProtocolFamily.allCases.flatMap(\.protocolNames)).described(
      "A protocol for the request to a wallet and for its response.")
  ).list(1...8)

  private static let address = Shape.text(1...2048, like: "^[A-Za-z0-9+.-]+://[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=%-]*$")
}
