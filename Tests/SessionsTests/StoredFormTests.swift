import Base
import Mdoc
import Testing

@testable import Sessions

@Suite("What a store keeps as JSON") struct StoredFormTests {
  private let content = SessionContent(
    request: PresentationRequest(
      documents: [
        DocumentRequest(
          docType: "d",
          elements: [
            ElementRequest(
              ElementReference("n", "given/\"name\""), intentToRetain: true, isRequired: false,
              alternatives: [ElementReference("n", "other")])
          ], ageOver: [18, 21], minimumAge: 18), DocumentRequest(docType: "e", elements: []),
      ], requiresAllDocuments: true),
    origin: "https://shop.example", redirectURI: "https://shop.example/back", clientReferenceID: "order",
    metadata: [.init(name: "k", value: "v")])
  private let report = ReportRecord(
    id: "vr_1", verifiedAt: 1_795_000_000, trustSnapshot: "00", revocationPolicy: "off",
    checks: [.init(code: "a.b", outcome: "passed", clause: "9.1", detail: nil)],
    documents: [.init(checks: [.init(code: "c.d", outcome: "failed", clause: "9.2", detail: "a detail")])])
  private let error = LastError(
    [Reason(.issuerUnknown, document: 1), Reason(.stateMismatch)], walletDescription: "Words.")

  @Test("comes back as it went in")
  func roundTrip() throws {
    #expect(try StoredForm.decode(SessionContent.self, from: StoredForm.encode(content)) == content)
    #expect(try StoredForm.decode(ReportRecord.self, from: StoredForm.encode(report)) == report)
    #expect(
      try StoredForm.decode(ReportRecord.self, from: ReportRecord.writtenOut.write(report).serialized()) == report)
    #expect(try StoredForm.decode(LastError.self, from: StoredForm.encode(error)) == error)
    let bare = SessionContent(
      request: PresentationRequest(documents: []), origin: nil, clientReferenceID: nil, metadata: [])
    #expect(try StoredForm.decode(SessionContent.self, from: StoredForm.encode(bare)) == bare)
    var request = bare.request
    request.purposeHint = .driving
    let hinted = SessionContent(request: request, origin: nil, clientReferenceID: nil, metadata: [])
    #expect(try StoredForm.decode(SessionContent.self, from: StoredForm.encode(hinted)) == hinted)
  }

  @Test("a report of the registry's checks is a fifteenth of what it says, and comes back with every word")
  func compact() throws {
    let checks = Code.allCases.flatMap { code in
      Check.Outcome.allCases.map { Check(code, $0, detail: $0 == .failed ? "of \"this\"" : nil) }
    }
    let passed = Code.allCases.map { Check($0, .passed) }
    let report = ReportRecord(
      VerificationReport(
        verifiedAt: Timestamp(secondsSince1970: 1), trustSnapshot: "00", checks: checks,
        documents: [DocumentReport(docType: "d", checks: passed), DocumentReport(docType: "e", checks: [])]),
      id: ReportID(of: try SessionID.random()))
    let stored = StoredForm.encode(report)
    let read = try StoredForm.decode(ReportRecord.self, from: stored)
    #expect(read == report)
    #expect(read.checks.map(\.clause) == checks.map(\.clause))
    #expect(try JSONText(ReportRendering.written.write(report)).parsed() == ReportRendering.json(report))
    let few = ReportRecord(
      VerificationReport(
        verifiedAt: Timestamp(secondsSince1970: 1), trustSnapshot: "00", checks: passed, documents: []), id: nil)
    #expect(StoredForm.encode(few).count * 15 < JSONText(ReportRendering.json(few)).bytes.count)
    let redacted = StoredForm.encode(report.redacted())
    #expect(try StoredForm.decode(ReportRecord.self, from: redacted) == report.redacted())
    #expect(!String(decoding: redacted, as: UTF8.self).contains("this"))
  }

  @Test("a code's tag is its own, and what it was")
  func tags() {
    #expect(Set(Code.allCases.map { StoredCheck.tags[$0] }).count == Code.allCases.count)
    #expect(StoredCheck.tags[Code(named: "test.untagged")] == nil)
    let all = Code.allCases.map { $0.rawValue + String(decoding: StoredCheck.tags[$0] ?? [], as: UTF8.self) }
    #expect(all.contains("mdoc.digest.mismatchIPk4") && all.contains("trust.issuer_unknownNPP7"))
  }

  @Test(
    "compact checks that cannot be read are corrupt",
    arguments: ["p", "xAAAA", "pAAA", "pAA=A", "pé", "p\u{0}\u{0}\u{0}\u{0}"])
  func compactFaults(_ run: String) {
    let json: JSON = ["verifiedAt": 1, "trustSnapshot": "00", "checks": ["run": .string(run)], "documents": []]
    #expect(throws: StoreError.self) { try StoredForm.decode(ReportRecord.self, from: json.serialized()) }
  }

  /// During a rolling upgrade of a cluster.
  @Test("a check that only a later version knows is one without a name, and what is written of it stays")
  func laterVersion() throws {
    let tag = String(decoding: StoredCheck.tags[Code.allCases[0]] ?? [], as: UTF8.self)
    let json: JSON = [
      "verifiedAt": 1, "trustSnapshot": "00", "documents": [],
      "checks": ["run": .string("fAAAAp\(tag)"), "details": ["0": "why"]],
    ]
    let report = try StoredForm.decode(ReportRecord.self, from: json.serialized())
    #expect(report.checks.map(\.code) == ["unknown.000000", Code.allCases[0].rawValue])
    #expect(report.checks.map(\.outcome) == ["failed", "passed"])
    #expect(report.checks.map(\.detail) == ["why", nil])
    #expect(try StoredForm.decode(ReportRecord.self, from: StoredForm.encode(report)) == report)
    #expect(report.redacted().checks.map(\.detail) == [nil, nil])
  }

  @Test("keeps that expired documents are accepted") func acceptsExpired() throws {
    var request = content.request
    request.documents[1].acceptsExpired = true
    #expect(try StoredForm.decode(PresentationRequest.self, from: StoredForm.encode(request)) == request)
  }

  @Test("has the form that earlier versions wrote, in any order")
  func earlier() throws {
    let written = #"""
      {"metadata":[{"value":"v","name":"k"}],"clientReferenceID":"order","request":{"requiresAllDocuments":true,
      "documents":[{"docType":"d","ageOver":[18,21],"minimumAge":18,"elements":[{"isRequired":false,"intentToRetain":true,
      "element":{"identifier":"given\/\"name\"","namespace":"n"},"alternatives":[{"namespace":"n","identifier":"other"}]}]},
      {"elements":[],"docType":"e","ageOver":[]}]},"redirectURI":"https:\/\/shop.example\/back",
      "origin":"https:\/\/shop.example"}
      """#
    #expect(try StoredForm.decode(SessionContent.self, from: Array(written.utf8)) == content)
    let before = #"{"verifiedAt":1,"trustSnapshot":"00","checks":[],"documents":[]}"#
    #expect(try StoredForm.decode(ReportRecord.self, from: Array(before.utf8)).revocationPolicy == nil)
  }

  @Test(
    "without one of its members is corrupt, and with one more is not",
    arguments: ["code", "reasons", "verifiedAt", "trustSnapshot", "checks", "documents", "request", "metadata"])
  func members(_ name: String) throws {
    func check<Value: StoredValue & Equatable>(_ value: Value) throws {
      let members = value.storedJSON.object ?? []
      let more = JSON.object(members + [.init("later", true)])
      #expect(try StoredForm.decode(Value.self, from: more.serialized()) == value)
      guard members.contains(where: { $0.name == name }) else { return }
      let fewer = JSON.object(members.filter { $0.name != name })
      #expect(throws: StoreError.corrupt("\(Value.self)")) {
        try StoredForm.decode(Value.self, from: fewer.serialized())
      }
    }
    try check(content)
    try check(report)
    try check(error)
  }

  @Test("a number that may be missing is no other value")
  func numbers() {
    let request = #"{"docType":"d","ageOver":[],"elements":[],"minimumAge":"#
    let reason = #"{"code":"a.b","reasons":[{"code":"a.b","clause":"9","document":"#
    for wrong in ["\"18\"", "1.5", "null", "true", "[18]"] {
      #expect(throws: StoreError.self) {
        try StoredForm.decode(DocumentRequest.self, from: Array((request + wrong + "}").utf8))
      }
      #expect(throws: StoreError.self) {
        try StoredForm.decode(LastError.self, from: Array((reason + wrong + "}]}").utf8))
      }
    }
  }
}
