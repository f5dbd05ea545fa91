import Base
import Mdoc
import Vectors

enum VectorsExtract {
  static let command = Command(
    "extract", "write a case's inputs as files, with the command that judges them", options: [.suite, .json],
    operand: Operand(placeholder: "ID FOLDER", help: "a case, and the new folder for its files", isRepeatable: true),
    notes: [
      "README.txt has the command and the expected verdict. If mdoc verify cannot express a case's conditions, "
        + "README.txt says so; question.json then asks for the verdict over the harness protocol.",
      "Exit status: 0 written, 64 usage or no such case, 65 the folder exists, or the suite cannot be read.",
    ], examples: [.init("Write a case as files", "mdoc vectors extract element-twice case && cat case/README.txt")],
    work: run)

  private static func run(_ arguments: Arguments) throws(Failure) {
    guard arguments.operands.count == 2 else { throw .usage("give exactly two arguments, ID and FOLDER") }
    let suite = try VectorsCommand.suite(arguments)
    let entry = try VectorsCommand.entry(arguments.operands[0], in: suite)
    let folder = arguments.operands[1]
    let extracted = ExtractedCase(entry.vector, in: suite)
    try write(extracted.files, to: folder)
    arguments.print([
      .members([
        "folder": folder, "files": extracted.files.map(\.path), "command": extracted.command.joined(separator: " "),
      ]),
      .line("\(extracted.files.count) files in \(folder); README.txt has the command"),
    ])
  }

  static func write(_ files: [(path: String, bytes: [UInt8])], to folder: String) throws(Failure) {
    guard !FileAccess.exists(folder) else { throw .unreadable("\(folder): exists already; nothing was written") }
    try FileAccess.makeFolder(folder)
    for file in files {
      if let slash = file.path.lastIndex(of: "/") { try FileAccess.makeFolder("\(folder)/\(file.path[..<slash])") }
      try FileAccess.writeNew(file.bytes, to: "\(folder)/\(file.path)")
    }
  }
}

/// A case as files: a verifier's inputs, and a README with the command that judges them.
struct ExtractedCase {
  private let vector: TestVector
  private let suite: VectorSuite
  private var inputs: [(path: String, meaning: String, bytes: [UInt8])] = []
  /// The words of the command line; empty if no command can judge the case.
  private(set) var command: [String] = []

  init(_ vector: TestVector, in suite: VectorSuite) {
    self.vector = vector
    self.suite = suite
    addInput()
    addRequest()
    addAnchors()
    addPublications()
    addRules()
    let question = suite.anchors.question(of: vector).fileContent
    add("question.json", "the whole case as a question to a harness", question)
    if obstacle != nil { command = [] }
  }

  /// The case's files, with paths relative to the folder.
  var files: [(path: String, bytes: [UInt8])] {
    inputs.map { ($0.path, $0.bytes) } + [("README.txt", Array(readme.utf8))]
  }

  private mutating func add(_ path: String, _ meaning: String, _ bytes: [UInt8]) {
    inputs.append((path, meaning, bytes))
  }

  // MARK: Inputs

  private mutating func addInput() {
    let bytes = vector.input.bytes
    switch vector.session {
    case .proximity(let session):
      add("response.cbor", "the DeviceResponse", bytes)
      add("transcript.cbor", "the reader's SessionTranscript", session.transcript)
      command = ["mdoc verify response", "--response response.cbor", "--transcript transcript.cbor"]
      if let scalar = session.readerKey {
        addKey("reader-key.hex", "the reader's ephemeral private key", scalar)
        command.append("--reader-key reader-key.hex")
      }
    case .appleInApp(let session):
      add("envelope.cbor", "the encrypted envelope", bytes)
      addKey("recipient-key.hex", "the merchant's private key", session.recipientKey)
      command = [
        "mdoc verify apple", "--envelope envelope.cbor", "--key recipient-key.hex",
        "--nonce \(Hex.encode(session.nonce))", "--merchant-id \(Self.quoted(session.merchantID))",
        "--team-id \(Self.quoted(session.teamID))",
      ]
    case .annexC(let session):
      add("response.cbor", "the EncryptedResponse", bytes)
      add("encryption-info.txt", "EncryptionInfo as it was sent", Array(session.encryptionInfo.utf8))
      addKey("recipient-key.hex", "the private key of the request", session.recipientKey)
    case .openID4VP(let session):
      add("response.json", "the response's parameters", bytes)
      if let key = session.encryptionKey { addKey("encryption-key.hex", "the private key of the request", key) }
    case .list(let list):
      let name = list.format == .vical ? "list.cbor" : "list.jwt"
      add(name, "the list of anchors", bytes)
      command = ["mdoc trust show \(name)"]
    }
  }

  private mutating func addKey(_ path: String, _ meaning: String, _ scalar: [UInt8]) {
    add(path, meaning + ", public like everything here", Array("\(Hex.encode(scalar))\n".utf8))
  }

  private mutating func addRequest() {
    guard vector.request.object?.isEmpty == false else { return }
    add("request.json", "the request", vector.request.fileContent)
    command.append("--request request.json")
  }

  private mutating func addAnchors() {
    for name in vector.namedAnchors where !inputs.contains(where: { $0.path == "anchors/\(name).pem" }) {
      for file in suite.anchors.files(of: name) {
        add(file.path, file.path.hasSuffix(".pem") ? "a trust anchor" : "its settings", file.content)
      }
    }
    if case .list = vector.session {
      command += vector.trustAnchors.map { "--signer-anchor anchors/\(Self.quoted("\($0).pem"))" }
    } else {
      command.append("--trust anchors")
    }
    if let list = vector.anchorList {
      add("anchor-list.\(list.list.format == .vical ? "cbor" : "jwt")", "a list of further anchors", list.input.bytes)
    }
  }

  private mutating func addPublications() {
    for (index, publication) in vector.publications.enumerated() where publication.failure == nil {
      let path = "lists/\(index + 1)"
      add(path, "the list at \(publication.address)", publication.list.bytes)
      command.append("--list \(Self.quoted("\(publication.address)=\(path)"))")
    }
  }

  private mutating func addRules() {
    let policy = vector.policy
    let usual = VectorPolicy()
    command.append("--at \(vector.validationTime)")
    if policy.clockSkew != usual.clockSkew { command.append("--clock-skew \(policy.clockSkew)") }
    if policy.isStrict { command.append("--strict") }
    if policy.revocation != usual.revocation { command.append("--revocation \(policy.revocation.rawValue)") }
    // If the revocation policy is off, no list is requested.
    if policy.revocation == .off { command.removeAll { $0.hasPrefix("--list ") } }
    if asksForProof { command.append("--circuits \"$CIRCUITS\"") }
  }

  private var asksForProof: Bool { vector.features.contains("zero-knowledge") }

  // MARK: Obstacles

  /// The reason why no command judges the case under its conditions; nil if a command does.
  var obstacle: String? {
    switch vector.session {
    case .annexC, .openID4VP: return "mdoc verify has no command for responses over \(vector.session.protocolName)"
    case .list(let list):
      if ListFile(vector.input.bytes) == nil { return "mdoc trust show does not recognise the bytes as a list" }
      if list.last != nil { return "mdoc trust show does not remember earlier lists" }
    case .proximity, .appleInApp: break
    }
    let policy = vector.policy
    if vector.anchorList != nil { return "mdoc verify takes anchors only from files, not from a list" }
    if vector.trustAnchors.isEmpty { return "no anchor is trusted here, and --trust needs one" }
    if !policy.trustsTestCertificates {
      return "the case is for live mode, but mdoc verify trusts test anchors"
    }
    if policy.allowsJWTStatusLists { return "the anchor's settings do not admit status lists that are JSON Web Tokens" }
    if vector.publications.contains(where: { $0.failure == .tooLarge }) {
      return "the case has a list that is too large to fetch, but lists from files are not fetched"
    }
    if asksForProof, policy.revocation == .requireGood { return "mdoc refuses such a request before it is sent" }
    if vector.expectation.codes.contains(Code.appleSimulatorAnswer.rawValue) {
      return "mdoc verify apple accepts Apple's published key with a warning"
    }
    return WireBytes(vector.input.bytes).bytes == vector.input.bytes
      ? nil : "the response is text, which mdoc verify decodes before it judges"
  }

  // MARK: README

  private var readme: String {
    let expectation = vector.expectation
    let verdict =
      expectation.isAccepted
      ? (expectation.warnings ?? []).isEmpty
        ? "accepted" : "accepted, warning of \((expectation.warnings ?? []).joined(separator: ", "))"
      : "refused with \(expectation.codes.joined(separator: ", "))"
    let rows = inputs.map { ($0.path, $0.meaning) }
    return """
      \(vector.id): \(vector.description)

      It must be \(verdict).
      \(vector.reference)

      Files
      \(Wrapping.columns(rows, width: 96))

      \(obstacle.map(unsayable) ?? judged)

      To judge it over the harness protocol, with all its conditions:

          mdoc vectors serve-harness --listen 127.0.0.1:9000\(asksForProof ? " --circuits \"$CIRCUITS\"" : "") &
          curl --data-binary @question.json http://127.0.0.1:9000/

      All keys and persons are made up. Never trust an anchor of this folder in production.

      """
  }

  private var judged: String {
    let status: String
    if case .list = vector.session {
      status = vector.expectation.isAccepted ? "0: ACCEPTED" : "1: REFUSED"
    } else {
      status = vector.expectation.isAccepted ? "0, or 3 if nothing is disclosed" : "1"
    }
    let circuits = asksForProof ? "; CIRCUITS is the folder that mdoc circuits import made" : ""
    return """
      To judge it, in this folder\(circuits):

          \(command.joined(separator: " \\\n      "))

      The exit status must be \(status).
      """
  }

  private func unsayable(_ obstacle: String) -> String {
    Wrapping.wrap("The command line cannot judge this case under its conditions: \(obstacle).", width: 96)
  }

  /// The word, quoted for a shell.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (0x30...0x39).contains(byte)
        || Array("-._/:=@%+,".utf8).contains(byte)
    }
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}
