import Base
import FoundationEssentials
import HTTP
import Testing

@testable import App
@testable import MdocTool

/// What the README says of codes, verbs and limits is what the program has.
@Suite struct ReadmeTests {
  private let readme: String

  init() throws {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    readme = String(decoding: try #require(FileManager.default.contents(atPath: root + "/README.md")), as: UTF8.self)
  }

  @Test func itsTablesOfChecksAreTheRegistry() async throws {
    let tables = await Run("codes", "--markdown").output
    #expect(Code.allCases.allSatisfy { tables.contains("| `\($0.rawValue)` |") })
    #expect(!tables.contains("| Others |"))
    let printed = try #require(readme.firstRange(of: "<!-- mdoc codes --markdown -->\n"))
    let end = try #require(readme[printed.upperBound...].firstRange(of: "<!-- end -->"))
    let isSame = readme[printed.upperBound..<end.lowerBound] == tables
    #expect(
      isSame,
      "Replace the README's tables by what `mdoc codes --markdown` prints.")
  }

  @Test func itNamesEveryVerb() {
    for verb in Self.verbs(of: Program.root, below: "mdoc") {
      let isThere = readme.contains("| `\(verb)` |")
      #expect(isThere, "\(verb) is not in the table of verbs")
    }
  }

  private static func verbs(of command: Command, below path: String) -> [String] {
    command.verbs.flatMap { verb in
      let name = "\(path) \(verb.name)"
      return verb.verbs.isEmpty ? [name] : verbs(of: verb, below: name)
    }
  }

  @Test func itsLimitsAreThoseInForce() {
    let server = HTTPServerConfiguration()
    let limits: [(String, String)] = [
      ("One wallet answer, opened or not", "\(Limits.responseBytes) bytes"),
      ("CBOR items in one input", "\(Limits.cborItems)"),
      ("CBOR items in a fetched list", "\(Limits.listItems)"),
      ("CBOR nesting", "\(Limits.cborDepth) levels"),
      ("Documents in one response", "\(Limits.documents)"),
      ("Certificates in one chain", "\(Limits.chainCertificates)"),
      ("One certificate", "\(Limits.certificateBytes) bytes"),
      ("HTTP request body", "\(Limits.requestBodyBytes) bytes"),
      ("HTTP request line and headers", "\(Limits.requestHeaderBytes) bytes"),
      ("Time for a whole HTTP request to arrive", "\(server.requestDeadline) s"),
      ("Time for the client to take the reply", "\(server.responseDeadline) s"),
      ("Silence on a kept-alive connection", "\(server.idleTimeout) s"),
      ("HTTP connections", "\(server.maxConnections)"),
      ("HTTP requests in work or waiting; above, 503", "\(server.maxInFlight)"),
      ("Bodies of all HTTP requests, with what is made of them; above, 503", "\(Limits.bufferedBodyBytes) bytes"),
      (
        "Nonce: made, and taken by `mdoc verify apple`",
        "\(Limits.nonceBytes) bytes, and "
          + "\(Limits.shortestNonceBytes) to \(Limits.appleNonceBytes)"
      ),
      (
        "Session lifetime",
        "\(Limits.sessionLifetime) s, or "
          + "\(Limits.sessionLifetimeRange.lowerBound) to \(Limits.sessionLifetimeRange.upperBound) by `expires_in`"
      ),
      ("Session `processing` before it reads as interrupted", "\(Limits.processingTimeout) s"),
      ("Waiting result", "\(Limits.resultLifetime) s"),
      ("Reply kept under its `Idempotency-Key`", "\(Limits.idempotencyLifetime) s"),
      (
        "Sealed bundle of evidence; a larger one is not kept",
        "\(Limits.evidenceBytes) bytes, for as long as its session"
      ),
      ("Ended sessions and reports kept", "\(Limits.sessionRetention / 86_400) days"),
      ("Documents asked for in one session", "\(Limits.requestedDocuments)"),
      ("Elements asked for in one session", "\(Limits.requestedElements)"),
      ("Age thresholds for one document", "\(Limits.ageRequests)"),
      (
        "Members of `metadata`, and characters of each",
        "\(Limits.metadataMembers), and "
          + "\(Limits.metadataValueCharacters)"
      ),
      ("Sessions on one page of a list", "\(Limits.pageSize), at most \(Limits.largestPage)"),
      (
        "Bytes of one page of a list, as it is read and as it is sent", "\(Limits.pageBytes) bytes, or one session"
      ),
      (
        "Lists that one relying party reads at one time, and that wait; above, 503",
        "\(Limits.lists), and \(Limits.waitingLists)"
      ),
      ("Time to read one list from the store; above, 503", "\(Limits.listSeconds) s; PostgreSQL 4 s"),
      ("Bytes of one session at its creation; above, 413", "\(Limits.sessionBytes) bytes"),
      (
        "Attempts under way at one time: of one endpoint; of one that failed; the first of each endpoint, all; all "
          + "others, divided evenly between the relying parties that have some",
        "\(Limits.endpointDeliveries); 1; \(Limits.firstDeliveries); \(Limits.deliveries)"
      ),
      ("One fetched list, as it comes and unpacked by HTTP", "\(Limits.listBytes) bytes"),
      ("Address of a list", "\(Limits.listAddressBytes) bytes"),
      (
        "Time for one fetch; to connect; without a byte",
        "\(Limits.fetchSeconds) s; \(Limits.fetchConnectSeconds) s; \(Limits.fetchSilenceSeconds) s"
      ),
      ("Redirects of one fetch", "\(Limits.fetchRedirects)"),
      ("Headers of a fetched answer", "\(Limits.fetchHeaderBytes) bytes"),
      (
        "Fetches at one time, and waiting; of one host",
        "\(Limits.fetches), and \(Limits.waitingFetches); \(Limits.hostFetches), and \(Limits.waitingHostFetches)"
      ),
      ("Private key handed in with a proximity answer", "\(Limits.submittedKeyBytes) bytes"),
      (
        "Rounds of an encrypted private key (PBKDF2); N·r·p of scrypt",
        "\(Limits.passphraseRounds); \(Limits.passphraseSteps)"
      ),
      ("Clock skew", "\(Limits.clockSkew) s unless configured"),
    ]
    for (name, value) in limits {
      let isThere = readme.contains("| \(name) | \(value) |\n")
      #expect(isThere, "| \(name) | \(value) | is not in the README")
    }
  }
}
