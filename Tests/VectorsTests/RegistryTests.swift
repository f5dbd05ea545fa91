import Base
import FoundationEssentials
import Sessions
import Testing

@testable import Vectors

/// Each code of the registry is reached by a vector, or by a test that is named here: of sessions and of HTTP.
@Suite struct RegistryTests {
  /// A test function, and the file below Tests that has it.
  struct Scripted: Sendable {
    let file: String
    let function: String

    init(_ file: String, _ function: String) {
      self.file = file
      self.function = function
    }
  }

  private static let lifecycle = "SessionsTests/LifecycleTests.swift"
  private static let rare = "SessionsTests/RemainingCodeTests.swift"
  private static let refusals = "AppTests/Routes/RefusalTests.swift"
  private static let creation = "SessionsTests/CreationTests.swift"
  private static let transport = Scripted(refusals, "`what the transport refuses is a problem too`")
  private static let submits = Scripted(refusals, "`no refused submit consumes the challenge`")

  private static let zeroKnowledge = "MdocTests/ZeroKnowledgeTests.swift"
  private static let proofSessions = "SessionsTests/ZeroKnowledgeSessionTests.swift"

  private static let profile = "PKIXTests/ProfileTests.swift"
  private static let profileFields = Scripted(profile, "theFieldsOfACertificate")
  private static let profileExtensions = Scripted(profile, "theExtensionsOfACertificate")

  private static let sources = "TrustTests/Sources/UnavailableListTests.swift"

  private static let readerSession = "PresentationTests/ReaderSessionTests.swift"

  private static let audit = "SessionsTests/AuditVerificationTests.swift"

  private static let evidence = "SessionsTests/EvidenceTests.swift"

  private static let readers = "PresentationTests/ReaderVerifierTests.swift"

  static let scripted: [Code: Scripted] = [
    .nothingDisclosed: Scripted("MdocTests/DisclosureTests.swift", "`a genuine answer with nothing in it warns`"),
    .readerRequestMalformed: Scripted(readers, "`what is no request is named`"),
    .readerAuthMissing: Scripted(readers, "`every document must be covered by a good signature`"),
    .readerAuthMalformed: Scripted(readers, "`a signature in another form is refused`"),
    .readerCertificateMissing: Scripted(readers, "`a signature in another form is refused`"),
    .readerUntrusted: Scripted(readers, "`a reader below another root is a stranger`"),
    .readerCertificateProfile: Scripted(readers, "`a certificate for something else is no reader's`"),
    .readerAlgorithmUnsupported: Scripted(readers, "`an algorithm that is not the key's is refused`"),
    .readerSignatureInvalid: Scripted(readers, "`a request of another session does not verify`"),
    .readerClientMismatch: Scripted(readers, "`the client identifier must be the certificate's`"),
    .readerOriginMismatch: Scripted(readers, "`a request object is for the origins that it names`"),
    .readerAudience: Scripted(readers, "`another audience warns`"),
    .evidenceMalformed: Scripted(evidence, "changed"),
    .evidenceTooLarge: Scripted(evidence, "refused"),
    .evidenceVersionUnsupported: Scripted(evidence, "refused"),
    .evidenceKeyMismatch: Scripted(evidence, "refused"),
    .evidenceSealBroken: Scripted(evidence, "changed"),
    .evidenceReportMismatch: Scripted(evidence, "mismatch"),
    .evidenceNotInAudit: Scripted(evidence, "trace"),
    .auditMalformed: Scripted(audit, "malformed"),
    .auditEntryMissing: Scripted(audit, "removed"),
    .auditHashMismatch: Scripted(audit, "altered"),
    .auditSequenceRepeated: Scripted(audit, "inserted"),
    .auditOutOfOrder: Scripted(audit, "swapped"),
    .auditExportsDisagree: Scripted(audit, "disagreeing"),
    .auditEndMissing: Scripted(audit, "cut"),
    .auditHeadMissing: Scripted(audit, "cut"),
    .auditHeadMismatch: Scripted(audit, "inserted"),
    .auditHeadNotOnChain: Scripted(audit, "rewritten"),
    .auditAttemptRepeated: Scripted(audit, "repeatedAttempt"),
    .auditSessionVerifiedTwice: Scripted(audit, "repeatedSession"),
    .sessionDataMalformed: Scripted(readerSession, "whatIsNoSessionDataIsMalformed"),
    .sessionTerminated: Scripted(readerSession, "aDeviceThatGaveUpIsReported"),
    .readerKeyMismatch: Scripted(readerSession, "aPrivateKeyThatIsNotTheReadersIsRefused"),
    .responseCodeMismatch: Scripted("SessionsTests/WalletEndpointTests.swift", "responseCode"),
    .apiOriginNotAllowed: Scripted(
      "AppTests/Routes/WebProtocolTests.swift", "`what is asked is asked from the page's origin alone`"),
    .apiOutsideRegistration: Scripted(
      "SessionsTests/RegistrationTests.swift", "`what is not registered is not asked`"),
    .apiWalletUnsupported: Scripted(
      "PresentationTests/OpenID4VP/WalletMetadataTests.swift", "`a wallet that does not take the request is told why`"),
    .readerCertificateExpired: Scripted("SessionsTests/AnnexCProtocolTests.swift", "reader"),
    .listSourceNotAllowed: Scripted(sources, "aListIsNotFetchedFromEverywhere"),
    .listUnavailable: Scripted(sources, "aListThatCannotBeHadTrustsNobody"),
    .profileVersion: profileFields,
    .profileName: Scripted(profile, "theNamesOfACertificate"),
    .profilePublicKey: profileFields,
    .profileSignatureAlgorithm: profileFields,
    .profileKeyIdentifierValue: profileFields,
    .profilePathLength: profileExtensions,
    .profileKeyUsage: profileExtensions,
    .profileExtendedKeyUsage: profileExtensions,
    .profileSubjectAltName: profileExtensions,
    .sessionNotFound: Scripted(lifecycle, "nothingConsumed"),
    .sessionProtocolMismatch: submits,
    .sessionAlreadyUsed: Scripted(lifecycle, "verified"),
    .sessionExpired: Scripted(lifecycle, "expired"),
    .sessionCanceled: Scripted(lifecycle, "canceledAndRedacted"),
    .sessionRedacted: Scripted(lifecycle, "canceledAndRedacted"),
    .sessionWrongState: Scripted(rare, "wrongState"),
    .sessionInterrupted: Scripted(lifecycle, "interrupted"),
    .apiMalformedRequest: submits,
    .zkCircuitUnavailable: Scripted(zeroKnowledge, "faults"),
    .zkNotProvable: Scripted(proofSessions, "`what cannot be proven is not asked for`"),
    .zkCircuitsMissing: Scripted(proofSessions, "`what cannot be proven is not asked for`"),
    .apiInvalidRequest: submits,
    .apiUnknownMember: submits,
    .apiProtocolUnsupported: Scripted(refusals, "`a creation names what is wrong with it`"),
    .apiTooManyAgeRequests: Scripted(refusals, "`a creation names what is wrong with it`"),
    .apiUnauthenticated: submits,
    .apiForbidden: Scripted(
      "AppTests/Routes/RightsTests.swift", "`every route refuses callers without its scope, and no others`"),
    .apiNotFound: Scripted(refusals, "`there is nothing at other addresses`"),
    .apiMethodNotAllowed: Scripted(refusals, "`other methods are refused with those that are allowed`"),
    .apiIdempotencyInProgress: Scripted(rare, "inProgress"),
    .apiIdempotencyKeyReused: Scripted("SessionsTests/IdempotencyTests.swift", "creation"),
    .apiBodyTooLarge: submits,
    .apiHeadersTooLarge: transport,
    .apiTargetTooLong: transport,
    .apiUnsupportedMediaType: submits,
    .configurationReloadFailed: Scripted(
      "AppTests/Configuration/ReloadTests.swift",
      "`a broken file keeps the old configuration in force, and everything says so`"),
    .trustReloadFailed: Scripted(
      "AppTests/Routes/TrustReloadTests.swift", "`a reload that fails keeps what was in force, and says so`"),
    .apiRateLimited: Scripted(
      "AppTests/Routes/RateLimitRouteTests.swift", "`a key that asks too often is told when to come again`"),
    .apiQuotaExceeded: Scripted("SessionsTests/QuotaTests.swift", "openSessions"),
    .apiSessionTooLarge: Scripted(lifecycle, "largeSession"),
    .apiOverloaded: Scripted(lifecycle, "overload"),
    .apiStoreUnavailable: Scripted("SessionsTests/BrokenStoreTests.swift", "outcome"),
    .apiKeyUnavailable: Scripted(
      "SessionsTests/HeldKeyTests.swift", "`a request is not made without its reader's signature`"),
    .apiInternal: Scripted(rare, "unreadableResult"),
  ]

  /// The constants of the codes in the sources, by the codes' names.
  private static let constants: [(name: String, constant: String)] = {
    let root = "\(CommittedCorpus.root)/Sources"
    let files = (try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? []
    return files.filter { $0.hasSuffix(".swift") }.flatMap { file in
      let text = String(decoding: FileManager.default.contents(atPath: "\(root)/\(file)") ?? Data(), as: UTF8.self)
      return text.matches(of: /static let (\w+) = Code\(\s*"([a-z0-9_.]+)"/).map { (String($0.2), String($0.1)) }
    }
  }()

  @Test func `every declared code is registered, and declared once`() {
    #expect(Self.constants.map(\.name).sorted() == Code.allCases.map(\.rawValue).sorted())
  }

  private func reached() throws -> Set<String> {
    Set(
      try CommittedCorpus.suite().entries.flatMap { entry in
        entry.vector.expectation.codes + (entry.vector.expectation.warnings ?? [])
      })
  }

  @Test func `every code is reached`() throws {
    let reached = try reached()
    // The table of PresentationTests/RequestRulesTests.swift has every code of requests, which it checks itself.
    let missing = Code.allCases.filter { code in
      !reached.contains(code.rawValue) && Self.scripted[code] == nil && !code.rawValue.hasPrefix("request.")
    }
    #expect(missing == [])
  }

  @Test func `nothing is excused that a vector reaches`() throws {
    let reached = try reached()
    #expect(Self.scripted.keys.filter { reached.contains($0.rawValue) } == [])
  }

  @Test func `every vector's codes exist`() throws {
    #expect(try reached().filter { Code(rawValue: $0) == nil } == [])
  }

  /// The named test exists and names the code, by the Swift case or by the text on the wire.
  @Test(arguments: scripted.keys.sorted { $0.rawValue < $1.rawValue })
  func `every scripted test names its code`(code: Code) throws {
    let test = try #require(Self.scripted[code])
    let constant = try #require(Self.constants.first { $0.name == code.rawValue }?.constant)
    let data = try #require(FileManager.default.contents(atPath: "\(CommittedCorpus.root)/Tests/\(test.file)"))
    let text = String(decoding: data, as: UTF8.self)
    let start = try #require(text.firstRange(of: "func \(test.function)("), "\(test.function)")
    let rest = text[start.upperBound...]
    // The body ends with a brace in the column of its `func`, which in a suite is the third.
    let body = rest[..<(rest.firstRange(of: "\n  }\n")?.lowerBound ?? rest.endIndex)]
    #expect(body.contains("\"\(code.rawValue)\"") || body.contains(".\(constant)"), "\(test.function) in \(test.file)")
  }

  /// Rows of the list of negative cases that a verifier of documents or of lists can meet, in sections 1 to 3, 5 to 9.
  @Test func `every row about documents and lists has a vector`() throws {
    let rows = [
      ("C", 1...12), ("A", 1...16), ("D", 1...18), ("I", 1...23), ("E", 1...31), ("K", 1...16), ("T", 1...26),
      ("P", 1...2),
      ("V", 1...5), ("R", 1...12),
    ]
    let covered = Set(try CommittedCorpus.suite().entries.flatMap(\.vector.cases))
    let missing = rows.flatMap { letter, numbers in
      numbers.map { "\(letter)\($0 < 10 ? "0" : "")\($0)" }
    }.filter { !covered.contains($0) }
    // D02 and E26 are about requests, which the API checks. V05 is about fetching, which Tests/NetworkTests cover.
    #expect(missing == ["D02", "E26", "V05"])
  }
}
