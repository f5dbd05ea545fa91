import Base
import Cryptography
import Mdoc
import Presentation
import Trust

extension VerificationService {
  /// `POST /v1/verification_sessions/{id}/submit`: 200 for any verdict. A malformed body is refused before the
  /// challenge is consumed. After the challenge is consumed, any fault ends the session as failed. A wallet's own
  /// refusal ends it as canceled.
  package func submit(
    _ body: JSON, to id: String, as caller: Caller, idempotency: IdempotencyRequest? = nil
  ) async throws(ServiceError) -> Reply {
    try await execute(idempotency, caller, isSubmit: true) { claim throws(ServiceError) in
      let address = try caller.address(of: id)
      let input = try SubmitBody.shape.value(of: body)
      guard let wallet = protocols[input.protocolName] else { throw try await refusal(address, input.protocolName) }
      if case .clientSecret = caller {
        if wallet.takesTranscriptFromCaller {
          throw ServiceError(.apiForbidden, "Submit responses by `\(wallet.name)` with an API key.")
        }
        // The URL of a wallet's POST identifies the page that opened the wallet. A submit has no such URL.
        if wallet is any FetchedRequestProtocol {
          throw ServiceError(.apiForbidden, "The wallet itself posts responses by `\(wallet.name)`.")
        }
      } else if input.code != nil {
        throw ServiceError(.apiForbidden, "`\(PostedParameters.codeHash)` is allowed only with a client secret.")
      }
      let response = try await read(input.data, by: wallet, for: address)
      return try await reply(to: response, by: wallet, of: address, as: caller, code: input.code, claim: claim)
    }
  }

  /// - Throws: `session.protocol_mismatch` if the response is malformed and the open session does not offer this
  ///   protocol. Otherwise the decoding error.
  private func read(
    _ data: JSON, by wallet: any WalletProtocol, for address: SessionAddress
  ) async throws(ServiceError) -> WalletResponse {
    do throws(ServiceError) {
      return try wallet.decode(data, at: "/data")
    } catch {
      let refusal = (try? await record(at: address))?.consumeRefusal(protocolName: wallet.name, at: clock())
      throw refusal == .sessionProtocolMismatch ? ServiceError(.sessionProtocolMismatch) : error
    }
  }

  /// The refusal of a protocol that this process does not know. Consumes nothing, since another node may know the
  /// protocol.
  private func refusal(_ address: SessionAddress, _ protocolName: String) async throws(ServiceError) -> ServiceError {
    let record = try await self.record(at: address)
    if let refusal = record.consumeRefusal(protocolName: protocolName, at: clock()) { return ServiceError(refusal) }
    return ServiceError(
      .sessionProtocolMismatch, "The session offers `\(protocolName)`, which this server does not know.")
  }

  /// Makes the attempt, and returns the reply to the submitter. The outcome's transaction also stores the reply.
  func reply(
    to response: WalletResponse, by wallet: any WalletProtocol, of address: SessionAddress, as caller: Caller,
    code: ResponseCodeHash? = nil, claim: IdempotencyClaim?
  ) async throws(ServiceError) -> Reply {
    var reply: Reply?
    let attempted = try await verify(response, by: wallet, to: address, as: caller, code: code) {
      record, conclusion throws(ServiceError) in
      var made = Reply(json: render(record, conclusion, for: caller), session: address.id).ending(record.state)
      made.resultExpiresAt = clock() + Limits.resultLifetime
      reply = made
      return try completion(claim, made)
    }
    guard var reply, attempted.conclusion != nil else {
      return Reply(json: render(attempted.record, nil, for: caller), session: address.id)
        .ending(attempted.record.state(at: attempted.time))
    }
    reply.isKept = true
    return reply
  }

  private func render(_ record: SessionRecord, _ conclusion: Conclusion?, for caller: Caller) -> JSON {
    switch caller {
    case .apiKey: rendering.json(record, result: conclusion?.inlineResult, simulatedResult: conclusion?.simulatedResult)
    case .clientSecret, .wallet: rendering.clientView(record, responseCode: conclusion?.responseCode)
    }
  }

  struct Attempted {
    let record: SessionRecord
    /// The conclusion; nil if the session was redacted or timed out. In both cases, no caller gets a result.
    let conclusion: Conclusion?
    let time: Timestamp
  }

  /// Makes the one attempt at a session's challenge: consume (commit) → open → verify → outcome (commit). After the
  /// consumption, any fault ends the session as failed. If the second commit is missing, the session counts as
  /// interrupted.
  /// - Parameter completion: makes a reply from the changed session. The outcome's transaction stores the reply.
  func verify(
    _ response: WalletResponse, by wallet: any WalletProtocol, to address: SessionAddress, as caller: Caller,
    code: ResponseCodeHash? = nil,
    completion: (SessionRecord, Conclusion) throws(ServiceError) -> IdempotencyCompletion? = {
      _, _ throws(ServiceError) in nil
    }
  ) async throws(ServiceError) -> Attempted {
    // A wallet is anonymous, so the slot is charged to the relying party.
    let party = Flow(relyingParty: caller.relyingParty.id)
    try gate.enter(party)
    defer { gate.leave(party) }
    let stages = StageTimer(configuration.observe)
    let opening = try await self.opening(response, by: wallet, for: caller.relyingParty, to: address)
    let (record, attempt) = try await consume(address, protocolName: wallet.name)
    stages.end(.consume)
    let finding: Conclusion.Finding =
      switch response {
      case .refusal(let code, let description): .refusal(code, description: description)
      case .response(let content): await find(content, opening, by: wallet, record, as: caller, stages)
      }
    let now = clock()
    let conclusion = try Conclusion(finding, of: record, as: caller, code: code, at: now, service: self)
    var after = record
    after.state = conclusion.state
    after.results = conclusion.results
    after.report = conclusion.report
    let outcome = AttemptOutcome(
      address: address, attempt: attempt, protocolName: wallet.name, conclusion: conclusion.recorded,
      report: conclusion.report, evidence: conclusion.evidence, result: conclusion.resultPlace)
    let completion = try completion(after, conclusion)
    stages.end(.conclude)
    let recording = try await stored { store throws(StoreError) in
      try await store.recordOutcome(outcome, at: now, finishing: completion)
    }
    stages.end(.outcome)
    switch recording {
    case .recorded: return Attempted(record: after, conclusion: conclusion, time: now)
    case .superseded(let current?): return Attempted(record: current, conclusion: nil, time: now)
    case .superseded(nil): throw .sessionNotFound
    }
  }

  /// Opens the response with the consumed challenge, and verifies it.
  private func find(
    _ content: WalletResponse.Content, _ opening: AppleOpening?, by wallet: any WalletProtocol,
    _ record: SessionRecord, as caller: Caller, _ stages: StageTimer
  ) async -> Conclusion.Finding {
    guard let request = record.content?.request, let challenge = takenChallenge(of: record, wallet.name) else {
      return .unreadableChallenge
    }
    let trust = configuration.trust.current
    var draft = EvidenceDraft(
      of: content, by: wallet, to: challenge, for: caller.relyingParty, trust: trust, mode: mode)
    var unused: ConsumedChallenge? = challenge
    let didOpen = draft?.didOpen
    let judged = await judge(request, for: caller.relyingParty, under: trust, at: clock(), stages) { verifier, now in
      let rules = VerificationRules(
        request: request, relyingParty: caller.relyingParty, verifier: verifier, now: now, opening: opening,
        didOpen: didOpen)
      guard let challenge = unused.take() else { return rules.interrupted() }
      return wallet.authenticate(content, to: challenge, by: rules)
    }
    draft?.revocation = judged.revocation
    return .verdict(judged.verdict, draft)
  }

  /// Authenticates a response, fetches its revocation status, and decides whether to accept it. The caller must hold a
  /// slot of the admission gate.
  func judge(
    _ request: PresentationRequest, for relyingParty: RelyingParty, under trust: TrustStore, at now: Timestamp,
    _ stages: StageTimer, authenticate: (MdocVerifier, Timestamp) -> Authentication
  ) async -> (verdict: Verdict, revocation: EvidenceRevocation) {
    let party = Flow(relyingParty: relyingParty.id)
    let mayHoldProofs = request.documents.contains { $0.proofs != nil }
    // While a response waits for a proof slot, it lends its own slot to a plain response.
    if mayHoldProofs { await gate.lend(of: party) { await proofSlots.take(party) } }
    let turn = Deadline.now()
    var verifier = self.verifier(for: relyingParty, trust: trust)
    verifier.willAuthenticate = { stages.end(.open) }
    let authentication = authenticate(verifier, now)
    if mayHoldProofs { proofSlots.leave(party, cost: Deadline.now() - turn) }
    stages.end(.verify, unlessOpened: .open)
    let questions = authentication.questions
    // A slow publisher delays only responses that need its lists.
    let evidence = await gate.lend(of: party) { await revocation.evidence(for: questions, at: now) }
    if !questions.isEmpty { stages.end(.revocation) }
    return (
      authentication.conclude(with: evidence), EvidenceRevocation(of: questions, foundIn: evidence, mode: mode)
    )
  }

  /// Consumes a session's challenge durably, before the response is opened.
  private func consume(
    _ address: SessionAddress, protocolName: String
  ) async throws(ServiceError) -> (record: SessionRecord, attempt: AttemptID) {
    let attempt: AttemptID
    do { attempt = try AttemptID.random() } catch { throw .cryptoFailed }
    let consumption = try await stored { store throws(StoreError) in
      try await store.consume(address, protocolName: protocolName, attempt: attempt, at: clock())
    }
    switch consumption {
    case .refused(let refusal): throw ServiceError(refusal)
    case .consumed(let record):
      estimates.note(StoreUsage(openSessions: -1), of: address.relyingParty)
      return (record, attempt)
    }
  }

  /// The consumed challenge, for a single use; nil if the configured sealing keys cannot open it.
  private func takenChallenge(of record: SessionRecord, _ protocolName: String) -> ConsumedChallenge? {
    guard let offer = record.offers.first(where: { $0.protocolName == protocolName }),
      let sealed = offer.sealedMaterial,
      let material = try? sealer.open(sealed, .challenge(record.address.id, protocolName: protocolName))
    else { return nil }
    return ConsumedChallenge(
      session: record.address.id, protocolName: protocolName, requestData: offer.data, material: material)
  }
}

/// A consumed challenge for a single use. It cannot be copied, and only this file creates it. An evidence bundle
/// contains an already consumed challenge.
package struct ConsumedChallenge: ~Copyable, Sendable {
  package let session: SessionID
  package let protocolName: String
  /// The `data` member of the session's entry for this protocol. Never inlined, since evidence uses the data after the
  /// challenge is destroyed.
  package var requestData: JSONText { @inline(never) get { givenOut } }
  private let givenOut: JSONText
  package let material: SecretBytes

  fileprivate init(session: SessionID, protocolName: String, requestData: JSONText, material: consuming SecretBytes) {
    self.session = session
    self.protocolName = protocolName
    givenOut = requestData
    self.material = material
  }

  static func kept(in bundle: EvidenceBundle) -> ConsumedChallenge {
    ConsumedChallenge(
      session: bundle.session, protocolName: bundle.protocolName, requestData: bundle.requestData,
      material: bundle.material.bytes.withUnsafeBytes { SecretBytes(copying: $0) })
  }
}

/// The body of `POST …/{id}/submit`; the protocol reads `data`.
package struct SubmitBody: Equatable, Sendable {
  let protocolName: String
  let data: JSON
  let code: ResponseCodeHash?

  package static let shape: Shape<SubmitBody> = {
    let summary = "A wallet's response. `protocol` determines the form of `data`."
    let form = object("SubmitVerificationSession", summary, .any([:]))
    let titles = forms.map(\.title)
    let choices = forms.map { form in
      let names = form.protocols.map { "`\($0)`" }.joined(separator: ", ")
      return object(form.title, "A response by \(names).", .any(form.data), of: form.protocols).schema
    }
    let names = zip(titles, forms).flatMap { title, form in
      form.protocols.map { JSON.Member($0, .string("#/components/schemas/\(title)")) }
    }
    return form.described(
      by: Schema.oneOf(choices).with("discriminator", ["propertyName": "protocol", "mapping": .object(names)])
        .described(summary).titled("SubmitVerificationSession"))
  }()

  /// The form that a wallet posts. A page or app may submit its members as `data`.
  package static let postedSchema = PostedParameters.schema(isForm: true).described(
    "The parameters that a wallet posts (OpenID4VP 1.0, 8)."
  ).titled("PostedResponseData")

  /// The object `{protocol, data}` for one kind of `data`. A pattern distinguishes the kinds, since client generators
  /// create a type for each enumeration.
  private static func object(
    _ title: String, _ summary: String, _ data: Shape<JSON>, of protocols: [String] = []
  ) -> Shape<SubmitBody> {
    let name = Shape.text(like: protocols.isEmpty ? nil : "^(\(protocols.joined(separator: "|")))$")
    return .object(
      title, summary, SubmitBody.init,
      Field("protocol", \.protocolName, name, "The protocol of the response: one of the session's."),
      Field("data", \.data, data, "The response as returned by the wallet or the platform."),
      .optional(
        PostedParameters.codeHash, \.code, .responseCodeHash,
        """
        Only with a client secret: the SHA-256 of a response code that the page made, in base64url. Reading the \
        result then requires that code, and the reply contains no code.
        """))
  }

  /// The kinds of `data`, each with its protocols.
  private static let forms: [(title: String, protocols: [String], data: Schema)] = [
    ("AppleInAppResponse", ProtocolFamily.inApp.protocolNames, AppleInAppProtocol.response.schema),
    ("MdocResponse", [AnnexCProtocol().name], AnnexCProtocol.response.schema),
    (
      "OpenID4VPResponse", OpenID4VPWebProtocol.Signing.allCases.map { OpenID4VPWebProtocol($0).name },
      PostedParameters.schema(isForm: false).described(
        "The parameters that the Digital Credentials API returned to the page."
      )
      .titled("OpenID4VPResponseData")
    ),
    ("PostedResponse", ProtocolFamily.redirect.protocolNames, postedSchema),
    ("ProximityResponse", ProtocolFamily.proximity.protocolNames, ProximityInput.shape.schema),
  ]
}

extension Shape where Value == ResponseCodeHash {
  package static var responseCodeHash: Shape {
    Shape(.text(like: ResponseCodeHash.pattern)) { json, pointer, faults in
      if let hash = json.string.flatMap({ ResponseCodeHash($0) }) { return hash }
      faults.add(pointer, "must be 32 bytes in base64url")
      return nil
    } write: {
      .string($0.text)
    }
  }
}
