import Base
import Cryptography
import FoundationEssentials
import Mock
import Network
import Presentation
import Sessions
import Vectors

/// `mdoc vectors run --verifier`: the mock wallet sends its variants to a running verifier, with one session for each.
struct RunningVerifier: Sendable {
  /// A variant sent over one protocol.
  struct Case: Sendable {
    let trial: VerifierFile.Trial
    let variant: MockVariant
    let id: String

    var summary: CaseSummary {
      let first = variant.code ?? variant.warnings.first
      var summary = CaseSummary(
        id: id, description: variant.summary, reference: first?.registered?.entry.clause ?? "ISO/IEC 18013-5:2021, 9.3",
        flag: variant.code.map { VectorFlag($0.rawValue, .ofMissing($0)) } ?? VectorFlag("Control", .interoperability),
        expectation: variant.codes.isEmpty ? .accepted : .refused(variant.codes.map(\.rawValue)))
      summary.cases = variant.cases
      summary.importance = isChoice ? .should : .must
      return summary
    }

    /// True if a verifier may reach another verdict. Examples are unusual but correct responses.
    private var isChoice: Bool {
      variant.codes.isEmpty && variant.name != MockVariant.good.name
        || TestVector.Importance.choices.contains(variant.name)
    }
  }

  /// The number of variants between two controls, which are ordinary correct responses.
  static let controlInterval = 25
  private static let attempts = 3

  private let file: VerifierFile
  private let path: String
  private let visit: WalletVisit
  private let wallet: MockWallet
  /// The values of the file's variables, and of the preparation's reply.
  private let values: [String: JSON]
  private let seconds: Int64
  /// The wallet's key for encrypted requests.
  private let key: MockRequestKey

  static func report(_ arguments: Arguments) async throws(Failure) -> RunReport {
    let path = try arguments.required(.verifierFile)
    let bytes = try FileAccess.read(path, purpose: "verifier")
    let file = try read(bytes, path)
    if file.isUntried { arguments.console.printError("\(path) was made from a published API and never run.") }
    if let note = file.note { arguments.console.printError("\(file.name): \(note)") }
    let verifier = try await RunningVerifier(file, path, arguments)
    let report = try await verifier.run(
      verifier.cases(arguments), Journal(arguments, of: bytes, with: verifier.variables), arguments)
    for control in report.controlsNotPassed {
      arguments.console.printError(
        "\(control) was not accepted, so the other results of its protocol mean little: check the verifier's "
          + "configuration first")
    }
    return report
  }

  static func read(_ bytes: [UInt8], _ path: String) throws(Failure) -> VerifierFile {
    let json = try readable("verifier \(path): ") { try JSON(parsing: bytes) }
    var faults = Faults()
    guard
      let file = VerifierFile.shape(
        protocols: MockWeb.protocolNames + [apple], variants: MockVariant.all.map(\.name)
      ).read(json, "", &faults),
      faults.isEmpty
    else { throw .unreadable("verifier \(path): " + faults.all.map(\.text).joined(separator: "; ")) }
    return file
  }

  private static let apple = "apple-in-app"

  /// The file's variables with their values.
  private var variables: [String] { file.variables.map { "\($0.name)=\(values[$0.name]?.text() ?? "")" } }

  private init(_ file: VerifierFile, _ path: String, _ arguments: Arguments) async throws(Failure) {
    (self.file, self.path) = (file, path)
    seconds = try arguments.integer(.answerSeconds, in: 1...3_600)
    visit = try WalletVisit(
      hosts: arguments.values(.mayTest), seconds: seconds, atOnce: Int(try arguments.integer(.parallel, in: 1...16)))
    let environment = ProcessInfo.processInfo.environment
    var values: [String: JSON] = [:]
    for (name, fallback) in file.variables {
      guard let value = environment[name] ?? fallback else {
        throw .usage("\(path) needs the variable \(name) of the environment")
      }
      values[name] = .string(value)
    }
    if let preparation = file.preparation {
      try visit.check(preparation, values)
      let caller = VerifierCaller(visit: visit, seconds: seconds)
      do throws(VerdictError) {
        try await caller.call(preparation, &values)
      } catch {
        throw .temporary("\(file.name) could not be prepared: \(error.text)")
      }
    }
    for trial in file.trials { try visit.check(trial.start, values) }
    self.values = values
    let seed = file.seed.flatMap { Hex.decode($0.text(values)) }
    let authority = try MockCommand.authority(arguments, seed: seed, lists: file.lists?.text(values))
    wallet = try MockCommand.wallet(arguments, of: authority)
    key = try MockCommand.made { try MockRequestKey(of: authority) }
  }

  // MARK: Cases

  /// Every variant that a protocol can carry. Correct responses come first, last and at intervals in between.
  private func cases(_ arguments: Arguments) throws(Failure) -> [Case] {
    let names = arguments.values(.runProtocol)
    let offered = file.trials.map(\.protocolName)
    if let name = names.first(where: { !offered.contains($0) }) {
      throw .unknown("protocol", name, among: offered, or: " in \(path)")
    }
    let filter = arguments.value(.filter)
    let trials = file.trials.filter { names.isEmpty || names.contains($0.protocolName) }
    let cases = trials.flatMap { trial -> [Case] in
      let all = MockVariant.all.filter { variant in
        variant.name != MockVariant.good.name && holds(variant, over: trial.protocolName)
          && filter.map { "\(trial.protocolName)/\(variant.name)".contains($0) } ?? true
      }
      guard !all.isEmpty else { return [control(trial, 0)].filter { $0.id.contains(filter ?? "") } }
      var cases: [Case] = []
      for (index, variant) in all.enumerated() {
        if index % Self.controlInterval == 0 { cases.append(control(trial, index / Self.controlInterval)) }
        cases.append(Case(trial: trial, variant: variant, id: "\(trial.protocolName)/\(variant.name)"))
      }
      return cases + [control(trial, (all.count - 1) / Self.controlInterval + 1)]
    }
    if let filter, cases.isEmpty { throw .usage("no variant has an id that contains \"\(filter)\"") }
    return cases
  }

  private func control(_ trial: VerifierFile.Trial, _ number: Int) -> Case {
    let name = MockVariant.good.name + (number == 0 ? "" : ".\(number + 1)")
    return Case(trial: trial, variant: .good, id: "\(trial.protocolName)/\(name)")
  }

  /// Considers both encrypted and plain responses, since only the request determines which of them the protocol allows.
  private func holds(_ variant: MockVariant, over name: String) -> Bool {
    let name = name == "openid4vp-eu-age-verification" ? "openid4vp" : name
    return [true, false].contains {
      variant.holds(over: name, isEncrypted: $0, hasProofs: wallet.prover != nil)
    }
  }

  // MARK: The run

  private func run(_ cases: [Case], _ journal: Journal, _ arguments: Arguments) async throws(Failure) -> RunReport {
    let (start, date) = (ContinuousClock.now, try arguments.time(.at))
    var done = journal.entries
    var waiting = cases.filter { done[$0.id] == nil }[...]
    let progress = arguments.console.progress
    let most = Int(try arguments.integer(.parallel, in: 1...16))
    var failure: Failure?
    await withTaskGroup(of: JournalEntry.self) { group in
      for next in waiting.prefix(most) { group.addTask { await entry(next) } }
      waiting = waiting.dropFirst(most)
      while let entry = await group.next() {
        if case .failure(.gone(let reason)) = entry.result {
          failure =
            failure
            ?? .temporary(
              "\(reason) at case \(entry.id), after \(done.count) of \(cases.count)"
                + (arguments.has(.resume) ? ": resume the run by the same command" : ": no report was written"))
          group.cancelAll()
          continue
        }
        done[entry.id] = entry
        do throws(Failure) { try journal.add(entry) } catch { failure = failure ?? error }
        progress(done.count, cases.count)
        guard failure == nil, let next = waiting.popFirst() else { continue }
        group.addTask { await self.entry(next) }
      }
    }
    if let failure {
      arguments.console.erase()
      throw failure
    }
    let results = cases.compactMap { played in
      done[played.id].map { VectorResult(of: played.summary, in: played.trial.protocolName, $0) }
    }
    return RunReport(
      of: file.name, ofSetAt: path, filter: arguments.value(.filter), date: date, results: results,
      seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  private func entry(_ played: Case) async -> JournalEntry {
    let start = ContinuousClock.now
    let result: Result<Judgement, VerdictError>
    do throws(VerdictError) { result = .success(try await judgement(on: played)) } catch { result = .failure(error) }
    return JournalEntry(id: played.id, result: result, seconds: (ContinuousClock.now - start) / .seconds(1))
  }

  // MARK: One session

  private func judgement(on played: Case) async throws(VerdictError) -> Judgement {
    let (trial, variant) = (played.trial, played.variant)
    if let reason = trial.leaves.first(where: { $0.value.contains(variant.name) })?.name { throw .unsupported(reason) }
    if variant.needsFixedClock { throw .unsupported("its dates are valid for only one second of a set clock") }
    var values = values
    values["documents"] = variant.request.apiDocuments
    values["dcql"] = variant.request.dcql
    values["random"] = .string(Base64.encodeURLSafe((try? Random.bytes(16)) ?? []))
    let caller = VerifierCaller(visit: visit, seconds: seconds)
    try await begin(trial, caller, &values)
    let reply = try await deliver(variant, trial, caller, &values)
    let verdict = trial.verdict
    guard let call = verdict.call else {
      if let judgement = try verdict.judgement(on: reply) { return judgement }
      guard reply.status >= 400 else { throw .other("the reply has no verdict") }
      return VerifierFile.Verdict.judgement(byStatus: reply.status)
    }
    if reply.hasFailed { throw .ended(.crashed("HTTP \(reply.status)")) }
    let deadline = Deadline(in: .seconds(seconds))
    while true {
      if let judgement = try verdict.judgement(on: try await caller.call(call, &values)) { return judgement }
      // A verifier may keep the session open for another response.
      if reply.status >= 400 { return VerifierFile.Verdict.judgement(byStatus: reply.status) }
      if deadline.isPast { throw .other("there was no verdict after \(seconds) s") }
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  /// Begins a session. A verifier that crashed may need a moment to start again.
  private func begin(
    _ trial: VerifierFile.Trial, _ caller: VerifierCaller, _ values: inout [String: JSON]
  ) async throws(VerdictError) {
    for attempt in 1... {
      do throws(VerdictError) {
        let reply = try await caller.call(trial.start, &values)
        if reply.status < 400 { return }
        if reply.hasFailed { throw .ended(.crashed("HTTP \(reply.status) at the start of a session")) }
        // These statuses concern the caller, not the variant's request.
        if [401, 403, 404, 405].contains(reply.status) {
          throw .other("no session was started: HTTP \(reply.status)")
        }
        throw .unsupported("no session for this request: HTTP \(reply.status)")
      } catch {
        guard case .ended(.crashed(let how)) = error, !how.hasPrefix("HTTP") else { throw error }
        if attempt == Self.attempts || Task.isCancelled { throw .gone("the verifier is gone: \(how)") }
        try? await Task.sleep(for: .seconds(1))
      }
    }
  }

  private func deliver(
    _ variant: MockVariant, _ trial: VerifierFile.Trial, _ caller: VerifierCaller, _ values: inout [String: JSON]
  ) async throws(VerdictError) -> VerifierReply {
    let (request, now) = (trial.request.filled(values), Timestamp.systemNow())
    if trial.protocolName == Self.apple {
      guard let session = trial.appleSession(request, values) else {
        throw .other("the session has no nonce, or the file no merchant with a key")
      }
      let made = try Self.made(variant) {
        try wallet.answerApple(variant.request, session: session, variant: variant, at: now)
      }
      values["response"] = .string(Base64.encode(made.bytes))
    } else {
      let origin = trial.origin?.text(values) ?? ""
      let received = try await caller.caught { () throws(Failure) -> ReceivedRequest? in
        guard let link = request.string, AuthorizationLink(link) != nil else {
          return ReceivedRequest(protocolName: trial.protocolName, data: request, origin: origin)
        }
        return try await ReceivedRequest(link: link, visit, encryptedTo: key)
      }
      guard let received else { throw .other("the request is neither a link nor data of \(trial.protocolName)") }
      let judgement = RequestJudgement(of: received.content, arrived: received.arrival, at: now)
      let made = try Self.made(variant) {
        try received.response(judgement, of: wallet, variant: variant, at: now).data
      }
      if trial.submit == nil {
        guard let address = judgement.claims?["response_uri"]?.string else {
          throw .other("the request has no response_uri")
        }
        return try await caller.reply { () throws(Failure) in try await visit.post(made, to: address) }
      }
      values["response"] = made
    }
    guard let submit = trial.submit else {
      throw .other("submit is missing, so the response cannot be sent")
    }
    return try await caller.call(submit, &values)
  }

  /// Skips a variant that cannot be made for this request.
  private static func made<Value>(_ variant: MockVariant, _ make: () throws -> Value) throws(VerdictError) -> Value {
    do {
      return try make()
    } catch let error as MockError {
      guard case .unreadableRequest = error else {
        throw .unsupported(error.description.replacing(variant.name, with: "it"))
      }
      throw .other(error.description)
    } catch {
      throw .other("the response could not be made: \(error)")
    }
  }
}

/// Makes the calls that a verifier's file specifies.
private struct VerifierCaller {
  let visit: WalletVisit
  let seconds: Int64

  /// Makes a call, and adds the values of its reply.
  @discardableResult
  func call(_ call: VerifierFile.Call, _ values: inout [String: JSON]) async throws(VerdictError) -> VerifierReply {
    let reply: VerifierReply
    switch call.action {
    case .command(let command):
      var bounds = HarnessProcess.Bounds()
      bounds.reply = Int(seconds)
      let question = JSON.object(values.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }).serialized()
      reply = VerifierReply(
        status: 200, body: try await HarnessChild.line(of: command, asked: question, bounds: bounds))
    case .http(let url, let headers, let body):
      let lines = (headers?.filled(values).object ?? []).map { "\($0.name): \($0.value.string ?? $0.value.text())" }
      let message = WebMessage(
        headers: lines + ["Content-Type: application/json"], body: body?.filled(values).serialized())
      let address = url.text(values)
      reply = try await self.reply { () throws(Failure) in try await visit.exchange(message, with: address) }
    }
    for (name, pointer) in call.values where reply.status < 400 {
      guard let value = reply.json.values(at: pointer).first else {
        throw .other("the reply has no \(pointer.isEmpty ? "value" : pointer)")
      }
      values[name] = value
    }
    return reply
  }

  /// The reply to an exchange. Retries while the verifier is busy: 429 and 503 are no verdict on the response.
  func reply(_ exchange: () async throws(Failure) -> WalletVisit.Reply) async throws(VerdictError) -> VerifierReply {
    var attempt = 1
    while true {
      let reply = try await caught(exchange)
      if ![429, 503].contains(reply.status) || attempt == 5 {
        return VerifierReply(status: reply.status, body: reply.body)
      }
      try? await Task.sleep(for: .milliseconds(500 * attempt))
      attempt += 1
    }
  }

  /// Ends the session if an exchange gets no reply, because of a timeout or a crashed verifier.
  func caught<Value>(_ exchange: () async throws(Failure) -> Value) async throws(VerdictError) -> Value {
    let deadline = Deadline(in: .seconds(seconds) - .milliseconds(100))
    do throws(Failure) {
      return try await exchange()
    } catch {
      if error.status == .usage { throw .gone(error.message) }
      let isLate = deadline.isPast || error.message.hasSuffix("in time")
      throw .ended(isLate ? .silent(Int(seconds)) : .crashed(error.message))
    }
  }
}

/// The journal of a run: JSON Lines, with one line about the run and then one for each case.
private struct Journal {
  var entries: [String: JournalEntry] = [:]
  private var output: OutputFile?

  /// - Parameter variables: the file's variables with their values. They may be secret, so the journal stores only
  ///   their hash.
  init(_ arguments: Arguments, of file: [UInt8], with variables: [String]) throws(Failure) {
    guard let path = arguments.value(.resume) else { return }
    var circumstances = file
    for text in variables { circumstances += Array("\n\(text)".utf8) }
    for option in [Option.seed, .lists, .person, .issuerKey, .issuerChain] {
      for text in arguments.values(option) { circumstances += Array("\n--\(option.name)=\(text)".utf8) }
    }
    let head = JSON.members([
      "verifier": .string(Hex.encode(HashAlgorithm.sha256.hash(circumstances))),
      "program": .string(ProgramVersion.text),
    ])
    if FileAccess.exists(path) {
      var lines: [JSON] = []
      var isEmpty = true
      try FileAccess.readLines(path, purpose: "journal") { line, _ in
        isEmpty = false
        if let json = try? JSON(parsing: line) { lines.append(json) }
      }
      guard isEmpty || lines.first == head else {
        throw .usage(
          "--resume \(path) is not a journal of this run: it is of another file, verifier, issuer or version of mdoc, or no "
            + "journal at all")
      }
      for entry in lines.compactMap(JournalEntry.init) { entries[entry.id] = entry }
      output = try OutputFile(appendingTo: path)
      // If the previous run ended while it wrote a line, that line is incomplete. A line feed ends it.
      try output?.write(lines.isEmpty ? head.serialized() + [0x0a] : [0x0a])
    } else {
      output = try OutputFile(new: path)
      try output?.write(head.serialized() + [0x0a])
    }
  }

  func add(_ entry: JournalEntry) throws(Failure) {
    try output?.write(entry.json.serialized() + [0x0a])
    try output?.flush()
  }
}

extension WalletVisit {
  fileprivate func check(_ call: VerifierFile.Call, _ values: [String: JSON]) throws(Failure) {
    if case .http(let url, _, _) = call.action { try isHere(url.text(values)) }
  }
}

extension RunReport {
  /// The first correct response of each protocol, if the verifier did not accept it.
  fileprivate var controlsNotPassed: [String] {
    results.filter { $0.summary.id.hasSuffix("/" + MockVariant.good.name) && $0.outcome != .passed }
      .map(\.summary.id)
  }
}

extension VerifierFile.Trial {
  fileprivate func appleSession(_ nonce: JSON, _ values: [String: JSON]) -> MockAppleSession? {
    guard let merchantID, let teamID, let encryptionKey, let nonce = nonce.string.flatMap(Base64.decodeEither),
      let point = Base64.decodeEither(encryptionKey.text(values)),
      let key = try? PublicKey(curve: .p256, encoded: point[...])
    else { return nil }
    return MockAppleSession(
      nonce: nonce, merchantID: merchantID.text(values), teamID: teamID.text(values), recipientKey: key)
  }
}

extension VerdictError {
  fileprivate var text: String {
    switch self {
    case .other(let reason), .unsupported(let reason), .gone(let reason): reason
    case .ended(let end): "it \(end.text)"
    }
  }
}

extension MockRequest {
  /// The request as `documents` of this server's HTTP API.
  fileprivate var apiDocuments: JSON {
    .array(
      documents.map { document in
        .members([
          "doc_type": .string(document.docType),
          "elements": .array(
            document.elements.map { ["namespace": .string($0.namespace), "identifier": .string($0.identifier)] }),
          "age_over": .array(document.ageOver.map { .integer(Int64($0)) }),
          "zk": document.requiresProof ? "required" : nil,
        ])
      })
  }

  /// The request in DCQL (OpenID4VP 1.0, 6).
  fileprivate var dcql: JSON {
    let decoder = PresentationRequestDecoder(for: .web, circuits: documents.flatMap(\.circuits))
    return (try? decoder.decode(requestOrQuery: ["documents": apiDocuments])).map { Presentation.DCQLQuery($0).json }
      ?? .null
  }
}

extension Option {
  static let verifierFile = Option(
    "verifier", "FILE", "play the mock wallet's variants to the running verifier that FILE describes")
  static let runProtocol = Option(
    "protocol", "NAME", "with --verifier: a protocol of FILE (default: all)", occurrence: .repeatable)
  static let parallel = Option("parallel", "N", "with --verifier: concurrent sessions", fallback: "4")
  static let resume = Option("resume", "FILE", "with --verifier: a journal file, from which a stopped run resumes")
}
