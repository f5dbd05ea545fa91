import Base
import Mdoc
import Vectors

/// A case as files: what a verifier gets, and a README with the command that judges it.
struct ExtractedCase {
  private let vector: TestVector
  private let suite: VectorSuite
  private var inputs: [Input] = []
  /// The words of the command line; empty if there is no command for such a case.
  private(set) var command: [String] = []

  private struct Input {
    let path: String
    let meaning: String
    let bytes: [UInt8]
  }

  init(_ vector: TestVector, in suite: VectorSuite) {
    self.vector = vector
    self.suite = suite
    addInput()
    addRequest()
    addAnchors()
    addPublications()
    addRules()
    let question = suite.anchors.question(of: vector).serialized(pretty: true) + [UInt8(ascii: "\n")]
    add("question.json", "the whole case as a harness is asked it", question)
    if obstacle != nil { command = [] }
  }

  /// With paths relative to the folder.
  var files: [(path: String, bytes: [UInt8])] {
    inputs.map { ($0.path, $0.bytes) } + [("README.txt", Array(readme.utf8))]
  }

  private mutating func add(_ path: String, _ meaning: String, _ bytes: [UInt8]) {
    inputs.append(Input(path: path, meaning: meaning, bytes: bytes))
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
      if let encryption = session.encryption {
        addKey("encryption-key.hex", "the private key of the request", encryption.key)
      }
    case .list(let list):
      let name = list.format == .vical ? "list.cbor" : "list.jwt"
      add(name, "the list of anchors", bytes)
      command = ["mdoc trust show \(name)"]
    }
  }

  private mutating func addKey(_ path: String, _ meaning: String, _ scalar: [UInt8]) {
    add(path, meaning + ", public as everything here is", Array("\(Hex.encode(scalar))\n".utf8))
  }

  private mutating func addRequest() {
    guard vector.request.object?.isEmpty == false else { return }
    add("request.json", "what was asked for", vector.request.serialized(pretty: true) + [UInt8(ascii: "\n")])
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
    for (index, publication) in vector.publications.enumerated() {
      guard case .list(let input, _) = publication.answer else { continue }
      let path = "lists/\(index + 1)"
      add(path, "what is served at \(publication.address)", input.bytes)
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
    // Without a policy nothing is asked, so that lists would be of no use.
    if policy.revocation == .off { command.removeAll { $0.hasPrefix("--list ") } }
    if asksForProof { command.append("--circuits \"$CIRCUITS\"") }
  }

  private var asksForProof: Bool { vector.features.contains("zero-knowledge") }

  // MARK: What cannot be said

  /// Why no command judges the case as it must be judged; nil if one does.
  var obstacle: String? {
    switch vector.session {
    case .annexC, .openID4VP: return "mdoc verify has no command for answers over \(vector.session.protocolName)"
    case .list(let list):
      if ListFile(vector.input.bytes) == nil { return "mdoc trust show takes the bytes for no list" }
      if list.last != nil { return "mdoc trust show remembers no list that was accepted before" }
    case .proximity, .appleInApp: break
    }
    let policy = vector.policy
    if vector.anchorList != nil { return "mdoc verify takes anchors from files, and none from a list" }
    if vector.trustAnchors.isEmpty { return "no anchor is trusted here, and --trust needs one" }
    if !policy.trustsTestCertificates {
      return "the case is judged as in live mode, and mdoc verify trusts test anchors"
    }
    if policy.allowsJWTStatusLists { return "the anchor's settings do not admit status lists that are JSON Web Tokens" }
    if vector.publications.contains(where: { $0.answer == .fault(.tooLarge) }) {
      return "a list is too large to be fetched, and nothing is fetched from files"
    }
    if asksForProof, policy.revocation == .requireGood { return "such a request is refused before it is sent" }
    if vector.expectation.codes.contains(Code.appleSimulatorAnswer.rawValue) {
      return "mdoc verify apple takes Apple's published key with a warning"
    }
    return WireBytes(vector.input.bytes).bytes == vector.input.bytes
      ? nil : "the answer is text, which mdoc verify decodes before it judges"
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

      Over the harness protocol, with all its circumstances:

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
      status = vector.expectation.isAccepted ? "0, or 3 where nothing is disclosed" : "1"
    }
    let circuits = asksForProof ? "; CIRCUITS is the folder that mdoc circuits import made" : ""
    return """
      To judge it, in this folder\(circuits):

          \(command.joined(separator: " \\\n      "))

      The exit status must be \(status).
      """
  }

  private func unsayable(_ obstacle: String) -> String {
    Wrapping.wrap("The command line cannot judge this case as it must be judged: \(obstacle).", width: 96)
  }

  /// A word for a shell.
  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || (0x30...0x39).contains(byte)
        || Array("-._/:=@%+,".utf8).contains(byte)
    }
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}
