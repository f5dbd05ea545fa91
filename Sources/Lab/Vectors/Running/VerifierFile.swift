import Base

/// The description of a running verifier: how to begin a session, how to deliver a response, and where to read the
/// verdict.
package struct VerifierFile: Sendable {
  package let name: String
  /// The configuration that the verifier needs for the run, in words.
  package let note: String?
  /// True for a file that was made from a published API and never run.
  package let isUntried: Bool
  /// Environment variables. `value` is nil for a variable without a default.
  package let variables: [(name: String, value: String?)]
  /// A call before the first session.
  package let preparation: Call?
  /// The mock authority's seed in hexadecimal and the address of its lists, if the verifier provides them.
  package let seed: Template?
  package let lists: Template?
  package let trials: [Trial]

  /// One protocol of the verifier.
  package struct Trial: Sendable {
    package var protocolName = ""
    package let start: Call
    /// The request, by protocol: its link, `data` of the Digital Credentials API, or the nonce of Apple's in-app
    /// request.
    package let request: Template
    package let origin: Template?
    /// The merchant of Apple's in-app requests: its identifiers, and the P-256 point of its key in base64.
    package let merchantID: Template?
    package let teamID: Template?
    package let encryptionKey: Template?
    /// The call that delivers the response; nil if the wallet posts it to the request's `response_uri`.
    package let submit: Call?
    package let verdict: Verdict
    /// Variants to skip, grouped by reason.
    package let leaves: [(name: String, value: [String])]
  }

  /// An HTTP call, or a command that prints JSON on one line.
  package struct Call: Sendable {
    package enum Action: Sendable {
      /// An HTTP request: a GET if it has no body.
      case http(url: Template, headers: Template?, body: Template?)
      /// A command for `/bin/sh -c`. The command reads all values as a JSON object on one line.
      case command(String)
    }

    package let action: Action
    /// Pointers to values in the reply, by their names in templates.
    package let values: [(name: String, value: String)]

    fileprivate var templates: [Template] {
      guard case .http(let url, let headers, let body) = action else { return [] }
      return [url, headers, body].compactMap { $0 }
    }
  }

  /// The rules that turn a reply into a verdict. Without a pointer, the status is the verdict.
  package struct Verdict: Sendable {
    /// The call that asks for the verdict; nil if the reply to the posted response contains the verdict.
    package var call: Call?
    package var pointer: String?
    package var accepted: [JSON] = []
    package var refused: [JSON] = []
    package var pending: [JSON] = []
    /// Pointers to the verifier's codes, the primary code first; empty if it does not use this project's codes.
    package var codes: [String] = []
  }
}

/// A verifier's reply.
package struct VerifierReply: Sendable {
  package let status: Int
  /// The body; a string if the body is not JSON.
  package let json: JSON

  package init(status: Int, body: [UInt8]) {
    self.status = status
    json = (try? JSON(parsing: body)) ?? .string(String(decoding: body, as: UTF8.self))
  }

  /// True if the verifier failed to judge.
  package var hasFailed: Bool { status >= 500 || status == 429 }
}

extension VerifierFile.Verdict {
  /// The judgement in a reply; nil if the reply has none yet.
  ///
  /// - Throws: `VerdictError.ended` for status 429 or a status of at least 500, `VerdictError.other` for a value that
  ///   the file does not list.
  package func judgement(on reply: VerifierReply) throws(VerdictError) -> Judgement? {
    if reply.hasFailed { throw .ended(.crashed("HTTP \(reply.status)")) }
    guard let pointer else { return Self.judgement(byStatus: reply.status) }
    let value = reply.json.values(at: pointer).first ?? .null
    guard accepted.contains(value) || refused.contains(value) else {
      if pending.contains(value) || reply.status >= 400 { return nil }
      throw .other("\(pointer) is \(HarnessDescription.line(value.text(), most: 80)), which the file does not list")
    }
    let found = codes.flatMap { reply.json.values(at: $0) }.compactMap(\.string).unique
    return Judgement(isAccepted: accepted.contains(value), codes: codes.isEmpty ? nil : found)
  }

  /// The judgement of a verifier that reports acceptance or refusal only by its HTTP status.
  package static func judgement(byStatus status: Int) -> Judgement {
    var judgement = Judgement(isAccepted: status < 400)
    judgement.note = "HTTP \(status)"
    return judgement
  }
}

/// JSON with placeholders in its strings: `${name}` for a value, `${%name}` for a percent-encoded value.
package struct Template: Sendable {
  let json: JSON
  /// The template's position in the file.
  let pointer: String

  /// The template with its placeholders replaced by values. A string that consists of one `${name}` becomes the value
  /// itself, of any type.
  package func filled(_ values: [String: JSON]) -> JSON { Self.filled(json, values) }

  /// The template as text, with its placeholders replaced by values.
  package func text(_ values: [String: JSON]) -> String { filled(values).plainText }

  private static func filled(_ json: JSON, _ values: [String: JSON]) -> JSON {
    switch json {
    case .object(let members): return .object(members.map { .init($0.name, filled($0.value, values)) })
    case .array(let elements): return .array(elements.map { filled($0, values) })
    case .string(let text):
      let pieces = pieces(of: text)
      if pieces.count == 2, pieces[0].plain.isEmpty, pieces[1].plain.isEmpty, let value = values[pieces[0].name ?? ""] {
        return value
      }
      return .string(pieces.map { $0.plain + Self.value($0.name, values) }.joined())
    default: return json
    }
  }

  private static func value(_ name: String?, _ values: [String: JSON]) -> String {
    guard let name else { return "" }
    if name.hasPrefix("%") { return FormEncoding.escaped(values[String(name.dropFirst())]?.plainText ?? "") }
    return values[name]?.plainText ?? ""
  }

  /// The text before each name, and the text after the last name.
  private static func pieces(of text: String) -> [(plain: String, name: String?)] {
    var rest = text[...]
    var pieces: [(plain: String, name: String?)] = []
    while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
      pieces.append((String(rest[..<start.lowerBound]), String(rest[start.upperBound..<end])))
      rest = rest[rest.index(after: end)...]
    }
    return pieces + [(String(rest), nil)]
  }

  /// The names of all values.
  package var names: Set<String> { Self.names(in: json) }

  private static func names(in json: JSON) -> Set<String> {
    switch json {
    case .object(let members): members.reduce(into: []) { $0.formUnion(names(in: $1.value)) }
    case .array(let elements): elements.reduce(into: []) { $0.formUnion(names(in: $1)) }
    case .string(let text): Set(pieces(of: text).compactMap { $0.name.map { String($0.drop { $0 == "%" }) } })
    default: []
    }
  }

  fileprivate static func shape(_ schema: Schema, _ detail: String, _ isGood: @escaping @Sendable (JSON) -> Bool)
    -> Shape<Template>
  {
    Shape<JSON>.any(schema).checked(detail, isGood).parsed { json, pointer, _ in Template(json: json, pointer: pointer)
    }
  }

  static let text = shape(.nonEmptyString(), "must be a non-empty string") { $0.string?.isEmpty == false }
  static let object = shape(.anyObject, "must be an object") { $0.object != nil }
  static let any = shape(Schema([:]), "") { _ in true }
}

extension JSON {
  /// A string's text, or any other value as JSON.
  fileprivate var plainText: String { string ?? text() }

  /// The values at a JSON pointer (RFC 6901). In the pointer, `*` matches every element of an array.
  package func values(at pointer: String) -> [JSON] {
    pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst().reduce([self]) { found, part in
      let name = part.replacing("~1", with: "/").replacing("~0", with: "~")
      return found.flatMap { json -> [JSON] in
        guard let elements = json.array else { return [json[String(name)]].compactMap { $0 } }
        if name == "*" { return elements }
        return Int(name).flatMap { elements.indices.contains($0) ? [elements[$0]] : nil } ?? []
      }
    }
  }
}

// MARK: The file

extension VerifierFile {
  /// Names that are available in every template: the variant's request in the form of our API and in DCQL, and a random
  /// string for the session.
  private static let given: Set<String> = ["documents", "dcql", "random"]

  /// - Parameter variants: the names that `leave` may have.
  package static func shape(protocols: [String], variants: [String]) -> Shape<VerifierFile> {
    .form(
      "verifier",
      Entry("name", .text(1...100), "The verifier's name, for the reports."),
      .ifAny("note", .text(1...1_000), "The settings that the verifier needs. They are printed at the start."),
      Entry("not_run", .flag, or: false, "Whether the file was written from a published API and never run."),
      Entry.ifAny(
        "variables", Shape.text(0...1_000).orNull.byName("must be an object with at least one variable"),
        "Environment variables with their defaults; null if a variable has no default."),
      .ifAny("prepare", call, "A call to make before the first session."),
      .ifAny("seed", Template.text, "The seed of the mock authority in hexadecimal; --seed overrides it."),
      .ifAny("lists", Template.text, "The address of the mock authority's lists; --lists overrides it."),
      Entry("protocols", trial.byName("must be an object with at least one protocol"), "Each protocol's calls.")
    ) { context, name, note, isUntried, variables, preparation, seed, lists, trials in
      let outer = given.union((variables ?? []).map(\.name))
      let prepared = outer.union(preparation?.values.map(\.name) ?? [])
      check(preparation?.templates ?? [], outer, context)
      check([seed, lists].compactMap { $0 }, prepared, context)
      for (name, trial) in trials {
        if !protocols.contains(name) {
          context.add("protocols/\(JSONPointer.escape(name))", "must be \(protocols.alternatives)")
        }
        let isOfPage = name.hasPrefix("openid4vp-v1") || name == "org-iso-mdoc"
        if isOfPage, trial.origin == nil {
          context.add("protocols/\(JSONPointer.escape(name))/origin", "is required for this protocol")
        }
        for variant in trial.leaves.flatMap(\.value) where !variants.contains(variant) {
          context.add(
            "protocols/\(JSONPointer.escape(name))/leave",
            "\(variant) is no variant" + Spelling.hint(for: variant, among: variants))
        }
        let started = prepared.union(trial.start.values.map(\.name))
        check(trial.start.templates, prepared, context)
        let parts = [trial.request, trial.origin, trial.merchantID, trial.teamID, trial.encryptionKey]
        check(parts.compactMap { $0 } + (trial.verdict.call?.templates ?? []), started, context)
        check(trial.submit?.templates ?? [], started.union(["response"]), context)
      }
      return VerifierFile(
        name: name, note: note, isUntried: isUntried, variables: variables ?? [], preparation: preparation, seed: seed,
        lists: lists,
        trials: trials.map { name, trial in
          var trial = trial
          trial.protocolName = name
          return trial
        })
    }
  }

  private static func check(_ templates: [Template], _ known: Set<String>, _ context: ObjectContext) {
    for template in templates {
      for name in template.names.subtracting(known).sorted() {
        context.faults.add(
          template.pointer, "unknown variable ${\(name)}" + Spelling.hint(for: name, among: known.sorted()))
      }
    }
  }

  private static let pointer = Shape<String>.text(0...255).checked("must be a JSON pointer") {
    $0.isEmpty || $0.hasPrefix("/")
  }

  private static let call = Shape<Call>.form(
    "call",
    .ifAny("url", Template.text, "The address of an HTTP call."),
    .ifAny("command", .text(1...4_000), "A command that reads the values as JSON, and prints JSON on one line."),
    .ifAny("headers", Template.object, "Header fields."),
    .ifAny("body", Template.any, "The JSON body to post."),
    .ifAny("values", pointer.byName("must be an object with at least one pointer"), "Pointers to values in the reply.")
  ) { context, url, command, headers, body, values in
    if (url == nil) == (command == nil) { context.add("url", "set exactly one of `url` and `command`") }
    let action = url.map { Call.Action.http(url: $0, headers: headers, body: body) } ?? .command(command ?? "")
    return Call(action: action, values: values ?? [])
  }

  private static let verdict = Shape<Verdict>.form(
    "verdict",
    .ifAny("call", call, "The call that requests the verdict. It is repeated until there is a verdict."),
    .ifAny("value", pointer, "The pointer to the verdict. By default the HTTP status is the verdict."),
    Entry("accepted", Shape.any(Schema([:])).list(atLeast: 0), or: [], "Values of an accepted response."),
    Entry("refused", Shape.any(Schema([:])).list(atLeast: 0), or: [], "Values of a refused response."),
    Entry("pending", Shape.any(Schema([:])).list(atLeast: 0), or: [], "Values before the verdict."),
    Entry("codes", pointer.list(atLeast: 0), or: [], "Pointers to this project's codes, the primary code first.")
  ) { context, call, pointer, accepted, refused, pending, codes in
    if pointer != nil, accepted.isEmpty { context.add("accepted", "must have a value") }
    return Verdict(
      call: call, pointer: pointer, accepted: accepted, refused: refused, pending: pending, codes: codes)
  }

  private static let trial = Shape<Trial>.form(
    "protocol",
    Entry("start", call, "The call that begins a session."),
    Entry("request", Template.any, "The link, the data of the Digital Credentials API, or Apple's nonce."),
    .ifAny("origin", Template.text, "The page's origin, over the Digital Credentials API."),
    .ifAny("merchant_id", Template.text, "The merchant's identifier, over Apple's in-app protocol."),
    .ifAny("team_id", Template.text, "The merchant's team."),
    .ifAny("encryption_key", Template.text, "The merchant's encryption key: its P-256 point in base64."),
    .ifAny("submit", call, "The call that delivers `${response}`. By default the wallet posts it to `response_uri`."),
    .ifAny("verdict", verdict, "The source of the verdict. By default it is the status of the reply to the response."),
    .ifAny(
      "leave", Shape.text().list(atLeast: 1).byName("must list variants by reason"), "Variants to skip.")
  ) { _, start, request, origin, merchantID, teamID, key, submit, verdict, leaves in
    Trial(
      start: start, request: request, origin: origin, merchantID: merchantID, teamID: teamID, encryptionKey: key,
      submit: submit, verdict: verdict ?? Verdict(), leaves: leaves ?? [])
  }
}
